"""How much is held in memory at once, by everything that works through its input in parts.

A part holds at least one text or row, however long it is. Parts change results by rounding only.
"""

from __future__ import annotations

TOKENS_AT_ONCE = 2**15  # that a model reads in one pass
NUMBERS_AT_ONCE = 2**22  # of one temporary tensor: 16 MB in float32


def texts_at_once(tokens: int) -> int:
    """How many texts of this many tokens a model reads in one pass.

    Examples
    --------
    >>> texts_at_once(20), texts_at_once(100_000)
    (1638, 1)
    """
    return max(1, TOKENS_AT_ONCE // max(tokens, 1))


def rows_at_once(numbers: int) -> int:
    """How many rows of this many numbers one temporary tensor holds.

    Examples
    --------
    >>> rows_at_once(20_000)
    209
    """
    return max(1, NUMBERS_AT_ONCE // max(numbers, 1))
