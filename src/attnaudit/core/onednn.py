"""The product of oneDNN, which PyTorch has but does not use for `torch.nn.functional.linear`.

In float32 on a CPU, oneDNN multiplies twice as fast as MKL, the library behind `torch.mm`, on
processors that are not of Intel (260 and 115·10⁹ operations per second on an AMD EPYC). On those of
Intel MKL is as fast, or faster for few rows, and does not keep memory for every number of rows. Its
rounding errors are somewhat larger, and others than those of the model itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

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
    without oneDNN, one in which it is switched off, or a processor on which it is no faster.
    """
    if values.dtype != torch.float32 or values.device.type != "cpu" or _mkl_is_as_fast():
        return None
    return _by_onednn() if torch.backends.mkldnn.enabled else None


@cache
def _mkl_is_as_fast() -> bool:
    """Whether PyTorch has MKL, and the processor is one of Intel, as Linux describes it."""
    if not torch.backends.mkl.is_available():
        return False
    try:
        return "GenuineIntel" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        return False


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
