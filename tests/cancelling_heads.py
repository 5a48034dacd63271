"""A model of two attention heads with the same weights and opposite values."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record


class CancellingHeads:
    """The heads attend alike, and their values cancel: logit = 4 (a_0 - a_1) · value."""

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        value = batch.tokens.double()
        alpha = masking.softmax(value / 2, batch.mask)[:, None].expand(-1, 2, -1).contiguous()
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        return Record(
            batch=batch,
            embeddings=value[..., None],
            hidden=None,
            alpha=alpha,
            mask=batch.mask[:, None].expand(-1, 2, -1),
            content=batch.mask,
            item_of_token=place.masked_fill(~batch.mask, -1),
            logits=torch.zeros(len(batch), 2, dtype=torch.float64),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        value = record.batch.tokens.double()
        value = value.view(len(value), *[1] * (alpha.dim() - 3), -1)
        logit = 4 * ((alpha[..., 0, :] - alpha[..., 1, :]) * value).sum(-1)
        return torch.stack([logit, torch.zeros_like(logit)], -1)


def one_text(length: int) -> Batch:
    tokens = torch.arange(1, length + 1)[None] % 7
    return Batch(("text",), tokens, torch.ones_like(tokens, dtype=torch.bool))
