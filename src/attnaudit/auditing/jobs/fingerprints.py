"""What identifies a model, a batch or a choice, so that a changed job is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch


def model_fingerprint(model: Any) -> str:
    """SHA-256 of the class of a model, what it says of itself, and all its weights and buffers.

    Settings that are neither stored as tensors nor in `model.about` do not count.
    """
    kind = type(model)
    about = json.dumps(getattr(model, "about", {}), sort_keys=True, default=str)
    digest = hashlib.sha256(f"{kind.__module__}.{kind.__qualname__} {about}".encode())
    for name, tensor in _tensors(model):
        digest.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        digest.update(_content(tensor))
    return digest.hexdigest()


def batch_fingerprint(batches: Iterable[Batch]) -> str:
    """SHA-256 of the ids and all tensors of batches."""
    digest = hashlib.sha256()
    for batch in batches:
        for name, value in vars(batch).items():
            digest.update(name.encode())
            if isinstance(value, Tensor):
                digest.update(f"{tuple(value.shape)} {value.dtype}".encode() + _content(value))
            else:
                digest.update(repr(value).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def choice_fingerprint(name: str, choice: Callable[..., Any]) -> str:
    """The name of an audit or measure; for a function of the user's, also its code."""
    function: Any = choice
    while isinstance(function, partial):
        function = function.func
    if (given := getattr(function, "fingerprint", None)) is not None:
        return f"{name} {given}"
    code = getattr(function, "__code__", None)
    if code is None or function.__module__.startswith("attnaudit."):
        return name
    return f"{name} {hashlib.sha256(code.co_code + repr(code.co_consts).encode()).hexdigest()}"


def _tensors(model: Any) -> Iterable[tuple[str, Tensor]]:
    if isinstance(model, nn.Module):
        yield from model.state_dict().items()
        return
    for attribute, value in sorted(getattr(model, "__dict__", {}).items()):
        if isinstance(value, nn.Module):
            yield from ((f"{attribute}.{name}", each) for name, each in value.state_dict().items())
        elif isinstance(value, Tensor):
            yield attribute, value
        elif isinstance(value, int | float | str | bool):
            yield f"{attribute}={value!r}", torch.empty(0)


def _content(tensor: Tensor) -> bytes:
    flat = tensor.detach().cpu().contiguous().flatten()
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
