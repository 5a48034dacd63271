"""The product of oneDNN, which PyTorch has but does not use for `torch.nn.functional.linear`.

In float32 on a CPU, oneDNN multiplies twice as fast on some processors as the library behind
`torch.mm` (260 and 115·10⁹ operations per second on an AMD EPYC), and as fast on others. Its
rounding errors are somewhat larger, and others than those of the model itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

import torch
from torch import Tensor

Product = Callable[[Tensor, Tensor, Tensor | None], Tensor]
_FASTER: ContextVar[bool] = ContextVar("attnaudit_faster_products", default=False)


@contextmanager
def faster_products() -> Iterator[None]:
    """Let models multiply by oneDNN inside, if they can: for many passes, not for small changes.

    Examples
    --------
    >>> with faster_products():
    ...     faster_products_wanted()
    True
    >>> faster_products_wanted()
    False
    """
    token = _FASTER.set(True)
    try:
        yield
    finally:
        _FASTER.reset(token)


def faster_products_wanted() -> bool:
    """Return whether this is inside `faster_products`."""
    return _FASTER.get()


def product_for(values: Tensor) -> Product | None:
    """Return the product of values (…,K) with a weight (N,K) plus a bias (N,), or None.

    Without gradients. None if it is not for these values: other types or devices, a PyTorch
    without oneDNN, or one in which it is switched off.
    """
    if values.dtype != torch.float32 or values.device.type != "cpu":
        return None
    return _by_onednn() if torch.backends.mkldnn.enabled else None


@cache
def _by_onednn() -> Product | None:
    """Return oneDNN's product if this PyTorch has it, as called here, and it is right."""

    def multiply(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        # What torch.compile makes of nn.Linear; not a documented name, hence the try below. It
        # reads any bias as contiguous.
        bias = None if bias is None else bias.contiguous()
        return torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")

    rows, weight = torch.arange(64.0 * 24).view(64, 24).sin(), torch.arange(24.0 * 40).view(24, 40)
    bias = torch.arange(80.0)[::2]
    try:
        found = [multiply(rows, weight.t(), bias), multiply(rows, weight.t().contiguous(), bias)]
    except (AttributeError, RuntimeError, TypeError, NotImplementedError):
        return None
    expected = rows.double() @ weight.double() + bias
    close = all(torch.allclose(each.double(), expected, rtol=1e-4, atol=1e-1) for each in found)
    return multiply if close else None
