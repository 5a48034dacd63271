"""Evidence in the user's own data: phrases of the text, or character positions."""

from __future__ import annotations

import json
import re
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.labels import is_missing
from attnaudit.data.reading.tokenise import Span

_FORMS = (
    'a list of phrases ["so dull", …] or of positions [[first character, one after the last], …]'
)


def evidence_spans(value: Any, text: str, where: str) -> tuple[Span, ...]:
    """Character spans of the evidence; a phrase matches whole words wherever it occurs."""
    if hasattr(value, "tolist"):  # a numpy array
        value = value.tolist()
    if is_missing(value):
        return ()
    if isinstance(value, str):
        value = _parsed(value, where)
    if not isinstance(value, list | tuple):
        raise InputError(f"{where}: evidence must be {_FORMS}, got {str(value)[:60]!r}.")
    return tuple(span for piece in value for span in _spans(piece, text, where))


def _parsed(value: str, where: str) -> Any:
    """A field of a csv file: JSON, or one phrase."""
    if not value.lstrip().startswith("["):
        return [value] if value.strip() else []
    try:
        return json.loads(value)
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        raise InputError(
            f"{where}: the evidence is not JSON ({error}), expected {_FORMS}, got {value[:60]!r}."
        ) from error


def _spans(piece: Any, text: str, where: str) -> list[Span]:
    """Character spans of one phrase or position."""
    if hasattr(piece, "tolist"):
        piece = piece.tolist()
    if isinstance(piece, str) and piece.strip():
        words = r"\s+".join(map(re.escape, piece.split()))
        start = r"(?<!\w)" if piece.strip()[0].isalnum() else ""
        end = r"(?!\w)" if piece.strip()[-1].isalnum() else ""
        spans = [match.span() for match in re.finditer(start + words + end, text, re.IGNORECASE)]
        if not spans:
            raise InputError(
                f"{where}: the evidence {piece[:60]!r} is not in the text {text[:60]!r}."
            )
        return spans
    if (
        isinstance(piece, list | tuple)
        and len(piece) == 2
        and all(isinstance(place, int) and not isinstance(place, bool) for place in piece)
    ):
        first, last = piece
        if not 0 <= first < last <= len(text):
            raise InputError(
                f"{where}: evidence from character {first} to {last}, but the text has {len(text)}."
            )
        return [(first, last)]
    raise InputError(f"{where}: evidence must be {_FORMS}, got {str(piece)[:60]!r}.")
