"""Texts as a Hugging Face model reads them: pieces, and the word each belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError, ItemErrors
from attnaudit.models.huggingface.words import special_ids, word_numbers, word_numbers_by_marks

FORMS = ("delete", "mask", "pad")
Text = str | tuple[str, str] | list[str]


@dataclass(frozen=True, eq=False)
class TextBatch(Batch):
    """A batch of pieces. `leave_out` says what taking a word out means: delete it, put the mask token there, or hide it as padding."""

    per_token: ClassVar[tuple[str, ...]] = (*Batch.per_token, "word", "special", "types", "pair")

    word: Tensor | None = (
        None  # (B,T) int64, counted up over a text; every special piece has a number of its own
    )
    special: Tensor | None = None  # (B,T) bool
    types: Tensor | None = None  # (B,T) int64, which text of a pair, where the model is told
    pair: Tensor | None = (
        None  # (B,T) int64, 0 in the first text of a pair and 1 in the second; None without pairs
    )
    truncated: Tensor | None = None  # (B,) bool, the end of the text was cut off
    leave_out: str = "delete"
    mask_token: int | None = None

    def without(self, drop: Tensor) -> Batch:
        """The same texts without the words in drop (B,T), in the form chosen."""
        if self.leave_out == "delete":
            return super().without(drop)
        gone = self.mask & drop
        if self.leave_out == "mask":
            assert self.mask_token is not None  # text_batches sees to it
            return self.replaced(gone, self.mask_token)._trimmed()  # type: ignore[attr-defined]
        return replace(self, mask=self.mask & ~gone)._trimmed()

    def _trimmed(self) -> TextBatch:
        """No wider than the longest text; hidden words stay where they are."""
        width = int(self.mask.any(0).nonzero().max()) + 1 if self.mask.any() else 1
        cut = {
            name: value[:, :width]
            for name in self.per_token
            if (value := getattr(self, name)) is not None
        }
        return replace(self, **cut)


def text_batches(
    texts: Sequence[Text],
    tokenizer: Any,
    labels: Sequence[int] | None = None,
    *,
    max_length: int | None = None,
    leave_out: str = "delete",
    ids: Sequence[str] | None = None,
    tokens_at_once: int = 2**11,
) -> list[Batch]:
    """Texts, or pairs of texts, in batches of texts alike in length. What is longer than max_length is cut, and marked as cut.

    max_length: the tokenizer's own where None. leave_out: what leaving a word out means, `delete`, `mask` (token) or `pad`.
    """
    if isinstance(texts, str):
        raise InputError("Expected a list of texts, got one text. Write audit(model, [text]).")
    if leave_out not in FORMS:
        raise InputError(
            f"There is no form of leaving out {leave_out!r}. Choose from: {', '.join(FORMS)}."
        )
    mask_token = getattr(tokenizer, "mask_token_id", None)
    if leave_out == "mask" and mask_token is None:
        raise InputError(
            'This tokenizer has no mask token, so leave_out="mask" cannot be. Use "delete" or "pad".'
        )
    _check_counts(len(texts), labels, ids)
    names = (
        list(ids)
        if ids is not None
        else [f"{at:0{len(str(len(texts)))}d}" for at in range(len(texts))]
    )
    limit = _limit(tokenizer, max_length)
    marks = special_ids(tokenizer)
    read = _all_encoded(texts, tokenizer, limit, marks)
    return [
        TextBatch(
            example_id=tuple(names[at] for at in part),
            tokens=_padded([read[at].ids for at in part]),
            mask=_padded([[1] * len(read[at].ids) for at in part]).bool(),
            labels=None if labels is None else torch.tensor([int(labels[at]) for at in part]),
            word=_padded([read[at].word for at in part]),
            special=_padded([read[at].special for at in part]).bool(),
            types=_padded([read[at].types or [] for at in part])
            if read[part[0]].types is not None
            else None,
            pair=_padded([read[at].pair or [0] * len(read[at].ids) for at in part])
            if any(read[at].pair for at in part)
            else None,
            truncated=torch.tensor([read[at].truncated for at in part]),
            leave_out=leave_out,
            mask_token=mask_token,
        )
        for part in _alike([len(each.ids) for each in read], tokens_at_once)
    ]


@dataclass(frozen=True)
class _Encoded:
    ids: list[int]
    word: list[int]
    special: list[bool]
    types: list[int] | None
    pair: list[int] | None
    truncated: bool


def _all_encoded(
    texts: Sequence[Text], tokenizer: Any, limit: int | None, marks: frozenset[int]
) -> list[_Encoded]:
    """Each text as the model reads it, or one error with all the texts that it cannot read."""
    read: list[_Encoded] = []
    problems: dict[int, str] = {}
    for index, text in enumerate(texts):
        encoded = _encoded(text, tokenizer, limit, marks)
        if isinstance(encoded, str):
            problems[index] = encoded
        else:
            read.append(encoded)
    if problems:
        raise ItemErrors(problems)
    return read


def _encoded(
    text: Text, tokenizer: Any, limit: int | None, marks: frozenset[int]
) -> _Encoded | str:
    """The tokens of a text or a pair, or what is wrong with it."""
    parts = list(text) if isinstance(text, (list, tuple)) else [text]
    if not 1 <= len(parts) <= 2 or not all(isinstance(part, str) for part in parts):
        return f"neither a text nor a pair of texts, got {type(text).__name__}."
    if not all(part.strip() for part in parts):
        return "the text is empty. Leave it out: there is nothing to attend to."
    fast = bool(getattr(tokenizer, "is_fast", False))
    options = {"return_special_tokens_mask": True, "return_offsets_mapping": fast, "verbose": False}
    try:
        found = tokenizer(*parts, **options)
    except UnicodeEncodeError:
        return "the text holds half of a surrogate pair, which is no character. Leave it out."
    truncated = limit is not None and len(found["input_ids"]) > limit
    if truncated:
        found = tokenizer(*parts, truncation=True, max_length=limit, **options)
    ids = list(found["input_ids"])
    special = [
        bool(mark) or number in marks
        for mark, number in zip(found["special_tokens_mask"], ids, strict=True)
    ]
    if all(special):
        return f"nothing is left of the text after the tokenizer: {parts[0][:40]!r}. Leave it out."
    if fast:
        word = word_numbers(parts, found["offset_mapping"], found.sequence_ids(0), special)
    else:
        word = word_numbers_by_marks(tokenizer.convert_ids_to_tokens(ids), special)
    types = found.get("token_type_ids")
    of_piece = (
        found.sequence_ids(0) if fast else types
    )  # a slow tokenizer says it by the types, or not at all
    pair = (
        [int(each or 0) for each in of_piece] if len(parts) == 2 and of_piece is not None else None
    )
    return _Encoded(ids, word, special, types, pair, truncated)


def _check_counts(texts: int, labels: Sequence[int] | None, ids: Sequence[str] | None) -> None:
    if not texts:
        raise InputError("There is nothing to audit: the list of texts is empty.")
    for name, given in (("labels", labels), ("ids", ids)):
        if given is not None and len(given) != texts:
            raise InputError(
                f"There are {texts} texts but {len(given)} {name}; expected one for each text."
            )


def _limit(tokenizer: Any, wanted: int | None) -> int | None:
    """The tokenizer says 10³⁰ where it knows no limit."""
    own = getattr(tokenizer, "model_max_length", None)
    own = int(own) if isinstance(own, (int, float)) and 0 < own < 10**6 else None
    if wanted is not None and wanted < 1:
        raise InputError(f"max_length must be at least 1, got {wanted}.")
    return wanted if wanted is not None else own


def _alike(lengths: list[int], tokens_at_once: int) -> list[list[int]]:
    """Texts by length, in parts whose padded size stays below tokens_at_once."""
    parts: list[list[int]] = []
    for at in sorted(range(len(lengths)), key=lambda place: (-lengths[place], place)):
        if parts and lengths[parts[-1][0]] * (len(parts[-1]) + 1) <= tokens_at_once:
            parts[-1].append(at)
        else:
            parts.append([at])
    return parts


def _padded(rows: Sequence[Sequence[int]]) -> Tensor:
    width = max(len(row) for row in rows)
    return torch.tensor(
        [[*map(int, row), *[0] * (width - len(row))] for row in rows], dtype=torch.int64
    )
