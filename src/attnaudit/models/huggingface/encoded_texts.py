"""Texts as token ids, one by one: with the word of each token, truncated where too long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.errors import InputError, ItemErrors
from attnaudit.models.huggingface.words import word_numbers, word_numbers_by_marks

Text = str | tuple[str, str] | list[str]


@dataclass(frozen=True)
class EncodedText:
    """The tokens of one text; the lists have one entry per token."""

    ids: list[int]
    word: list[int]
    special: list[bool]
    types: list[int] | None
    pair: list[int] | None
    truncated: bool
    spans: list[tuple[int, int]] | None = None  # the characters; of a pair, joined by a space


def encode_all(
    texts: Sequence[Text], tokenizer: Any, limit: int | None, special: frozenset[int]
) -> list[EncodedText]:
    """Encode every text, or raise one error for all the texts that cannot be read."""
    encoded: list[EncodedText] = []
    problems: dict[int, str] = {}
    for index, text in enumerate(texts):
        result = _encode(text, tokenizer, limit, special)
        if isinstance(result, str):
            problems[index] = result
        else:
            encoded.append(result)
    if problems:
        raise ItemErrors(problems)
    return encoded


def _encode(
    text: Text, tokenizer: Any, limit: int | None, special_tokens: frozenset[int]
) -> EncodedText | str:
    """Return the tokens of a text or a pair, or what is wrong with it."""
    parts = list(text) if isinstance(text, (list, tuple)) else [text]
    if not 1 <= len(parts) <= 2 or not all(isinstance(part, str) for part in parts):
        return f"neither a text nor a pair of texts, got {type(text).__name__}."
    if not all(part.strip() for part in parts):
        return "the text is empty. Remove it: there is nothing to attend to."
    fast = bool(getattr(tokenizer, "is_fast", False))
    options = {"return_special_tokens_mask": True, "return_offsets_mapping": fast, "verbose": False}
    try:
        encoding = tokenizer(*parts, **options)
    except UnicodeEncodeError:
        return "the text holds half of a surrogate pair, which is not a character. Remove it."
    truncated = limit is not None and len(encoding["input_ids"]) > limit
    if truncated:
        encoding = tokenizer(*parts, truncation=True, max_length=limit, **options)
    ids = list(encoding["input_ids"])
    special = [
        bool(is_special) or token in special_tokens
        for is_special, token in zip(encoding["special_tokens_mask"], ids, strict=True)
    ]
    if all(special):
        return f"nothing is left of the text after the tokenizer: {parts[0][:40]!r}. Remove it."
    if fast:
        word = word_numbers(parts, encoding["offset_mapping"], encoding.sequence_ids(0), special)
    else:
        word = word_numbers_by_marks(tokenizer.convert_ids_to_tokens(ids), special)
    types = encoding.get("token_type_ids")
    # A slow tokenizer gives the text of each token by its types, or not at all.
    text_of_token = encoding.sequence_ids(0) if fast else types
    pair = None
    if len(parts) == 2 and text_of_token is not None:
        pair = [int(index or 0) for index in text_of_token]
    spans = _joined_spans(encoding, parts, special) if fast else None
    return EncodedText(ids, word, special, types, pair, truncated, spans)


def _joined_spans(
    encoding: Any, parts: Sequence[str], special: Sequence[bool]
) -> list[tuple[int, int]]:
    """The characters of each token in the texts joined by a space; (0, 0) for special tokens."""
    offset = (0, len(parts[0]) + 1)
    return [
        (0, 0) if is_special or text is None else (start + offset[text], end + offset[text])
        for (start, end), text, is_special in zip(
            encoding["offset_mapping"], encoding.sequence_ids(0), special, strict=True
        )
    ]


def token_limit(tokenizer: Any, wanted: int | None) -> int | None:
    """Return the largest number of tokens; a tokenizer without a limit says 10³⁰."""
    own = getattr(tokenizer, "model_max_length", None)
    own = int(own) if isinstance(own, (int, float)) and 0 < own < 10**6 else None
    if wanted is not None and wanted < 1:
        raise InputError(f"max_length must be at least 1, got {wanted}.")
    return wanted if wanted is not None else own


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return the rows as one tensor, padded with 0 on the right."""
    width = max(len(row) for row in rows)
    return torch.tensor(
        [[*map(int, row), *[0] * (width - len(row))] for row in rows], dtype=torch.int64
    )
