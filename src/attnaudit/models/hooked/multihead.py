"""`nn.MultiheadAttention`, recomputed from its parameters.

It computes its output internally, so its output under other weights is computed here.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.models.hooked.attention_capture import FULL, AttentionCapture

_SIGNATURE = signature(nn.MultiheadAttention.forward)


def capture_multihead(
    module: nn.MultiheadAttention, args: tuple[Any, ...], options: dict[str, Any], out: Any
) -> AttentionCapture:
    """Capture the weights of one call, and compute its output under other weights.

    weights = softmax(QKᵀ / √D + masks); output = concat over heads (weights V) Wᵒ + bᵒ.
    Query positions that are not touched keep their output.
    """
    bound = _SIGNATURE.bind(module, *args, **options)
    bound.apply_defaults()
    query, key, value = (bound.arguments[name] for name in ("query", "key", "value"))
    if query.dim() != 3:
        raise InputError(
            "nn.MultiheadAttention was called on a single text without a batch dimension; "
            "expected (B,T,E) or (T,B,E)."
        )
    if module.bias_k is not None or module.add_zero_attn:
        raise InputError(
            "nn.MultiheadAttention with add_bias_kv or add_zero_attn attends to something that is "
            "not an item of the text. It cannot be audited by hooks."
        )
    if not module.batch_first:
        query, key, value = (tensor.transpose(0, 1) for tensor in (query, key, value))
    q, k, v = (
        _split(functional.linear(tensor, weight, bias), module.num_heads)
        for tensor, (weight, bias) in zip((query, key, value), _projections(module), strict=True)
    )
    scores = q @ k.transpose(-1, -2) * module.head_dim**-0.5
    added = torch.zeros_like(scores)
    for mask, per_head in (
        (bound.arguments["attn_mask"], True),
        (bound.arguments["key_padding_mask"], False),
    ):
        if mask is not None:
            added = added + _additive(_expand(mask, scores, per_head=per_head), scores.dtype)
    allowed = added > masking.HIDDEN
    weights = masking.softmax(scores + masking.fill(added, allowed), allowed)

    def put(other: Tensor, touched: Tensor) -> Any:
        joined = (other @ v).transpose(1, 2).flatten(2)
        new = functional.linear(joined, module.out_proj.weight, module.out_proj.bias)
        own = out[0] if module.batch_first else out[0].transpose(0, 1)
        new = torch.where(touched[..., None], new, own)
        return (new if module.batch_first else new.transpose(0, 1), *out[1:])

    return AttentionCapture(weights, FULL, put, allowed)


def _projections(module: nn.MultiheadAttention) -> list[tuple[Tensor, Tensor | None]]:
    """Return weight and bias of query, key and value: parts of one parameter, or three."""
    if module.in_proj_weight is not None:
        weights = module.in_proj_weight.chunk(3)
    else:
        weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    biases = (None, None, None) if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    return list(zip(weights, biases, strict=True))


def _split(projected: Tensor, heads: int) -> Tensor:
    """Split the heads: (B,T,E) -> (B,H,T,D)."""
    return projected.unflatten(-1, (heads, -1)).transpose(1, 2)


def _expand(mask: Tensor, scores: Tensor, *, per_head: bool) -> Tensor:
    """Reshape a mask to broadcast to scores (B,H,Q,S).

    attn_mask is (Q,S) or (B·H,Q,S), key_padding_mask (B,S).
    """
    if not per_head:
        return mask[:, None, None]
    return mask if mask.dim() == 2 else mask.view(scores.shape)


def _additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a mask to add to the scores; a bool mask is True where attention is not allowed."""
    if mask.dtype != torch.bool:
        return mask.to(dtype)
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -torch.inf)
