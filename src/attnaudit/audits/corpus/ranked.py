"""The items of every example sorted by attention: their weights and their vectors.

In two passes over the corpus: the weights show down to which rank the vectors are worth keeping.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError, NotApplicable

LEAST_WEIGHT = 1e-5


@dataclass(frozen=True)
class RankedWeights:
    """The attention weights of n examples by rank; short examples are padded with zeros."""

    weights: np.ndarray  # (n,k), the most attended first
    probs: np.ndarray  # (n,C)
    lengths: np.ndarray  # (n,)


def weights_by_rank(model: AttentionModel, batches: Sequence[Batch], most: int) -> RankedWeights:
    """The `most` largest weights of every example."""
    weights, probs, lengths = [], [], []
    for record, weight, _ in _read(model, batches, most):
        weights.append(weight)
        probs.append(record.probs)
        lengths.append(_real(record).sum(-1))
    return RankedWeights(
        _concatenate(weights, most),
        torch.cat(probs).double().cpu().numpy(),
        torch.cat(lengths).cpu().numpy(),
    )


def vectors_by_rank(
    model: AttentionModel, batches: Sequence[Batch], count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Hidden vectors (n,count,H) and word vectors (n,count,E) of the most attended items."""
    hidden, inputs = [], []
    for record, _, place in _read(model, batches, count):
        assert record.hidden is not None  # checked in _read
        token = _first_token(record.item_of_token, record.content.shape[1]).gather(1, place)
        hidden.append(
            record.hidden.gather(1, place[..., None].expand(-1, -1, record.hidden.shape[-1]))
        )
        inputs.append(
            record.embeddings.gather(
                1, token[..., None].expand(-1, -1, record.embeddings.shape[-1])
            )
        )
    return _concatenate(hidden, count), _concatenate(inputs, count)


def ranks(weights: np.ndarray, lengths: np.ndarray, rule: int) -> int:
    """The number of ranks k to look at, by one of the two rules of Wen et al. (2022)."""
    exceeds = (weights > LEAST_WEIGHT) & (np.arange(weights.shape[1]) < lengths[:, None])
    limit = min(int(np.percentile(lengths, 10)), weights.shape[1])
    if rule == 1:
        # Among all weights up to k, not among the k-th alone.
        selected = exceeds.cumsum(1).sum(0) / (len(weights) * np.arange(1, weights.shape[1] + 1))
        enough = np.flatnonzero(selected >= 0.8)
        return min(limit, int(enough[-1]) + 1 if len(enough) else 0)
    enough = np.flatnonzero(exceeds.mean(0) >= 0.8)
    return int(enough[-1]) + 1 if len(enough) else 0


def _read(
    model: AttentionModel, batches: Sequence[Batch], most: int
) -> Iterator[tuple[Record, Tensor, Tensor]]:
    """Per batch: the record, the weights by rank and their positions (B, at most `most`)."""
    if not batches:
        raise InputError("There is nothing to audit: the data holds no example.")
    for batch in batches:
        with torch.no_grad():
            record = model.read(batch)
        if record.hidden is None or record.alpha.shape[1] != 1:
            raise NotApplicable("it needs one row of attention over hidden vectors")
        weight, place = masking.fill(record.alpha[:, 0], _real(record), -1.0).sort(
            dim=-1, descending=True, stable=True
        )
        yield record, weight[:, :most].clamp_min(0), place[:, :most]


def _real(record: Record) -> Tensor:
    return record.content & record.mask[:, 0]


def _first_token(item_of_token: Tensor, items: int) -> Tensor:
    """(B,N) the first token of each item."""
    tokens = item_of_token.shape[1]
    place = torch.arange(tokens, device=item_of_token.device).expand_as(item_of_token)
    first = item_of_token.new_full((len(item_of_token), items + 1), tokens - 1)
    return first.scatter_reduce(1, item_of_token.where(item_of_token >= 0, items), place, "amin")[
        :, :items
    ]


def _concatenate(parts: list[Tensor], most: int) -> np.ndarray:
    """All examples in one array, as wide as the widest part."""
    width = min(most, max(part.shape[1] for part in parts))
    return torch.cat([_pad_to(part, width) for part in parts]).float().cpu().numpy()


def _pad_to(values: Tensor, width: int) -> Tensor:
    missing = width - values.shape[1]
    if not missing:
        return values
    return torch.cat([values, values.new_zeros(len(values), missing, *values.shape[2:])], 1)
