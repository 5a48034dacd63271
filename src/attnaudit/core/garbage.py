"""How often Python looks for garbage in cycles, where many objects are made that have none."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_OBJECTS = 100_000  # made since the last look, instead of 700


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for cycles more rarely within the block: a tenth of the time of a large report.

    Examples
    --------
    >>> with rare_collections():
    ...     gc.get_threshold()[0]
    100000
    """
    before = gc.get_threshold()
    gc.set_threshold(max(_OBJECTS, before[0]) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
