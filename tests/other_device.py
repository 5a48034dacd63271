"""A pretended second device, to find tensors that are made on the wrong one without a GPU.

Tensors on it say that their device is `meta` but hold their numbers on the CPU, so that code which
looks at values runs too. As on a GPU, an operation on tensors of both devices is an error, but for
copies between them, CPU numbers without dimensions, and CPU indices.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

DEVICE = torch.device("meta")
_COPIES = ("aten::_to_copy", "aten::copy_", "aten::_copy_from")
_WITH_INDICES = ("aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_")


class Elsewhere(Tensor):
    """A tensor on the pretended device; `held` has its numbers."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> Elsewhere:
        """Wrap a CPU tensor."""
        return Tensor._make_wrapper_subclass(
            cls,
            held.shape,
            strides=held.stride(),
            storage_offset=held.storage_offset(),
            dtype=held.dtype,
            device=DEVICE,
            requires_grad=held.requires_grad,
        )

    def __init__(self, held: Tensor) -> None:
        self.held = held

    def tolist(self) -> Any:
        """As of any tensor."""
        return self.held.tolist()

    def numpy(self, **options: Any) -> Any:
        """NumPy has the CPU only, as on a GPU."""
        raise TypeError("numpy() of a tensor that is not on the CPU; call cpu() first")

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return computed(function, args, kwargs or {})


@contextmanager
def other_device() -> Iterator[None]:
    """Inside this context, `device="meta"` is the pretended device."""
    with _Operations(), _Lists():
        yield


class _Lists(TorchFunctionMode):
    """Tensors made of Python numbers, which are not dispatched."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        options = dict(kwargs or {})
        if function in (torch.tensor, torch.as_tensor) and options.get("device") is not None:
            device = options.pop("device")
            return function(*args, **options).to(device)
        return function(*args, **options)


class _Operations(TorchDispatchMode):
    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return computed(function, args, kwargs or {})


def computed(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute on the CPU, and wrap the result if it belongs on the pretended device."""
    to = kwargs.get("device")
    if to is not None:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    values, shape = tree_flatten((args, kwargs))
    tensors = [value for value in values if isinstance(value, Tensor)]
    away = [tensor for tensor in tensors if isinstance(tensor, Elsewhere)]
    here = [tensor for tensor in tensors if not isinstance(tensor, Elsewhere)]
    name = function._schema.name
    if name in _WITH_INDICES:
        here = [
            tensor for tensor in (args[0], *args[2:]) if tensor is not None and _is_here(tensor)
        ]
    if away and name not in _COPIES and any(tensor.dim() for tensor in here):
        raise RuntimeError(f"{name}: a tensor is on the CPU and another on the model's device")
    elsewhere = bool(away) if to is None else torch.device(to).type == DEVICE.type
    if name == "aten::copy_" or name.endswith("_local_scalar_dense"):
        elsewhere = name == "aten::copy_" and isinstance(args[0], Elsewhere)
    if away:
        args, kwargs = tree_unflatten(map(_held, values), shape)
    out = function(*args, **kwargs)
    return tree_map_only(Tensor, Elsewhere, out) if elsewhere else out


def _held(value: Any) -> Any:
    return value.held if isinstance(value, Elsewhere) else value


def _is_here(tensor: Any) -> bool:
    return isinstance(tensor, Tensor) and not isinstance(tensor, Elsewhere)
