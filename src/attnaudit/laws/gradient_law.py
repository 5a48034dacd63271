"""Law 3: the logits are differentiable in the attention and in the embeddings."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.laws.report import Law


def differentiable(model: AttentionModel, batch: Batch) -> list[Law]:
    """Law 3, once for the attention and once for the embeddings."""
    laws, grads = [], _gradients(model, batch)
    for name, grad in zip(("alpha", "embeddings"), grads, strict=True):
        missing = grad is None or not bool(torch.isfinite(grad).all())
        laws.append(
            Law(
                f"3 differentiable in {name}",
                float(missing),
                0.0,
                control=0.0 if grad is None else grad.abs().max().item(),
                hint="the graph is cut: detach, no_grad or inference_mode, "
                "or embeddings= is not used",
            )
        )
    return laws


def _gradients(model: AttentionModel, batch: Batch) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of the logits in alpha and in the embeddings; None if there is no graph."""
    try:
        with differentiating():
            return _graph(model, batch)
    except RuntimeError:  # there is no graph, or a tensor was made in inference mode
        return None, None


def _graph(model: AttentionModel, batch: Batch) -> tuple[Tensor | None, Tensor | None]:
    embeddings = model.read(batch).embeddings.detach().clone().requires_grad_()
    record = model.read(batch, embeddings)
    alpha = record.alpha.detach().clone().requires_grad_()
    logits = model.decode(record, alpha)
    # Weighted so that classes cannot cancel.
    weighted = (logits * torch.arange(1, logits.shape[1] + 1, device=logits.device)).sum()
    gradients = torch.autograd.grad(weighted, [alpha, embeddings], allow_unused=True)
    return gradients[0], gradients[1]
