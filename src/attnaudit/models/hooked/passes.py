"""One forward pass of the user's model, with attention read or overridden on the way, and the model as found after it."""

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
from attnaudit.models.hooked.custom_model_template import Refused
from attnaudit.models.hooked.multihead import attended
from attnaudit.models.hooked.weights import Found, described, in_result
from attnaudit.models.interception.softmax_tap import softmax_met

Change = Callable[
    [Found], tuple[Tensor, Tensor]
]  # -> other weights (B,H,Q,N), where they are others (B,Q)


@dataclass(frozen=True, eq=False)
class Wiring:
    """What the user said of the model."""

    model: nn.Module
    alpha: str  # the path of the attention module
    embedding: str
    call: Callable[[nn.Module, Batch], Any]
    query: Any
    heads: tuple[int, ...] | None  # None: all
    member: int | None
    before: int
    mask: Callable[[Batch], Tensor] | None
    batch_first: bool

    @property
    def attention(self) -> nn.Module:
        return self.model.get_submodule(self.alpha)


@dataclass(frozen=True, eq=False)
class Pass:
    found: Found
    embeddings: Tensor  # (B,T,E)
    logits: Tensor  # (B,C)


def run(
    wiring: Wiring,
    batch: Batch,
    *,
    how: str,
    positions: bool = False,
    embeddings: Tensor | None = None,
    change: Change | None = None,
) -> Pass:
    """how: the attention is "multihead", "returned" by its module, or met "inside" it. positions: as in weights.canonical."""
    examples, items = len(batch), batch.tokens.shape[1] + wiring.before
    module, name = wiring.attention, repr(wiring.alpha)
    met: list[Found] = []

    def meet(found: Found | None, out: Any = None) -> Any:
        if found is None:
            raise Refused(
                f"The module {name} returns {described(out)}. Expected attention weights over the {items} items, of shape (B,N), "
                "(B,R,N) or (B,heads,Q,N), whose rows sum to 1: a tensor, or just one member of a tuple (say which with member=). "
                "If the model puts tokens of its own before the text, such as a class token, say how many with before=."
            )
        met.append(found)
        return None if change is None else found.put(*change(found))

    def hook(_: nn.Module, args: Any, options: Any, out: Any) -> Any:
        if how == "multihead":
            assert isinstance(module, nn.MultiheadAttention)  # this is when it is chosen
            return meet(attended(module, args, options, out))
        return meet(in_result(out, examples, items, wiring.member, positions), out)

    with ExitStack() as stack:
        stack.enter_context(evaluating(wiring.model))
        stack.enter_context(_slow_path())
        words = stack.enter_context(_embeddings_seen(wiring, batch, embeddings))
        if how == "inside":
            stack.enter_context(softmax_met(module, examples, items, positions, meet))
        else:
            stack.callback(module.register_forward_hook(hook, with_kwargs=True).remove)
        out = wiring.call(wiring.model, batch)
    if not words:
        raise InputError(
            f"The module {wiring.embedding!r} gave no embeddings of shape (B,T,E) with B = {examples}, T = {batch.tokens.shape[1]}. "
            "Name the module that turns token numbers into vectors; batch_first=False where it gives (T,B,E)."
        )
    if len(met) != 1:
        where = (
            f"one softmax over the {items} items inside the module {name}"
            if how == "inside"
            else f"the module {name}"
        )
        raise Refused(f"Expected {where} to run once in a forward pass; it ran {len(met)} times.")
    return Pass(met[0], words[0], logits_of(out, examples))


def logits_of(out: Any, examples: int) -> Tensor:
    """(B,C) out of what the model returns: a tensor, its `.logits`, or the first of a tuple."""
    logits = getattr(out, "logits", out)
    logits = logits[0] if isinstance(logits, (tuple, list)) and logits else logits
    if isinstance(logits, Tensor) and logits.shape in ((examples,), (examples, 1)):
        raise InputError(
            "The model gives one number for each example: a regression has no decision that could flip. If it is the logit z of "
            "a yes-or-no decision, let call= return both: torch.stack([torch.zeros_like(z), z], -1)."
        )
    if not isinstance(logits, Tensor) or logits.dim() != 2 or len(logits) != examples:
        raise InputError(
            f"The model returns {described(out)}. Expected logits of shape (B,C) with B = {examples}, as a tensor, as .logits or as the "
            "first of a tuple. Let call= return them: call=lambda model, batch: model(batch.tokens, batch.mask)[…]."
        )
    return logits


@contextmanager
def _slow_path() -> Iterator[None]:
    """PyTorch's fast path for Transformer layers neither calls the attention module nor gives its weights."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


@contextmanager
def _embeddings_seen(wiring: Wiring, batch: Batch, given: Tensor | None) -> Iterator[list[Tensor]]:
    """The embeddings of the tokens, or what is given in their place. A second text through the same module is left alone."""
    seen: list[Tensor] = []

    def turned(tensor: Tensor) -> Tensor:
        return tensor if wiring.batch_first else tensor.transpose(0, 1)

    def hook(_: nn.Module, __: Any, out: Any) -> Any:
        if (
            seen
            or not isinstance(out, Tensor)
            or out.dim() != 3
            or turned(out).shape[:2] != batch.tokens.shape
        ):
            return None
        seen.append(turned(out) if given is None else given)
        return None if given is None else turned(given)

    handle = wiring.model.get_submodule(wiring.embedding).register_forward_hook(hook)
    try:
        yield seen
    finally:
        handle.remove()
