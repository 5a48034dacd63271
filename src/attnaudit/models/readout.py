"""Find the readout of a model whose output is linear in one row of attention.

The readout holds the logits each item would give alone. With it the exact audits apply.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.item_deletion import leave_out
from attnaudit.core.memory_budget import rows_at_once
from attnaudit.core.module_state import modules_of
from attnaudit.core.simplex import random_alpha
from attnaudit.core.tolerance import tolerance_of

_PASSED_ON = (
    "state_influence",
    "attention_without",
    "leave_out_some",
    "attended_norms",
    "attention_rollout",
    "self_attention",
    "value_zeroing",
    "batches",
    "spell",
    "row_names",
    "class_names",
    "about",
    "vocabulary_size",
    "replacement_token",
)


def with_readout(model: AttentionModel) -> AttentionModel:
    """Wrap a model so that its records carry a readout wherever one is found.

    Parameters
    ----------
    model : AttentionModel
        Any model with `read` and `decode`.

    Returns
    -------
    AttentionModel
        The same model; on each batch, the readout is found and verified by `find_readout`.

    Examples
    --------
    >>> from attnaudit.models import Glass, glass_batch, with_readout
    >>> with_readout(Glass("oracle")).read(glass_batch(2)).readout.shape
    torch.Size([2, 14, 2])
    """
    return WithReadout(model)


def find_readout(model: AttentionModel, record: Record, *, seed: int = 0) -> Tensor | None:
    """Return the logits each item would give alone (B,N,C), 0 outside the mask.

    None if there are several rows, or if decode(alpha) is not alpha @ readout: this is verified
    on the model's own attention, on uniform draws from the simplex and halfway between pairs of
    items, up to rounding. A cheap test comes first: halfway between two draws, a linear output is
    halfway between their logits.
    """
    if record.alpha.shape[1] != 1:
        return None
    attends = record.mask[:, 0].any(-1)  # an example with an empty row has no attention
    drawn = random_alpha(record.mask, seed, record.alpha.dtype, count=2)
    middle = drawn.mean(1, keepdim=True)
    tried = model.decode(record, torch.cat([drawn, middle], 1))
    if not _agree(tried[:, 2:], tried[:, :2].mean(1, keepdim=True), attends):
        return None
    logits = _logits_of_each(model, record)
    readout = masking.fill(logits, record.mask[:, 0, :, None].expand_as(logits))
    checked = torch.cat(
        [record.alpha[:, None], random_alpha(record.mask, seed + 1, record.alpha.dtype, count=3)], 1
    )
    checked = torch.cat([checked, _halfway(record, seed)], 1)
    return (
        readout
        if _agree(model.decode(record, checked), checked[:, :, 0] @ readout, attends)
        else None
    )


def _logits_of_each(model: AttentionModel, record: Record) -> Tensor:
    """Return the logits with all attention on one item (B,N,C), a few items at a time.

    Items outside the mask keep the model's own attention.
    """
    item = torch.arange(record.mask.shape[2], device=record.alpha.device)
    logits = []
    for part in item.split(rows_at_once(record.alpha.numel())):
        alone = (part[:, None] == item).to(record.alpha.dtype)
        alpha = torch.where(record.mask[:, 0, part, None], alone, record.alpha)
        logits.append(model.decode(record, alpha[:, :, None]))
    return torch.cat(logits, 1)


def _halfway(record: Record, seed: int, count: int = 3) -> Tensor:
    """Return attention halfway between two random items, which may coincide (B,count,1,N).

    Uniform draws never lie on the edges of the simplex; these do.
    """
    drawn = random_alpha(record.mask, seed + 2, torch.float64, count=2 * count)
    items = drawn.argmax(-1)  # (B,2·count,1)
    corners = torch.nn.functional.one_hot(items, record.mask.shape[2]).to(record.alpha.dtype)
    return (corners[:, :count] + corners[:, count:]) / 2


def _agree(got: Tensor, expected: Tensor, attends: Tensor) -> bool:
    """Return whether the logits agree up to rounding in the examples that attend (B,)."""
    got, expected = got[attends], expected[attends]
    if not got.numel():
        return False
    return bool((got - expected).abs().max().item() <= tolerance_of(expected))


class WithReadout:
    """The model `inner`, with the readout added to its records."""

    def __init__(self, inner: AttentionModel) -> None:
        self.inner = inner
        # A module attribute, so that audits find the modules.
        self.modules = nn.ModuleList(dict.fromkeys(modules_of(inner)))

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Read with `inner` and find the readout, unless embeddings are given.

        Gradient and occlusion measures give embeddings and do not use the readout.
        """
        record = self.inner.read(batch, embeddings)
        if embeddings is not None or record.readout is not None:
            return record
        with torch.no_grad():
            return replace(record, readout=find_readout(self.inner, record))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits of `inner` under other attention."""
        return self.inner.decode(record, alpha)

    def leave_out(self, record: Record) -> Tensor:
        """Return the logits without each item (B,N,C), without readouts of the shorter texts."""
        return leave_out(self.inner, record)

    @property
    def without_readout(self) -> AttentionModel:
        """The model itself, which reads faster."""
        return self.inner

    def __getattr__(self, name: str) -> Any:
        if name in _PASSED_ON:
            return getattr(self.inner, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
