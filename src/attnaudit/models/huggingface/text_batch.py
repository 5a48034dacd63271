"""Texts as a Hugging Face model reads them: subword tokens, and the word of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.models.huggingface.encoded_texts import Text, encode_all, padded, token_limit
from attnaudit.models.huggingface.words import special_ids

FORMS = ("delete", "mask", "pad")


@dataclass(frozen=True, eq=False)
class TextBatch(Batch):
    """A batch of subword tokens.

    `leave_out` says what leaving out a word means: "delete" it, replace it by the "mask" token, or
    hide it as padding ("pad").
    """

    per_token: ClassVar[tuple[str, ...]] = (
        *Batch.per_token,
        *("word", "special", "types", "pair", "start", "end"),
    )

    word: Tensor | None = None  # (B,T) int64, increasing; every special token has its own number
    special: Tensor | None = None  # (B,T) bool
    types: Tensor | None = None  # (B,T) int64, the model's token_type_ids
    pair: Tensor | None = None  # (B,T) int64, 0 in the first and 1 in the second text of a pair
    # (B,T) int64, the characters of each token in its text, or in a pair joined by a space
    start: Tensor | None = None
    end: Tensor | None = None
    truncated: Tensor | None = None  # (B,) bool
    leave_out: str = "delete"
    mask_token: int | None = None

    def without(self, drop: Tensor) -> Batch:
        """Return the texts without the words in drop (B,T), as `leave_out` says."""
        if self.leave_out == "delete":
            return super().without(drop)
        gone = self.mask & drop
        if self.leave_out == "mask":
            assert self.mask_token is not None  # checked by text_batches
            return self.replaced(gone, self.mask_token)._trimmed()  # type: ignore[attr-defined]
        return replace(self, mask=self.mask & ~gone)._trimmed()

    def _trimmed(self) -> TextBatch:
        """Cut the batch to the longest text; hidden words stay in place."""
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
    """Tokenise texts, or pairs of texts, into batches of similar length.

    Parameters
    ----------
    texts : sequence of str or of pairs of str
        The texts.
    tokenizer : PreTrainedTokenizer
        The tokenizer of the model.
    labels : sequence of int, optional
        Class number of each text.
    max_length : int, optional
        Longer texts are truncated, and marked as such. By default the tokenizer's limit.
    leave_out : {"delete", "mask", "pad"}, default "delete"
        What leaving out a word means: delete it, replace it by the mask token, or hide it.
    ids : sequence of str, optional
        Name of each text; random draws and results are keyed by it. By default its number.
    tokens_at_once : int
        Largest size of a batch, padding included.

    Returns
    -------
    list of TextBatch
        The longest texts first.

    Examples
    --------
    >>> from attnaudit.models.huggingface import text_batches
    >>> from transformers import BertTokenizer
    >>> words = "[PAD] [UNK] [CLS] [SEP] [MASK] a good bad film".split()
    >>> tokenizer = BertTokenizer(vocab={word: index for index, word in enumerate(words)})
    >>> (batch,) = text_batches(["a good film", "bad"], tokenizer)
    >>> batch.tokens.tolist()
    [[2, 5, 6, 8, 3], [2, 7, 3, 0, 0]]
    """
    if isinstance(texts, str):
        raise InputError("Expected a list of texts, got one text. Write audit(model, [text]).")
    check_leave_out(leave_out)
    mask_token = getattr(tokenizer, "mask_token_id", None)
    if leave_out == "mask" and mask_token is None:
        raise InputError(
            'This tokenizer has no mask token, which leave_out="mask" needs. Use "delete" or "pad".'
        )
    _check_counts(len(texts), labels, ids)
    if ids is None:
        ids = numbered_ids(len(texts))
    limit = token_limit(tokenizer, max_length)
    encoded = encode_all(texts, tokenizer, limit, special_ids(tokenizer))
    batches: list[Batch] = []
    for part in _groups_by_length([len(text.ids) for text in encoded], tokens_at_once):
        members = [encoded[index] for index in part]
        types, pair, start, end = None, None, None, None
        if members[0].spans is not None:
            start, end = (
                padded([[span[side] for span in text.spans or ()] for text in members])
                for side in (0, 1)
            )
        if members[0].types is not None:
            types = padded([text.types or [] for text in members])
        if any(text.pair for text in members):
            pair = padded([text.pair or [0] * len(text.ids) for text in members])
        batches.append(
            TextBatch(
                example_id=tuple(ids[index] for index in part),
                tokens=padded([text.ids for text in members]),
                mask=padded([[1] * len(text.ids) for text in members]).bool(),
                labels=None if labels is None else torch.tensor([int(labels[i]) for i in part]),
                word=padded([text.word for text in members]),
                special=padded([text.special for text in members]).bool(),
                types=types,
                pair=pair,
                start=start,
                end=end,
                truncated=torch.tensor([text.truncated for text in members]),
                leave_out=leave_out,
                mask_token=mask_token,
            )
        )
    return batches


def numbered_ids(count: int) -> list[str]:
    """Names for so many texts: their numbers from 0, in as many digits as the largest needs."""
    width = len(str(count))
    return [f"{index:0{width}d}" for index in range(count)]


def check_leave_out(leave_out: str) -> None:
    """Reject an unknown way of leaving out a word."""
    if leave_out not in FORMS:
        raise InputError(
            f"There is no way of leaving out a word called {leave_out!r}. Choose from: "
            f"{', '.join(FORMS)}."
        )


def _check_counts(texts: int, labels: Sequence[int] | None, ids: Sequence[str] | None) -> None:
    """Reject an empty list of texts, and labels or ids of another number."""
    if not texts:
        raise InputError("There is nothing to audit: the list of texts is empty.")
    for name, given in (("labels", labels), ("ids", ids)):
        if given is not None and len(given) != texts:
            raise InputError(
                f"There are {texts} texts but {len(given)} {name}; expected one per text."
            )


def _groups_by_length(lengths: list[int], tokens_at_once: int) -> list[list[int]]:
    """Group texts by length, the longest first; a group has at most tokens_at_once tokens."""
    parts: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: (-lengths[index], index)):
        if parts and lengths[parts[-1][0]] * (len(parts[-1]) + 1) <= tokens_at_once:
            parts[-1].append(index)
        else:
            parts.append([index])
    return parts
