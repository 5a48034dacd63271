"""Whole layers of a model in a forward pass: kept, or skipped where what they give is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn


@dataclass
class Layers:
    """Calls of whole layers in one forward pass: what went in, and where to start when the layers below are known."""

    start: int = 0
    hidden: Tensor | None = None  # what goes into layer `start`, in place of what comes
    like: dict[int, Any] = field(
        default_factory=dict
    )  # call -> what a skipped layer returned when it was run
    given: dict[int, Tensor] = field(
        default_factory=dict
    )  # call -> what a skipped layer gives, where it matters
    keep: frozenset[int] = frozenset()  # calls whose input and result are kept
    call: int = 0
    inputs: dict[int, Tensor] = field(default_factory=dict)
    results: dict[int, Tensor] = field(default_factory=dict)
    outputs: dict[int, Any] = field(default_factory=dict)

    def run(
        self, forward: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        number, self.call = self.call, self.call + 1
        hidden = args[0] if args else options["hidden_states"]
        if number < self.start:
            return _with_hidden(self.like[number], self.given.get(number, hidden))
        if number == self.start and self.hidden is not None:
            hidden = self.hidden
            args, options = (
                ((hidden, *args[1:]), options)
                if args
                else ((), {**options, "hidden_states": hidden})
            )
        out = forward(*args, **options)
        if number in self.keep:
            self.inputs[number] = hidden
            self.results[number] = out[0] if isinstance(out, tuple) else out
        self.outputs[number] = _with_hidden(out, None)
        return out


def _with_hidden(out: Any, hidden: Tensor | None) -> Any:
    """A layer's result with other hidden states: some families return them alone, some in a tuple."""
    return (hidden, *out[1:]) if isinstance(out, tuple) else hidden


def layer_modules(model: nn.Module) -> list[nn.Module]:
    """The layers: what stands in a list that is in no other list."""
    found: list[nn.Module] = []
    lists = [name for name, module in model.named_modules() if isinstance(module, nn.ModuleList)]
    outer = [name for name in lists if not any(name.startswith(f"{other}.") for other in lists)]
    for name in outer:
        found += [module for module in model.get_submodule(name).children() if module not in found]
    return found
