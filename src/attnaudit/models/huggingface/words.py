"""Which pieces of a tokenizer make up a word?

By offsets where the tokenizer gives them: words are cut from the text itself, the same for every tokenizer, and a piece belongs to the
word its characters lie in. A slow tokenizer gives none; then the marks it puts on its pieces decide (`##`, `▁`, `Ġ`, `</w>`), and where
there are no marks, every piece is a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# Letters and digits, with an apostrophe inside; a run of anything else; of scripts without spaces, each character.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+(?:['’][^\W{_CJK}]+)*|[^\w\s]+")
_BEGINS = ("▁", "Ġ")


def special_ids(tokenizer: Any) -> frozenset[int]:
    """Numbers of the marks that are no text: start, end, separator, padding, mask. An unknown word is text."""
    named = {
        name: getattr(tokenizer, f"{name}_token_id", None)
        for name in ("bos", "eos", "sep", "cls", "pad", "mask", "unk")
    }
    unknown = named.pop("unk")
    marks = {number for number in named.values() if number is not None}
    others = {number for number in tokenizer.all_special_ids if number != unknown}
    return frozenset(marks | others)


def word_numbers(
    texts: Sequence[str],
    spans: Sequence[tuple[int, int]],
    text_of_piece: Sequence[int | None],
    special: Sequence[bool],
) -> list[int]:
    """The number of the word each piece belongs to, counted up over the pieces; a special piece is an item of its own.

    spans: the characters of each piece in its text; text_of_piece: which of the texts (one, or two of a pair), None for special ones.
    """
    groups = [_joined(text, spans, text_of_piece, special, at) for at, text in enumerate(texts)]
    keys: list[
        tuple[int, int] | None
    ] = []  # (text, word), None where a piece holds nothing but space
    for span, text, mark in zip(spans, text_of_piece, special, strict=True):
        words = (
            []
            if mark or text is None
            else [word for word in groups[text][slice(*span)] if word >= 0]
        )
        keys.append((text, words[0]) if words and text is not None else None)
    _give_space_to_neighbours(keys, text_of_piece, special)
    return _counted(keys, special)


def _joined(
    text: str,
    spans: Sequence[tuple[int, int]],
    text_of_piece: Sequence[int | None],
    special: Sequence[bool],
    number: int,
) -> list[int]:
    """The word of every character, -1 for space; words that share a piece are one."""
    word_of = [-1] * len(text)
    for word, match in enumerate(_WORD.finditer(text)):
        word_of[match.start() : match.end()] = [word] * (match.end() - match.start())
    # A combining sign or an emoji modifier may fall between the patterns: it goes with what stands before it.
    for at, character in enumerate(text):
        if word_of[at] < 0 and not character.isspace():
            word_of[at] = word_of[at - 1] if at else 0
    same: dict[int, int] = {}
    for (start, end), of, mark in zip(spans, text_of_piece, special, strict=True):
        inside = (
            sorted({word for word in word_of[start:end] if word >= 0})
            if of == number and not mark
            else []
        )
        for word in inside[1:]:
            same[word] = inside[0]

    def root(word: int) -> int:
        while word in same:
            word = same[word]
        return word

    return [word if word < 0 else root(word) for word in word_of]


def _give_space_to_neighbours(
    keys: list[tuple[int, int] | None], text_of_piece: Sequence[int | None], special: Sequence[bool]
) -> None:
    """A piece of space, or of nothing, goes with the word after it; at the end of a text, with the one before."""
    for places in (range(len(keys) - 2, -1, -1), range(1, len(keys))):
        step = 1 if places.step == -1 else -1
        for at in places:
            beside = keys[at + step]
            if (
                keys[at] is None
                and not special[at]
                and beside is not None
                and beside[0] == text_of_piece[at]
            ):
                keys[at] = beside


def _counted(keys: Sequence[tuple[int, int] | None], special: Sequence[bool]) -> list[int]:
    numbers: list[int] = []
    for at, key in enumerate(keys):
        same = at > 0 and key is not None and key == keys[at - 1] and not special[at]
        numbers.append(numbers[-1] + (not same) if numbers else 0)
    return numbers


def word_numbers_by_marks(pieces: Sequence[str], special: Sequence[bool]) -> list[int]:
    """The same from the pieces' spelling alone, for tokenizers without offsets."""
    begins_marked = any(piece.startswith(_BEGINS) for piece in pieces)
    ends_marked = any(piece.endswith("</w>") for piece in pieces)
    numbers: list[int] = []
    for at, piece in enumerate(pieces):
        if at == 0:
            numbers.append(0)
            continue
        if special[at] or special[at - 1]:
            same = False
        elif begins_marked:
            same = not piece.startswith(_BEGINS)
        elif ends_marked:
            same = not pieces[at - 1].endswith("</w>")
        else:
            same = piece.startswith("##")
        numbers.append(numbers[-1] + (not same))
    return numbers


def spell(tokenizer: Any, pieces: Sequence[int]) -> str:
    """A word as the model reads it; lower case or unknown, if that is what the tokenizer makes of it."""
    return "".join(tokenizer.decode(list(pieces), clean_up_tokenization_spaces=False).split())
