"""Heatmaps of one explanation to paste elsewhere: HTML snippets, SVG, PNG, or the scores as jsonl.

Words are shaded as on the page: the darkest shade stands for the largest weight of the text, and
for at least three times the mean, so that weights that are all alike look pale. Weights above 0 are
blue, those below orange. Every text comes
from outside and is written as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attnaudit.core.errors import InputError
from attnaudit.core.heat_colour import heat_colour, shade_text
from attnaudit.core.output_files import check_file, write_file
from attnaudit.report.charts.kept_scores import kept_scores
from attnaudit.report.citations import is_about_citations
from attnaudit.report.heatmap_pictures import picture_png, picture_svg, visible, weight_text
from attnaudit.results.results import Results

ENDINGS = (".html", ".svg", ".png", ".jsonl")


@dataclass(frozen=True)
class WordHeatmap:
    """The words of one text with their weights.

    Attributes
    ----------
    example_id : of the text.
    explanation : name of the measure.
    words : the text.
    weights : one per word; NaN where the explanation has none.
    predicted : name of the predicted class; empty for an answer from sources.
    question, answer : of an answer from sources, whose `words` are the sources.
    """

    example_id: str
    explanation: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    predicted: str
    question: str = ""
    answer: str = ""

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
            f'<span title="{weight_text(weight)}" '
            f'style="background:rgba{(*heat_colour(weight), round(shade, 3))};'
            f"color:{'#fff' if shade > 0.6 else 'inherit'};"
            f'padding:.1em .2em;border-radius:.2em">{visible(word)}</span>'
            for word, weight, shade in zip(self.words, self.weights, self.shades, strict=True)
        )
        return (
            f'<figure style="margin:1em 0"><p style="line-height:1.9;margin:0" dir="auto">{spans}'
            f'</p><figcaption style="font-size:.85em;opacity:.75">{visible(self.caption)}'
            "</figcaption></figure>"
        )

    @property
    def caption(self) -> str:
        """What is shown."""
        name = self.explanation.replace("_", " ")
        shown = f"{name} ({shade_text(self.weights)})"
        if self.answer:
            return f"{shown} of the sources, for the answer {self.answer!r} to {self.question!r}"
        return f"{shown}, predicted {self.predicted!r}"

    def to_svg(self) -> str:
        """A picture; its text can be selected."""
        return picture_svg(self.words, self.weights, self.shades, self.caption)

    def to_png(self, path: Path) -> None:
        """Draw the picture of `to_svg`, at twice its size."""
        picture_png(self.words, self.weights, self.shades, self.caption, path)

    def to_json(self) -> str:
        """One line of jsonl, as `--scores` reads it."""
        known = [weight if math.isfinite(weight) else None for weight in self.weights]
        line = {"id": self.example_id, "tokens": list(self.words), "scores": known}
        of = {"question": self.question, "answer": self.answer}
        about = of if self.answer else {"predicted": self.predicted}
        return json.dumps({**line, **about}, ensure_ascii=False)


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
            **_outcome(line, results),
        )
    if missing:
        computed = [name for name in known if name not in _not_stored(results)]
        option = "--measures" if is_about_citations(results) else "--explanations"
        raise InputError(
            f"There are no scores of {explanation!r} in these results. They have: "
            f"{', '.join(dict.fromkeys(computed))}. Audit again with {option} {explanation}."
        )


def _outcome(line: Any, results: Results) -> dict[str, str]:
    """What the model made of an example: the predicted class, or the answer to a question."""
    if is_about_citations(results):
        answer = "".join(map(str, line.answer)).strip()
        return {"predicted": "", "question": str(line.query), "answer": answer}
    return {"predicted": results.about["classes"][int(line.predicted)]}


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
    check_file(path, kind="heatmap")
    made = {each.example_id: each for each in word_heatmaps(results, explanation)}
    for example_id in examples or ():
        if example_id not in made:
            some = ", ".join(list(made)[:5])
            raise InputError(f"There is no example {example_id!r} in these results; some: {some}.")
    chosen = [made[name] for name in examples] if examples else list(made.values())
    if path.suffix in (".svg", ".png"):
        if len(chosen) > 1 and examples:
            raise InputError(f"{path}: a picture holds one text, got {len(chosen)}. Name one.")
        picture = chosen[0].to_svg() if path.suffix == ".svg" else chosen[0].to_png
        return write_file(path, picture, kind="heatmap")
    if path.suffix == ".jsonl":
        content = "".join(f"{each.to_json()}\n" for each in chosen)
        return write_file(path, content, kind="heatmap")
    return write_file(path, _page(chosen), kind="heatmap")


def _page(heatmaps: Sequence[WordHeatmap]) -> str:
    body = "\n".join(f"<!-- {_comment(each.example_id)} -->\n{each.to_html()}" for each in heatmaps)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        "<title>Heatmaps</title></head>\n"
        '<body style="font-family:sans-serif;max-width:50em;margin:2em auto;padding:0 1em">\n'
        f"{body}\n</body></html>\n"
    )


def _comment(text: str) -> str:
    """A comment cannot hold two dashes."""
    return visible(text).replace("--", "- -")
