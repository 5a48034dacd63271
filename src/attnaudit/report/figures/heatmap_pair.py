"""A text under its attention and under other attention (Jain & Wallace 2019, figure 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attnaudit.report.figures.style import BLUE, column, printable

_LINE = 52  # characters per line of text
_MOST = 14  # lines per panel


def heatmap_pair(
    example: Mapping[str, Any], classes: Sequence[str], numbers: Mapping[str, float]
) -> Any:
    """Two panels with the words of a text, each shaded by its weight over the largest.

    Parameters
    ----------
    example : a kept example with other attention of the same prediction.
    classes : names.
    numbers : tau with gradients, median_change under shuffles, change of the output, jsd.
    """
    tokens = [printable(str(token)) for token in example["tokens"]]
    lines = _lines(tokens)
    shown = min(len(lines), _MOST)
    figure, axes = column(0.5 + 2 * (0.22 + 0.13 * shown), rows=2)
    probability = max(example["probs"])
    predicted = printable(classes[int(example["predicted"])])
    panels = (
        ("attention", example["attention"], f"original: {predicted}, p = {probability:.3f}"),
        ("furthest", example["furthest"], f"other: change {numbers['change']:.3f}"),
    )
    for panel, (_, weights, title) in zip(axes, panels, strict=True):
        _write(panel, tokens, lines[:shown], [float(weight) for weight in weights])
        panel.set_title(title, loc="left", pad=2)
    figure.supxlabel(
        f"tau with gradients {numbers['tau']:.2f}, median change under shuffles "
        f"{numbers['median_change']:.3f}, JSD {numbers['jsd']:.2f}",
        fontsize=6,
    )
    return figure


def _lines(tokens: Sequence[str]) -> list[list[int]]:
    """The positions of the tokens of each line."""
    lines: list[list[int]] = [[]]
    used = 0
    for place, token in enumerate(tokens):
        if used + len(token) + 1 > _LINE and lines[-1]:
            lines.append([])
            used = 0
        lines[-1].append(place)
        used += len(token) + 1
    return lines


def _write(
    axes: Any, tokens: Sequence[str], lines: Sequence[Sequence[int]], weights: Sequence[float]
) -> None:
    largest = max(weights, default=0.0) or 1.0
    axes.set(xlim=(0, _LINE + 4), ylim=(len(lines), 0))
    axes.set_axis_off()
    for row, line in enumerate(lines):
        start = 0
        for place in line:
            share = weights[place] / largest if place < len(weights) else 0.0
            axes.text(
                start,
                row + 0.5,
                tokens[place],
                va="center",
                family="DejaVu Sans Mono",
                fontsize=5.6,
                bbox={"facecolor": (BLUE, 0.75 * share), "edgecolor": "none", "pad": 0.8},
            )
            start += len(tokens[place]) + 1
