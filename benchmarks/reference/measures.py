"""Gradients and leave-one-out as released: one pass per question, one re-encoding per deletion."""

from __future__ import annotations

import torch
from benchmarks.reference.plain_model import PlainModel
from torch import Tensor

# cuDNN differentiates a recurrent network in training mode only.
without_cudnn = torch.backends.cudnn.flags(enabled=False)


@without_cudnn
def gradient(model: PlainModel, tokens: Tensor, mask: Tensor) -> Tensor:
    """|Σ_e x_e ∂p/∂x_e| (B,T) with attention cut off the graph (Jain & Wallace, algorithm 1)."""
    embeddings, hidden = model.embed_and_encode(tokens, mask)
    probs = model.decode(model.attend(hidden, tokens, mask).detach(), hidden)
    slope = _slope(probs, embeddings)
    return (slope * embeddings.detach()).sum(-1).abs()


@without_cudnn
def gradient_norm(model: PlainModel, tokens: Tensor, mask: Tensor) -> Tensor:
    """‖∂p/∂x_i‖ (B,T), attention on the graph (Meister et al., eq. 4); a pass of its own."""
    embeddings, hidden = model.embed_and_encode(tokens, mask)
    return _slope(model.decode(model.attend(hidden, tokens, mask), hidden), embeddings).norm(dim=-1)


@without_cudnn
def hidden_gradient(model: PlainModel, tokens: Tensor, mask: Tensor) -> Tensor:
    """‖∂p/∂h_i‖ (B,T), attention on the graph (Meister et al., table 6); a pass of its own."""
    _, hidden = model.embed_and_encode(tokens, mask)
    return _slope(model.decode(model.attend(hidden, tokens, mask), hidden), hidden).norm(dim=-1)


@without_cudnn
def attention_gradient(model: PlainModel, tokens: Tensor, mask: Tensor) -> Tensor:
    """∂p/∂alpha (B,T) (Serrano & Smith); a pass of its own."""
    _, hidden = model.embed_and_encode(tokens, mask)
    alpha = model.attend(hidden, tokens, mask)
    return _slope(model.decode(alpha, hidden), alpha)


def _slope(probs: Tensor, by: Tensor) -> Tensor:
    return torch.autograd.grad(probs.amax(-1).sum(), by)[0]


@torch.no_grad()
def leave_one_out(model: PlainModel, tokens: Tensor, mask: Tensor) -> Tensor:
    """TVD of the prediction without each position (B,T): one re-encoding of the batch per position.

    Values where a text has no word at the position mean nothing.
    """
    _, hidden = model.embed_and_encode(tokens, mask)
    whole = model.decode(model.attend(hidden, tokens, mask), hidden)
    changes = torch.zeros(mask.shape, device=mask.device)
    for place in range(1, tokens.shape[1] - 1):
        kept = [index for index in range(tokens.shape[1]) if index != place]
        fewer, fewer_mask = tokens[:, kept], mask[:, kept]
        _, hidden = model.embed_and_encode(fewer, fewer_mask)
        probs = model.decode(model.attend(hidden, fewer, fewer_mask), hidden)
        changes[:, place] = (probs - whole).abs().sum(-1) / 2
    return changes
