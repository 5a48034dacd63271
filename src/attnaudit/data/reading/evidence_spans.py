"""Evidence in the user's own data: phrases of the text, or places in it."""

from __future__ import annotations

import json
import re
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.labels import is_missing
from attnaudit.data.reading.tokenise import Span

_FORMS = 'a list of phrases ["so dull", …] or of places [[first character, one after the last], …]'


def evidence_spans(value: Any, text: str, where: str) -> tuple[Span, ...]:
    """Characters of the text. A phrase is marked wherever it stands in the text as whole words, in capitals or not."""
    if hasattr(value, "tolist"):  # an array of numpy
        value = value.tolist()
    if is_missing(value):
        return ()
    if isinstance(value, str):
        value = _parsed(value, where)
    if not isinstance(value, list | tuple):
        raise InputError(f"{where}: evidence must be {_FORMS}, got {str(value)[:60]!r}.")
    return tuple(span for each in value for span in _spans(each, text, where))


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


def _spans(each: Any, text: str, where: str) -> list[Span]:
    if hasattr(each, "tolist"):
        each = each.tolist()
    if isinstance(each, str) and each.strip():
        words = r"\s+".join(map(re.escape, each.split()))
        begins, ends = (
            (r"(?<!\w)" if each.strip()[0].isalnum() else ""),
            (r"(?!\w)" if each.strip()[-1].isalnum() else ""),
        )
        found = [match.span() for match in re.finditer(begins + words + ends, text, re.IGNORECASE)]
        if not found:
            raise InputError(
                f"{where}: the evidence {each[:60]!r} is not in the text {text[:60]!r}."
            )
        return found
    if (
        isinstance(each, list | tuple)
        and len(each) == 2
        and all(isinstance(place, int) and not isinstance(place, bool) for place in each)
    ):
        if not 0 <= each[0] < each[1] <= len(text):
            raise InputError(
                f"{where}: evidence from character {each[0]} to {each[1]}, but the text has {len(text)}."
            )
        return [(each[0], each[1])]
    raise InputError(f"{where}: evidence must be {_FORMS}, got {str(each)[:60]!r}.")
