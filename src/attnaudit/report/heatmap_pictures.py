"""Pictures of a text with shaded words, as SVG and PNG: both of the same layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from attnaudit.core.heat_colour import heat_colour
from attnaudit.report.inline_data import with_visible_turns

_LINE = 76  # characters per line
_WIDTH, _HEIGHT, _SIZE = 8.43, 26, 14  # of a character and a line, font size, in pixels


def picture_svg(
    words: Sequence[str], weights: Sequence[float], shades: Sequence[float], caption: str
) -> str:
    """A picture as SVG.

    Parameters
    ----------
    words : of the text; written as text, whatever they hold.
    weights, shades : one per word: the number on hover, and how dark it is, 0 to 1.
    caption : below the text.
    """
    placed, lines = _placed(words)
    height = (lines + 1) * _HEIGHT + 8
    parts = []
    for (column, line), word, weight, shade in zip(placed, words, weights, shades, strict=True):
        x, y = 6 + column * _WIDTH, 4 + line * _HEIGHT
        colour = "#fff" if shade > 0.6 else "#111"
        parts.append(
            f'<g><title>{weight_text(weight)}</title><rect x="{x - 2:.1f}" y="{y}" '
            f'width="{len(word) * _WIDTH + 4:.1f}" height="{_HEIGHT - 4}" rx="3" '
            f'fill="rgb{heat_colour(weight)}" fill-opacity="{shade:.3f}"/>'
            f'<text x="{x:.1f}" y="{y + 16}" '
            f'fill="{colour}" textLength="{len(word) * _WIDTH:.1f}">{visible(word)}</text></g>'
        )
    width = round(_LINE * _WIDTH + 12)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" font-family="DejaVu Sans Mono, monospace" '
        f'font-size="{_SIZE}"><title>{visible(caption)}</title>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}'
        f'<text x="6" y="{height - 10}" font-size="11" fill="#555">{visible(caption)}</text>'
        "</svg>\n"
    )


def picture_png(
    words: Sequence[str],
    weights: Sequence[float],
    shades: Sequence[float],
    caption: str,
    path: Path,
) -> None:
    """Draw the picture of `picture_svg` to a file, at twice its size."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    placed, lines = _placed(words)
    width, height = _LINE * _WIDTH + 12, (lines + 1) * _HEIGHT + 8
    figure = Figure(figsize=(width / 72, height / 72), dpi=144)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    mono: dict[str, Any] = {"family": "DejaVu Sans Mono", "fontsize": _SIZE, "va": "baseline"}
    for (column, line), word, weight, shade in zip(placed, words, weights, shades, strict=True):
        red, green, blue = (part / 255 for part in heat_colour(weight))
        x, y = 6 + column * _WIDTH, 4 + line * _HEIGHT
        box = (x - 2, y), len(word) * _WIDTH + 4, _HEIGHT - 4
        style = "round,pad=0,rounding_size=3"
        axes.add_patch(
            FancyBboxPatch(*box, boxstyle=style, fc=(red, green, blue, shade), ec="none")
        )
        colour = "white" if shade > 0.6 else "#111111"
        axes.text(x, y + 16, _plain(word), color=colour, **mono)
    axes.text(6, height - 10, _plain(caption), color="#555555", fontsize=11)
    figure.savefig(path, dpi=144, format="png")


def _placed(words: Sequence[str]) -> tuple[list[tuple[int, int]], int]:
    """(column, line) of each word, and the number of lines."""
    column = line = 0
    placed = []
    for word in words:
        if column and column + len(word) > _LINE:
            column, line = 0, line + 1
        placed.append((column, line))
        column += len(word) + 1
    return placed, line + 1


def weight_text(weight: float) -> str:
    """A weight as it is shown on hover."""
    return f"{weight:.4g}" if math.isfinite(weight) else "undefined"


def visible(text: str) -> str:
    """A text from outside, for markup: escaped, with marks that turn text around made visible."""
    return escape(str(with_visible_turns(text)))


def _plain(text: str) -> str:
    """Matplotlib reads text between dollar signs as mathematics."""
    return str(with_visible_turns(text)).replace("$", r"\$")
