"""The log-probability of an answer, with any of its sources left out."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable


def log_prob(logits: Tensor) -> Tensor:
    """Mean log-probability of the answer's tokens (…,) from logits (…,2)."""
    return logits.detach().double().log_softmax(-1)[..., 0]


def kept_log_prob(model: AttentionModel, record: Record, keep: Tensor) -> Tensor:
    """Log-probability (B,K) with only the sources in keep (B,K,N) in the prompt."""
    keep_only = getattr(model, "keep_only", None)
    if keep_only is None:
        raise NotApplicable("the model cannot leave out sources: it has no keep_only")
    with torch.no_grad():
        return log_prob(keep_only(record, keep))


def single_sources(record: Record) -> Tensor:
    """Sets of one source each: (B,N,N), where set n holds item n if that is a source."""
    eye = torch.eye(record.content.shape[1], dtype=torch.bool, device=record.content.device)
    return eye & record.content[:, None]


def drop_without_each(model: AttentionModel, record: Record) -> Tensor:
    """How much the log-probability falls without each source (B,N); NaN for other items."""
    without = record.content[:, None] & ~single_sources(record)
    fall = log_prob(record.logits)[:, None] - kept_log_prob(model, record, without)
    return fall.masked_fill(~record.content, torch.nan)


def closed_book(model: AttentionModel, record: Record) -> Tensor:
    """Log-probability of the answer without any source (B,)."""
    nothing = torch.zeros_like(record.content)[:, None]
    return kept_log_prob(model, record, nothing)[:, 0]
