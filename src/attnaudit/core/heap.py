"""Memory that was freed inside the process, given back to the system."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


@cache
def _trim() -> Any:
    """glibc's malloc_trim; None on other systems."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def return_free_memory() -> bool:
    """Give back the pages of freed tensors that the allocator keeps between those in use.

    Returns
    -------
    bool
        Whether anything was given back; never where the C library is not glibc.
    """
    trim = _trim()
    return trim is not None and bool(trim(0))
