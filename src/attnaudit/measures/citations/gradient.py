"""To first order, how much less likely would the answer be without the source?"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable


def gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Input × gradient of the log-probability, summed over the source's tokens (B,N), signed."""
    method = getattr(model, "input_gradient", None)
    if method is None:
        raise NotApplicable("the model has no input_gradient")
    return method(record).detach().double().masked_fill(~record.content, torch.nan)
