"""The last layer for one token: of the others, only what it attends to is computed.

A head that reads one token needs no other result of the last layer. The layer is run up to its
attention, for the keys and values of all tokens, and then as a whole for that token alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode

from attnaudit.models.huggingface.layers import layers_taped
from attnaudit.models.huggingface.passes import Wiring


class _AttentionReached(Exception):
    """Ends the run of a layer at its attention; holds the attended sum (B,H,1,D)."""


@dataclass
class TopLayer:
    """One forward pass: all layers as they are, the last one for the query positions alone."""

    number: int  # of the last layer call
    positions: Tensor  # (B,) query positions
    next_call: int = 0

    def run(
        self, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run a layer; the result of the last one is 0 except at the query positions."""
        number, self.next_call = self.next_call, self.next_call + 1
        if number != self.number:
            return forward(*args, **kwargs)
        hidden = args[0] if args else kwargs["hidden_states"]
        example = torch.arange(len(hidden), device=hidden.device)
        try:
            with _FirstAttention(self._stop):
                return forward(*args, **kwargs)  # by another attention function
        except _AttentionReached as reached:
            (attended,) = reached.args
        one = hidden[example, self.positions][:, None]
        if args:
            args = (one, *args[1:])
        else:
            kwargs = {**kwargs, "hidden_states": one}
        with _FirstAttention(lambda *_, **__: attended):
            out = forward(*args, **kwargs)
        result = out[0] if isinstance(out, tuple) else out
        whole = torch.zeros_like(hidden)
        whole[example, self.positions] = result[:, 0]
        return (whole, *out[1:]) if isinstance(out, tuple) else whole

    def _stop(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        **options: Any,
    ) -> None:
        """Attend from the query positions, and end the run."""
        example = torch.arange(len(query), device=query.device)
        if is_causal:
            token = torch.arange(key.shape[2], device=key.device)
            attn_mask = (token <= self.positions[:, None])[:, None, None]
        elif attn_mask is not None:
            every = attn_mask.expand(len(query), -1, query.shape[2], -1)
            attn_mask = every[example, :, self.positions][:, :, None]
        one = query[example, :, self.positions][:, :, None]
        raise _AttentionReached(
            scaled_dot_product_attention(one, key, value, attn_mask, dropout_p, **options)
        )


class _FirstAttention(TorchFunctionMode):
    """A context in which the first call of PyTorch's attention is answered by a function."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        super().__init__()
        self.answer: Callable[..., Any] | None = answer

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is scaled_dot_product_attention and self.answer is not None:
            func, self.answer = self.answer, None
        return func(*args, **(kwargs or {}))


def has_hooks(wiring: Wiring) -> bool:
    """Return whether somebody watches or changes what a layer does: it is to be run as it is."""
    return any(
        module._forward_hooks or module._forward_pre_hooks
        for layer in wiring.layers
        for module in layer.modules()
    )


@contextmanager
def top_layer_for(wiring: Wiring, positions: Tensor) -> Iterator[None]:
    """Run the last layer for the tokens at positions (B,) alone, in one pass inside the context.

    If the model does not use PyTorch's attention function, it is run as it is.
    """
    with layers_taped(wiring.layers, TopLayer(max(wiring.layer_of_call), positions)):
        yield
