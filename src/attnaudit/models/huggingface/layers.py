"""Whole layers of a model in a forward pass: kept, or skipped if their result is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from torch import Tensor, nn

from attnaudit.models.interception import forward_wrapped


class LayerReached(Exception):
    """Ends a forward pass after the layer that it was run for."""


class LayerRunner(Protocol):
    """What is asked to run every layer of a forward pass."""

    def run(
        self, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run a layer, or something in its place."""


@dataclass
class LayerTape:
    """One forward pass: where to start, which layers to keep, and what was kept.

    Layer calls are numbered from 0 in the order in which they run.
    """

    start: int = 0  # layers below this one are skipped
    hidden: Tensor | None = None  # input of layer `start`, in place of what the pass gives it
    # call -> what a skipped layer returned in an earlier pass, without its hidden states
    templates: dict[int, Any] = field(default_factory=dict)
    # call -> hidden states that a skipped layer returns, where they matter
    skipped_hidden: dict[int, Tensor] = field(default_factory=dict)
    keep: frozenset[int] = frozenset()  # calls whose input and output are kept
    stop_after: int | None = None  # the call after which `LayerReached` ends the pass
    next_call: int = 0
    # What the pass leaves behind:
    inputs: dict[int, Tensor] = field(default_factory=dict)
    outputs: dict[int, Tensor] = field(default_factory=dict)
    new_templates: dict[int, Any] = field(default_factory=dict)

    def run(
        self, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run a layer, or return its known result."""
        number, self.next_call = self.next_call, self.next_call + 1
        hidden = args[0] if args else kwargs["hidden_states"]
        if number < self.start:
            return _with_hidden(self.templates[number], self.skipped_hidden.get(number, hidden))
        if number == self.start and self.hidden is not None:
            hidden = self.hidden
            if args:
                args = (hidden, *args[1:])
            else:
                kwargs = {**kwargs, "hidden_states": hidden}
        out = forward(*args, **kwargs)
        if number in self.keep:
            self.inputs[number] = hidden
            self.outputs[number] = out[0] if isinstance(out, tuple) else out
        self.new_templates[number] = _with_hidden(out, None)
        if number == self.stop_after:
            raise LayerReached
        return out


@contextmanager
def layers_taped(modules: Sequence[nn.Module], tape: LayerRunner) -> Iterator[None]:
    """Run every layer through the tape inside the context."""

    def wrap(forward: Callable[..., Any]) -> Callable[..., Any]:
        return partial(_run_taped, tape, forward)

    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(forward_wrapped(module, wrap))
        yield


def _run_taped(tape: LayerRunner, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return tape.run(forward, args, kwargs)


def _with_hidden(out: Any, hidden: Tensor | None) -> Any:
    """Return a layer's result with other hidden states; some families return a tuple."""
    return (hidden, *out[1:]) if isinstance(out, tuple) else hidden


def layer_modules(model: nn.Module) -> list[nn.Module]:
    """Return the layers: the members of every ModuleList that is in no other ModuleList."""
    layers: list[nn.Module] = []
    lists = [name for name, module in model.named_modules() if isinstance(module, nn.ModuleList)]
    outer = [name for name in lists if not any(name.startswith(f"{other}.") for other in lists)]
    for name in outer:
        layers += [
            module for module in model.get_submodule(name).children() if module not in layers
        ]
    return layers
