"""One text at its own length."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnaudit.core.contract import Batch


def unpadded(text: Batch) -> Batch:
    """A batch of one text without padding, also of its query."""
    text = text.without(torch.zeros_like(text.mask))
    if text.query is None or text.query_mask is None or not text.query_mask.any():
        return text
    width = int(text.query_mask[0].nonzero().max()) + 1
    return replace(text, query=text.query[:, :width], query_mask=text.query_mask[:, :width])
