"""Changes to a model's configs that are undone after one forward pass, even after an exception."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import nn

from attnaudit.models.huggingface.attention_tape import NAME


def attention_configs(model: nn.Module) -> tuple[Any, ...]:
    """Return every config that names an attention function; parts may have their own."""
    configs = {
        id(module.config): module.config for module in model.modules() if hasattr(module, "config")
    }
    return tuple(
        config for config in configs.values() if hasattr(config, "_attn_implementation_internal")
    )


@contextmanager
def attention_switched(configs: Sequence[Any], function: str = NAME) -> Iterator[None]:
    """Name our attention function in every config; families that never look there ignore it."""
    before = [(config, config._attn_implementation_internal) for config in configs]
    for config in configs:
        config._attn_implementation_internal = function
    try:
        yield
    finally:
        for config, name in before:
            config._attn_implementation_internal = name


@contextmanager
def padding_token_set(config: Any, token_id: int) -> Iterator[None]:
    """Set a padding token, without which a decoder classifier rejects batches of several texts.

    Any id that occurs in no text will do. A config that has one keeps it.
    """
    text_config = config.get_text_config()
    if text_config.pad_token_id is not None:
        yield
        return
    text_config.pad_token_id = token_id
    try:
        yield
    finally:
        text_config.pad_token_id = None
