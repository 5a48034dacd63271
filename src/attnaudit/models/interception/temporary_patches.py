"""Changes to a user's model for the length of one forward pass, all undone after it, also after an exception."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from attnaudit.models.huggingface.layers import Layers
from attnaudit.models.interception.attention_tape import NAME

_ABSENT = object()


def configs_of(model: nn.Module) -> tuple[Any, ...]:
    """Every config that says which attention function is used; the parts of a model may have their own."""
    found = {
        id(module.config): module.config for module in model.modules() if hasattr(module, "config")
    }
    return tuple(
        config for config in found.values() if hasattr(config, "_attn_implementation_internal")
    )


@contextmanager
def attention_switched(configs: Sequence[Any]) -> Iterator[None]:
    """Every config names our attention function. A family that never looks there is not changed by it."""
    before = [(config, config._attn_implementation_internal) for config in configs]
    for config in configs:
        config._attn_implementation_internal = NAME
    try:
        yield
    finally:
        for config, name in before:
            config._attn_implementation_internal = name


@contextmanager
def layers_followed(modules: Sequence[nn.Module], layers: Layers) -> Iterator[None]:
    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(_attribute(module, "forward", _followed(module.forward, layers)))
        yield


def _followed(forward: Callable[..., Any], layers: Layers) -> Callable[..., Any]:
    return lambda *args, **options: layers.run(forward, args, options)


@contextmanager
def _attribute(module: nn.Module, name: str, value: Any) -> Iterator[None]:
    before = module.__dict__.get(name, _ABSENT)
    module.__dict__[name] = value
    try:
        yield
    finally:
        if before is _ABSENT:
            module.__dict__.pop(name, None)
        else:
            module.__dict__[name] = before


@contextmanager
def padding_known(config: Any, number: int) -> Iterator[None]:
    """A decoder classifier without a padding token refuses more than one text; a number no text holds is as good as any."""
    text = config.get_text_config()
    if text.pad_token_id is not None:
        yield
        return
    text.pad_token_id = number
    try:
        yield
    finally:
        text.pad_token_id = None


@contextmanager
def embeddings_seen(module: nn.Module, given: Tensor | None) -> Iterator[list[Tensor]]:
    """The embedding module's first output of the pass, or what is given in its place. `inputs_embeds` would not do: decoder classifiers
    find the last real token from input_ids."""
    seen: list[Tensor] = []

    def hook(_: nn.Module, __: Any, out: Tensor) -> Tensor:
        if seen:  # the decoder of an encoder–decoder model may use the same module
            return out
        seen.append(out if given is None else given)
        return seen[0]

    handle = module.register_forward_hook(hook)
    try:
        yield seen
    finally:
        handle.remove()
