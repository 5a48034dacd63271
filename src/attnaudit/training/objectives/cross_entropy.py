"""Learn to predict the label."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError


def cross_entropy(model: AttentionModel, batch: Batch) -> Tensor:
    """Mean over the batch of -ln p(label), over the candidate classes."""
    return label_loss(model.read(batch).logits, batch)


def label_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Cross-entropy of logits (B,C) with the labels of the batch, over the candidate classes."""
    if batch.labels is None:
        raise InputError("Training needs a label for every example; this batch has none.")
    if batch.classes is not None:
        logits = logits.masked_fill(~batch.classes, -torch.inf)
    return torch.nn.functional.cross_entropy(logits, batch.labels)
