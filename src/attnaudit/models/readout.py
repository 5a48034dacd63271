"""Is the output linear in one row of attention? Then its readout is found by trying each item alone, and the exact audits apply."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.item_deletion import leave_out
from attnaudit.core.module_state import modules_of
from attnaudit.core.simplex import random_alpha
from attnaudit.core.tolerance import tolerance_of

_OFFERED = (
    "attention_without",
    "attended_norms",
    "self_attention",
    "batches",
    "spell",
    "row_names",
    "class_names",
    "about",
    "vocabulary_size",
)


def with_readout(model: AttentionModel) -> AttentionModel:
    """The same model, whose records carry a readout wherever one is found and verified on the batch at hand."""
    return WithReadout(model)


def find_readout(model: AttentionModel, record: Record, *, seed: int = 0) -> Tensor | None:
    """(B,N,C): the logits each item alone would give, 0 outside the mask. None with several rows, or where decode(a) is not a @ readout.

    Verified on the attention as it is, on even draws from the simplex, and halfway between pairs of items: all must agree to rounding.
    A cheap trial goes before: halfway between two draws, a linear output is halfway between their logits.
    """
    if record.alpha.shape[1] != 1:
        return None
    attends = record.mask[:, 0].any(-1)  # an example with an empty row has no attention to speak of
    drawn = random_alpha(record.mask, seed, record.alpha.dtype, count=2)
    middle = drawn.mean(1, keepdim=True)
    tried = model.decode(record, torch.cat([drawn, middle], 1))
    if not _agree(tried[:, 2:], tried[:, :2].mean(1, keepdim=True), attends):
        return None
    items = record.mask.shape[2]
    alone = torch.eye(items, dtype=record.alpha.dtype, device=record.alpha.device).expand(
        len(attends), items, items
    )
    # An item that may not be attended is not tried.
    alone = torch.where(record.mask[:, 0, :, None], alone, record.alpha)
    found = model.decode(record, alone[:, :, None])
    readout = masking.fill(found, record.mask[:, 0, :, None].expand_as(found))
    checked = torch.cat(
        [record.alpha[:, None], random_alpha(record.mask, seed + 1, alone.dtype, count=3)], 1
    )
    checked = torch.cat([checked, _halfway(record, seed)], 1)
    return (
        readout
        if _agree(model.decode(record, checked), checked[:, :, 0] @ readout, attends)
        else None
    )


def _halfway(record: Record, seed: int, count: int = 3) -> Tensor:
    """Between two items of each row drawn at random, which may be one: (B,count,1,N). Even draws leave the edges of the simplex out."""
    order = random_alpha(record.mask, seed + 2, torch.float64, count=2 * count).argmax(
        -1
    )  # (B,2·count,1)
    corners = torch.nn.functional.one_hot(order, record.mask.shape[2]).to(record.alpha.dtype)
    return (corners[:, :count] + corners[:, count:]) / 2


def _agree(got: Tensor, expected: Tensor, attends: Tensor) -> bool:
    got, expected = got[attends], expected[attends]
    if not got.numel():
        return False
    return bool((got - expected).abs().max().item() <= tolerance_of(expected))


class WithReadout:
    """Reads as `inner` reads, with the readout put in."""

    def __init__(self, inner: AttentionModel) -> None:
        self.inner = inner
        self.modules = nn.ModuleList(
            dict.fromkeys(modules_of(inner))
        )  # where audits look for modules

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Embeddings are given by measures that ask for gradients or blank words out; they do not use the readout, so none is sought."""
        record = self.inner.read(batch, embeddings)
        if embeddings is not None or record.readout is not None:
            return record
        with torch.no_grad():
            return replace(record, readout=find_readout(self.inner, record))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return self.inner.decode(record, alpha)

    def leave_out(self, record: Record) -> Tensor:
        """Without looking for the readout of every shortened text."""
        return leave_out(self.inner, record)

    def __getattr__(self, name: str) -> Any:
        if name in _OFFERED:
            return getattr(self.inner, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
