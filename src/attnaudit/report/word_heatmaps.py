"""Heatmaps of one explanation to paste elsewhere: HTML snippets, SVG, PNG, or the scores as jsonl.

Words are shaded as on the page: the darkest shade stands for the largest weight of the text, and
for at least three times the mean, so that weights that are all alike look pale. Every text comes
from outside and is written as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from attnaudit.core.errors import InputError
from attnaudit.core.output_files import check_file, write_file
from attnaudit.report.charts.kept_scores import kept_scores
from attnaudit.report.inline_data import with_visible_turns
from attnaudit.results.results import Results

ENDINGS = (".html", ".svg", ".png", ".jsonl")
_BLUE = (37, 99, 176)
_LINE = 76  # characters per line of an SVG or PNG
_WIDTH, _HEIGHT, _SIZE = 8.43, 26, 14  # of a character and a line, font size, in pixels


@dataclass(frozen=True)
class WordHeatmap:
    """The words of one text with their weights.

    Attributes
    ----------
    example_id : of the text.
    explanation : name of the measure.
    words : the text.
    weights : one per word; NaN where the explanation has none.
    predicted : name of the predicted class.
    """

    example_id: str
    explanation: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    predicted: str

    @property
    def shades(self) -> list[float]:
        """How dark each word is, 0 to 1."""
        sizes = [abs(weight) if math.isfinite(weight) else 0.0 for weight in self.weights]
        least = min(3, len(sizes)) * sum(sizes) / max(len(sizes), 1)
        top = max([*sizes, least]) or 1.0
        return [size / top for size in sizes]

    def to_html(self) -> str:
        """A snippet that needs nothing around it."""
        spans = " ".join(
            f'<span title="{_title(weight)}" style="background:rgba{(*_BLUE, round(shade, 3))};'
            f"color:{'#fff' if shade > 0.6 else 'inherit'};"
            f'padding:.1em .2em;border-radius:.2em">{_text(word)}</span>'
            for word, weight, shade in zip(self.words, self.weights, self.shades, strict=True)
        )
        return (
            f'<figure style="margin:1em 0"><p style="line-height:1.9;margin:0" dir="auto">{spans}'
            f'</p><figcaption style="font-size:.85em;opacity:.75">{_text(self.caption)}'
            "</figcaption></figure>"
        )

    @property
    def caption(self) -> str:
        """What is shown."""
        name = self.explanation.replace("_", " ")
        return f"{name} (darker is more), predicted {self.predicted!r}"

    def to_svg(self) -> str:
        """A picture; its text can be selected."""
        placed, lines = self._placed()
        height = (lines + 1) * _HEIGHT + 8
        parts = []
        for (column, line), word, weight, shade in zip(
            placed, self.words, self.weights, self.shades, strict=True
        ):
            x, y = 6 + column * _WIDTH, 4 + line * _HEIGHT
            colour = "#fff" if shade > 0.6 else "#111"
            parts.append(
                f'<g><title>{_title(weight)}</title><rect x="{x - 2:.1f}" y="{y}" '
                f'width="{len(word) * _WIDTH + 4:.1f}" height="{_HEIGHT - 4}" rx="3" '
                f'fill="rgb{_BLUE}" fill-opacity="{shade:.3f}"/><text x="{x:.1f}" y="{y + 16}" '
                f'fill="{colour}" textLength="{len(word) * _WIDTH:.1f}">{_text(word)}</text></g>'
            )
        width = round(_LINE * _WIDTH + 12)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" font-family="DejaVu Sans Mono, monospace" '
            f'font-size="{_SIZE}"><title>{_text(self.caption)}</title>'
            f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}'
            f'<text x="6" y="{height - 10}" font-size="11" fill="#555">{_text(self.caption)}</text>'
            "</svg>\n"
        )

    def _placed(self) -> tuple[list[tuple[int, int]], int]:
        """(column, line) of each word, and the number of lines."""
        column = line = 0
        placed = []
        for word in self.words:
            if column and column + len(word) > _LINE:
                column, line = 0, line + 1
            placed.append((column, line))
            column += len(word) + 1
        return placed, line + 1

    def to_png(self, path: Path) -> None:
        """Draw the picture of `to_svg`, at twice its size."""
        from matplotlib.figure import Figure
        from matplotlib.patches import FancyBboxPatch

        placed, lines = self._placed()
        width, height = _LINE * _WIDTH + 12, (lines + 1) * _HEIGHT + 8
        figure = Figure(figsize=(width / 72, height / 72), dpi=144)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        mono: dict[str, Any] = {"family": "DejaVu Sans Mono", "fontsize": _SIZE, "va": "baseline"}
        blue = tuple(part / 255 for part in _BLUE)
        for (column, line), word, shade in zip(placed, self.words, self.shades, strict=True):
            x, y = 6 + column * _WIDTH, 4 + line * _HEIGHT
            box = (x - 2, y), len(word) * _WIDTH + 4, _HEIGHT - 4
            style = "round,pad=0,rounding_size=3"
            axes.add_patch(FancyBboxPatch(*box, boxstyle=style, fc=(*blue, shade), ec="none"))
            colour = "white" if shade > 0.6 else "#111111"
            axes.text(x, y + 16, _plain(word), color=colour, **mono)
        axes.text(6, height - 10, _plain(self.caption), color="#555555", fontsize=11)
        figure.savefig(path, dpi=144)

    def to_json(self) -> str:
        """One line of jsonl, as `--scores` reads it."""
        known = [weight if math.isfinite(weight) else None for weight in self.weights]
        line = {"id": self.example_id, "tokens": list(self.words), "scores": known}
        return json.dumps({**line, "predicted": self.predicted}, ensure_ascii=False)


def word_heatmaps(results: Results, explanation: str = "attention") -> Iterator[WordHeatmap]:
    """The heatmaps of one explanation, of all examples that were kept whole.

    Parameters
    ----------
    results : of an audit.
    explanation : a measure that was computed, or attention. Of several rows, the mean is shown.
    """
    known = ["attention", *results.about.get("measures", [])]
    examples = results.examples
    if not len(examples):
        raise InputError(
            "These results hold no examples: they were audited with keep_examples=0. Audit again."
        )
    classes = results.about["classes"]
    lines = zip(examples.itertuples(), kept_scores(examples), strict=True)
    missing = True
    for line, (count, scores) in lines:
        if explanation not in scores:
            continue
        missing = False
        rows = np.asarray(scores[explanation], dtype=float).reshape(-1, max(count, 1))
        yield WordHeatmap(
            str(line.example_id),
            explanation,
            tuple(map(str, line.tokens)),
            tuple(rows.mean(0)[:count].tolist()),
            classes[int(line.predicted)],
        )
    if missing:
        computed = [name for name in known if name not in _not_stored(results)]
        raise InputError(
            f"There are no scores of {explanation!r} in these results. They have: "
            f"{', '.join(dict.fromkeys(computed))}. Audit again with --explanations {explanation}."
        )


def _not_stored(results: Results) -> set[str]:
    return {"random", *results.about.get("measures_not_applicable", {})}


def write_heatmaps(
    results: Results,
    path: Path,
    *,
    explanation: str = "attention",
    examples: Sequence[str] | None = None,
) -> Path:
    """Write the heatmaps of one explanation; the kind of file is that of its name.

    Parameters
    ----------
    results : of an audit.
    path : ends in .html (a page of snippets, each to be copied), .jsonl, .svg or .png. The last
        two hold one text.
    explanation : as for `word_heatmaps`.
    examples : ids of the texts; all that were kept if omitted, the first for .svg and .png.

    Returns
    -------
    The file.
    """
    if path.suffix not in ENDINGS:
        raise InputError(
            f"{path}: cannot tell what kind of file to write. Its name must end in "
            f"{', '.join(ENDINGS)}."
        )
    check_file(path)
    made = {each.example_id: each for each in word_heatmaps(results, explanation)}
    for example_id in examples or ():
        if example_id not in made:
            some = ", ".join(list(made)[:5])
            raise InputError(f"There is no example {example_id!r} in these results; some: {some}.")
    chosen = [made[name] for name in examples] if examples else list(made.values())
    if path.suffix in (".svg", ".png"):
        if len(chosen) > 1 and examples:
            raise InputError(f"{path}: a picture holds one text, got {len(chosen)}. Name one.")
        if path.suffix == ".svg":
            return write_file(path, chosen[0].to_svg())
        chosen[0].to_png(path)
        return path
    if path.suffix == ".jsonl":
        return write_file(path, "".join(f"{each.to_json()}\n" for each in chosen))
    return write_file(path, _page(chosen))


def _page(heatmaps: Sequence[WordHeatmap]) -> str:
    body = "\n".join(f"<!-- {_comment(each.example_id)} -->\n{each.to_html()}" for each in heatmaps)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        "<title>Heatmaps</title></head>\n"
        '<body style="font-family:sans-serif;max-width:50em;margin:2em auto;padding:0 1em">\n'
        f"{body}\n</body></html>\n"
    )


def _title(weight: float) -> str:
    return f"{weight:.4g}" if math.isfinite(weight) else "undefined"


def _text(text: str) -> str:
    return escape(str(with_visible_turns(text)))


def _plain(text: str) -> str:
    """Matplotlib reads text between dollar signs as mathematics."""
    return str(with_visible_turns(text)).replace("$", r"\$")


def _comment(text: str) -> str:
    """A comment cannot hold two dashes."""
    return _text(text).replace("--", "- -")
