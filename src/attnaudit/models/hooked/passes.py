"""One forward pass of a user's model, with its attention captured and, if asked, replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.module_state import evaluating
from attnaudit.models.hooked.attention_capture import (
    AttentionCapture,
    capture_output,
    capture_softmax,
    describe_output,
)
from attnaudit.models.hooked.custom_model_template import HookError
from attnaudit.models.hooked.multihead import capture_multihead
from attnaudit.models.interception import SoftmaxTap, embeddings_captured, forward_wrapped

# Returns other weights (B,H,Q,N), and where they differ (B,Q).
Replace = Callable[[AttentionCapture], tuple[Tensor, Tensor]]


@dataclass(frozen=True, eq=False)
class HookOptions:
    """The arguments of `from_hooks`, checked."""

    model: nn.Module
    alpha: str  # path of the attention module
    embedding: str  # path of the embedding module
    call: Callable[[nn.Module, Batch], Any]
    query: Any
    heads: tuple[int, ...] | None  # None: all
    output_index: int | None
    num_prefix_tokens: int
    mask: Callable[[Batch], Tensor] | None
    batch_first: bool

    @property
    def attention(self) -> nn.Module:
        """The attention module."""
        return self.model.get_submodule(self.alpha)


@dataclass(frozen=True, eq=False)
class ForwardPass:
    """What one forward pass showed."""

    capture: AttentionCapture
    embeddings: Tensor  # (B,T,E)
    logits: Tensor  # (B,C)


def run_pass(
    options: HookOptions,
    batch: Batch,
    *,
    access: str,
    rows_are_positions: bool = False,
    embeddings: Tensor | None = None,
    replace: Replace | None = None,
) -> ForwardPass:
    """Run the model once; it is unchanged afterwards, even after an exception.

    access: the attention is that of an nn.MultiheadAttention ("multihead"), "returned" by its
    module, or computed by a "softmax" inside it. rows_are_positions: see `to_canonical`.
    """
    examples, items = len(batch), batch.tokens.shape[1] + options.num_prefix_tokens
    module, name = options.attention, repr(options.alpha)
    captures: list[AttentionCapture] = []

    def keep(capture: AttentionCapture) -> Any:
        captures.append(capture)
        return None if replace is None else capture.put(*replace(capture))

    def on_softmax(out: Tensor) -> Any:
        capture = capture_softmax(out, examples, items, rows_are_positions)
        return None if capture is None else keep(capture)

    def tapped(forward: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            with SoftmaxTap(on_softmax):
                return forward(*args, **kwargs)

        return run

    def hook(_: nn.Module, args: Any, kwargs: Any, out: Any) -> Any:
        if access == "multihead":
            assert isinstance(module, nn.MultiheadAttention)  # access is chosen by this
            return keep(capture_multihead(module, args, kwargs, out))
        capture = capture_output(out, examples, items, options.output_index, rows_are_positions)
        if capture is None:
            raise HookError(
                f"The module {name} returns {describe_output(out)}. Expected attention weights "
                f"over the {items} items, of shape (B,N), (B,R,N) or (B,heads,Q,N), whose rows sum "
                "to 1: a tensor, or exactly one element of a tuple (choose it with output_index=). "
                "If the model puts tokens of its own before the text, such as a class token, give "
                "their number with num_prefix_tokens=."
            )
        return keep(capture)

    with ExitStack() as stack:
        stack.enter_context(evaluating(options.model))
        stack.enter_context(_fast_path_disabled())
        captured = stack.enter_context(
            embeddings_captured(
                options.model.get_submodule(options.embedding),
                embeddings,
                shape=batch.tokens.shape,
                batch_first=options.batch_first,
            )
        )
        if access == "softmax":
            stack.enter_context(forward_wrapped(module, tapped))
        else:
            stack.callback(module.register_forward_hook(hook, with_kwargs=True).remove)
        out = options.call(options.model, batch)
    if not captured:
        raise InputError(
            f"The module {options.embedding!r} returned no embeddings of shape (B,T,E) with "
            f"B = {examples}, T = {batch.tokens.shape[1]}. Name the module that turns token ids "
            "into vectors, and pass batch_first=False if it returns (T,B,E)."
        )
    if len(captures) != 1:
        where = (
            f"one softmax over the {items} items inside the module {name}"
            if access == "softmax"
            else f"the module {name}"
        )
        raise HookError(
            f"Expected {where} to run once in a forward pass; it ran {len(captures)} times."
        )
    return ForwardPass(captures[0], captured[0], logits_of(out, examples))


def logits_of(out: Any, examples: int) -> Tensor:
    """Return the logits (B,C) in the model's output: a tensor, `.logits`, or first in a tuple."""
    logits = getattr(out, "logits", out)
    logits = logits[0] if isinstance(logits, (tuple, list)) and logits else logits
    if isinstance(logits, Tensor) and logits.shape in ((examples,), (examples, 1)):
        raise InputError(
            "The model returns one number per example: a regression has no decision that could "
            "flip. If it is the logit z of a binary decision, let call= return both logits: "
            "torch.stack([torch.zeros_like(z), z], -1)."
        )
    if not isinstance(logits, Tensor) or logits.dim() != 2 or len(logits) != examples:
        raise InputError(
            f"The model returns {describe_output(out)}. Expected logits of shape (B,C) with "
            f"B = {examples}, as a tensor, as .logits or as the first element of a tuple. Let "
            "call= return them: call=lambda model, batch: model(batch.tokens, batch.mask)[…]."
        )
    return logits


@contextmanager
def _fast_path_disabled() -> Iterator[None]:
    """Disable PyTorch's fast path for Transformer layers, which skips the attention module."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
