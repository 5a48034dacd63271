"""Which subword tokens make up a word.

A fast tokenizer gives offsets: words are then cut from the text itself, in the same way for every
tokenizer, and a token belongs to the word that its characters lie in. A slow tokenizer gives none:
then the marks on its tokens decide (`##`, `▁`, `Ġ`, `</w>`). Without marks, every token is a word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# Letters and digits, with apostrophes inside; a run of other signs; in scripts without spaces, a
# single character.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+(?:['’][^\W{_CJK}]+)*|[^\w\s]+")
_WORD_START = ("▁", "Ġ")


def special_ids(tokenizer: Any) -> frozenset[int]:
    """Return the ids of tokens that are not text: start, end, separator, padding, mask.

    The unknown token stands for text.
    """
    named = {
        name: getattr(tokenizer, f"{name}_token_id", None)
        for name in ("bos", "eos", "sep", "cls", "pad", "mask", "unk")
    }
    unknown = named.pop("unk")
    usual = {token for token in named.values() if token is not None}
    others = {token for token in tokenizer.all_special_ids if token != unknown}
    return frozenset(usual | others)


def word_numbers(
    texts: Sequence[str],
    spans: Sequence[tuple[int, int]],
    text_of_token: Sequence[int | None],
    special: Sequence[bool],
) -> list[int]:
    """Return the number of each token's word, from 0; every special token is a word of its own.

    spans: the characters of each token in its text; text_of_token: the index of its text (one, or
    two of a pair), None for special tokens.
    """
    word_of_character = [
        _words_of_characters(text, spans, text_of_token, special, index)
        for index, text in enumerate(texts)
    ]
    keys: list[tuple[int, int] | None] = []  # (text, word), None for a token of space only
    for span, text, is_special in zip(spans, text_of_token, special, strict=True):
        key = None
        if not is_special and text is not None:
            words = [word for word in word_of_character[text][slice(*span)] if word >= 0]
            key = (text, words[0]) if words else None
        keys.append(key)
    _join_space_to_neighbours(keys, text_of_token, special)
    return _numbered(keys, special)


def _words_of_characters(
    text: str,
    spans: Sequence[tuple[int, int]],
    text_of_token: Sequence[int | None],
    special: Sequence[bool],
    text_index: int,
) -> list[int]:
    """Return the word of every character, -1 for space; words that share a token are one."""
    word_of = [-1] * len(text)
    for word, match in enumerate(_WORD.finditer(text)):
        word_of[match.start() : match.end()] = [word] * (match.end() - match.start())
    # Combining signs and emoji modifiers may match no pattern: they join the character before.
    for index, character in enumerate(text):
        if word_of[index] < 0 and not character.isspace():
            word_of[index] = word_of[index - 1] if index else 0
    same: dict[int, int] = {}
    for (start, end), token_text, is_special in zip(spans, text_of_token, special, strict=True):
        if token_text != text_index or is_special:
            continue
        inside = sorted({word for word in word_of[start:end] if word >= 0})
        for word in inside[1:]:
            same[word] = inside[0]

    def root(word: int) -> int:
        while word in same:
            word = same[word]
        return word

    return [word if word < 0 else root(word) for word in word_of]


def _join_space_to_neighbours(
    keys: list[tuple[int, int] | None], text_of_token: Sequence[int | None], special: Sequence[bool]
) -> None:
    """Join a token of space, or an empty one, to the next word; at the end, to the one before."""
    for indices in (range(len(keys) - 2, -1, -1), range(1, len(keys))):
        step = 1 if indices.step == -1 else -1
        for index in indices:
            neighbour = keys[index + step]
            if (
                keys[index] is None
                and not special[index]
                and neighbour is not None
                and neighbour[0] == text_of_token[index]
            ):
                keys[index] = neighbour


def _numbered(keys: Sequence[tuple[int, int] | None], special: Sequence[bool]) -> list[int]:
    """Number the words from 0, in the order of the tokens."""
    numbers: list[int] = []
    for index, key in enumerate(keys):
        same = index > 0 and key is not None and key == keys[index - 1] and not special[index]
        numbers.append(numbers[-1] + (not same) if numbers else 0)
    return numbers


def word_numbers_by_marks(tokens: Sequence[str], special: Sequence[bool]) -> list[int]:
    """Return the number of each token's word from its spelling, for tokenizers without offsets."""
    starts_marked = any(token.startswith(_WORD_START) for token in tokens)
    ends_marked = any(token.endswith("</w>") for token in tokens)
    numbers: list[int] = []
    for index, token in enumerate(tokens):
        if index == 0:
            numbers.append(0)
            continue
        if special[index] or special[index - 1]:
            same = False
        elif starts_marked:
            same = not token.startswith(_WORD_START)
        elif ends_marked:
            same = not tokens[index - 1].endswith("</w>")
        else:
            same = token.startswith("##")
        numbers.append(numbers[-1] + (not same))
    return numbers


def spell(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Return a word as the model reads it, lower-cased or unknown if the tokenizer does that."""
    return "".join(tokenizer.decode(list(tokens), clean_up_tokenization_spaces=False).split())


def spell_items(
    tokenizer: Any, tokens: Sequence[int], items: Sequence[int], count: int
) -> list[str]:
    """Return the text of each of `count` items; items: the item of each token, -1 for none."""
    tokens_of: list[list[int]] = [[] for _ in range(count)]
    for token, item in zip(tokens, items, strict=True):
        if item >= 0:
            tokens_of[item].append(token)
    return [spell(tokenizer, word) if word else "" for word in tokens_of]
