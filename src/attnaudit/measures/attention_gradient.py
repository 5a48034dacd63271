"""How would the prediction change with a little more weight on an item? (Serrano & Smith 2019)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import masking
from attnaudit.contract import AttentionModel, Record
from attnaudit.differentiation import differentiating


def attention_gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Signed ∂p(predicted class)/∂alpha (B,R,N)."""
    with differentiating():
        alpha = record.alpha.detach().requires_grad_()
        probs = masking.probabilities(model.decode(record, alpha), record.batch.classes)
        chosen = probs.gather(1, record.predicted[:, None]).sum()
        return torch.autograd.grad(chosen, alpha)[0]


def attention_times_gradient(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """alpha · ∂p/∂alpha (B,R,N)."""
    return record.alpha.detach() * attention_gradient(model, record, seed)
