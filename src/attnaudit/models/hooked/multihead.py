"""`nn.MultiheadAttention` from its parameters: it computes its output inside, so other weights must go through all of it again."""

from __future__ import annotations

from inspect import signature
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from attnaudit.core import masking
from attnaudit.core.errors import InputError
from attnaudit.models.hooked.weights import FULL, Found

_TAKES = signature(nn.MultiheadAttention.forward)


def attended(
    module: nn.MultiheadAttention, args: tuple[Any, ...], options: dict[str, Any], out: Any
) -> Found:
    """The weights of one call, and its output under others. S keys, D values of a head.

    weights = softmax(QKᵀ / √D + masks); output = concat over heads (weights V) Wᵒ + bᵒ. Rows that are not touched keep the output they had.
    """
    given = _TAKES.bind(module, *args, **options)
    given.apply_defaults()
    query, key, value = (given.arguments[name] for name in ("query", "key", "value"))
    if query.dim() != 3:
        raise InputError(
            "nn.MultiheadAttention was called on one text without a batch; expected (B,T,E) or (T,B,E)."
        )
    if module.bias_k is not None or module.add_zero_attn:
        raise InputError(
            "nn.MultiheadAttention with add_bias_kv or add_zero_attn attends to something that is no item of the text. "
            "It cannot be audited by hooks."
        )
    if not module.batch_first:
        query, key, value = (each.transpose(0, 1) for each in (query, key, value))
    q, k, v = (
        _split(functional.linear(each, weight, bias), module.num_heads)
        for each, (weight, bias) in zip((query, key, value), _projections(module), strict=True)
    )
    scores = q @ k.transpose(-1, -2) * module.head_dim**-0.5
    added = torch.zeros_like(scores)
    for mask, heads in (
        (given.arguments["attn_mask"], True),
        (given.arguments["key_padding_mask"], False),
    ):
        if mask is not None:
            added = added + _additive(_placed(mask, scores, of_heads=heads), scores.dtype)
    allowed = added > masking.HIDDEN
    weights = masking.softmax(scores + masking.fill(added, allowed), allowed)

    def put(other: Tensor, touched: Tensor) -> Any:
        joined = (other @ v).transpose(1, 2).flatten(2)
        new = functional.linear(joined, module.out_proj.weight, module.out_proj.bias)
        own = out[0] if module.batch_first else out[0].transpose(0, 1)
        new = torch.where(touched[..., None], new, own)
        return (new if module.batch_first else new.transpose(0, 1), *out[1:])

    return Found(weights, FULL, put, allowed)


def _projections(module: nn.MultiheadAttention) -> list[tuple[Tensor, Tensor | None]]:
    """Weight and bias of query, key and value: one parameter in three parts, or three where the sizes differ."""
    if module.in_proj_weight is not None:
        weights = module.in_proj_weight.chunk(3)
    else:
        weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    biases = (None, None, None) if module.in_proj_bias is None else module.in_proj_bias.chunk(3)
    return list(zip(weights, biases, strict=True))


def _split(projected: Tensor, heads: int) -> Tensor:
    """(B,T,E) -> (B,H,T,D)."""
    return projected.unflatten(-1, (heads, -1)).transpose(1, 2)


def _placed(mask: Tensor, scores: Tensor, *, of_heads: bool) -> Tensor:
    """attn_mask (Q,S) or (B·H,Q,S), key_padding_mask (B,S), to go with scores (B,H,Q,S)."""
    if not of_heads:
        return mask[:, None, None]
    return mask if mask.dim() == 2 else mask.view(scores.shape)


def _additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """A bool mask is True where nothing may be attended; a float mask is added as it is."""
    if mask.dtype != torch.bool:
        return mask.to(dtype)
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(mask, -torch.inf)
