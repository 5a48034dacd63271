"""Where the tokens of another tokenizer are in a text, or the first place where they differ."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from attnaudit.core.errors import InputError

_SPECIAL = re.compile(r"\[(CLS|SEP|PAD|MASK|BOS|EOS)\]|</?s>|<pad>|<mask>|<\|[^|]*\|>")
_UNKNOWN = ("[UNK]", "<unk>")
_SHOWN = 20  # characters of a text in a message


def token_spans(text: str, tokens: Sequence[str], where: str = "") -> list[tuple[int, int] | None]:
    """The characters (start, end) of each token; None for special tokens, which are not text.

    Case, accents, white space and the marks of subword tokenizers (##, ▁, Ġ, </w>) do not count.
    An unknown token stands for the rest of a word.

    Raises
    ------
    InputError
        With the first place where text and tokens differ.

    Examples
    --------
    >>> token_spans("A dull film.", ["[CLS]", "a", "du", "##ll", "film", ".", "[SEP]"])
    [None, (0, 1), (2, 4), (4, 6), (7, 11), (11, 12), None]
    """
    characters, origin = _normalised(text)
    place = 0
    spans: list[tuple[int, int] | None] = []
    for number, token in enumerate(tokens):
        wanted, _ = _normalised(_unmarked(token))
        start = _skip_space(characters, place)
        bare = "".join(wanted).strip()
        if not bare or (_SPECIAL.fullmatch(token.strip()) and not _is_at(characters, start, bare)):
            spans.append(None)
            continue
        if token.strip() in _UNKNOWN and not _is_at(characters, start, bare):
            end = start
            while end < len(characters) and not characters[end].isspace():
                end += 1
            length = end - start
        else:
            length = _match(characters, start, bare)
        if not length:
            found = "".join(characters[start : start + _SHOWN]) or "nothing more"
            raise InputError(
                f"{where}: the scores do not fit the text. Their token {number} is {token!r}, "
                f"where the text has {found!r} (character {_origin(origin, start, text)})."
            )
        spans.append((origin[start], origin[start + length - 1] + 1))
        place = start + length
    rest = _skip_space(characters, place)
    if rest < len(characters):
        raise InputError(
            f"{where}: the scores do not fit the text. They end before character "
            f"{origin[rest]}: {''.join(characters[rest : rest + _SHOWN])!r}."
        )
    return spans


def _normalised(text: str) -> tuple[list[str], list[int]]:
    """The characters without case and accents, and the place in the text that each is from."""
    characters, origin = [], []
    for index, character in enumerate(text):
        for part in unicodedata.normalize("NFKD", character).casefold():
            if not unicodedata.combining(part):
                characters.append(part)
                origin.append(index)
    return characters, origin


def _unmarked(token: str) -> str:
    text = token.strip().removesuffix("</w>")
    if text.startswith("##") and len(text) > 2:
        text = text[2:]
    return text.lstrip("▁Ġ").replace("Ċ", "")


def _skip_space(characters: Sequence[str], place: int) -> int:
    while place < len(characters) and characters[place].isspace():
        place += 1
    return place


def _is_at(characters: Sequence[str], start: int, bare: str) -> bool:
    return _match(characters, start, bare) > 0


def _match(characters: Sequence[str], start: int, bare: str) -> int:
    """How many characters from `start` on are the token, spaces left out on both sides; or 0."""
    place = start
    for wanted in bare:
        if wanted.isspace():
            continue
        place = _skip_space(characters, place)
        if place >= len(characters) or characters[place] != wanted:
            return 0
        place += 1
    return place - start


def _origin(origin: Sequence[int], start: int, text: str) -> int:
    return origin[start] if start < len(origin) else len(text)
