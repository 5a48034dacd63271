"""The colours of heatmaps: one for weights above 0, another for those below."""

from __future__ import annotations

from collections.abc import Iterable

BLUE, ORANGE = (37, 99, 176), (179, 88, 6)
AGAINST = "orange is negative"


def heat_colour(weight: float) -> tuple[int, int, int]:
    """Red, green and blue of a word with this weight.

    Examples
    --------
    >>> heat_colour(0.2), heat_colour(-0.2)
    ((37, 99, 176), (179, 88, 6))
    """
    return ORANGE if weight < 0 else BLUE


def shade_text(weights: Iterable[float]) -> str:
    """What the shades of these weights mean.

    Examples
    --------
    >>> shade_text([0.2, 0.8]), shade_text([0.2, -0.8])
    ('darker is more', 'darker is more, orange is negative')
    """
    return (
        f"darker is more, {AGAINST}" if any(weight < 0 for weight in weights) else "darker is more"
    )
