"""Whether a text is a number."""

from __future__ import annotations


def is_number(text: str) -> bool:
    """Whether Python reads a text as a number.

    Examples
    --------
    >>> is_number("-1.5e3"), is_number("1,5"), is_number("")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True
