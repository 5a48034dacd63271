"""A quick look at one text: heatmaps of attention and other explanations, none of them tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import torch

from attnaudit.auditing.explanations import find_explanations
from attnaudit.auditing.selection import Choice
from attnaudit.audits.heatmap import heatmap
from attnaudit.audits.per_row import mean_score_over_rows
from attnaudit.core.contract import AttentionModel
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.heat_colour import heat_colour
from attnaudit.core.module_state import evaluating
from attnaudit.models.huggingface import from_huggingface
from attnaudit.results.recommendation import spelled

EXPLANATIONS = ("attention", "attention_norm", "input_times_gradient", "leave_one_out")
REMINDER = (
    "Not tested: whether any of these is what the model uses. `attnaudit audit` with some hundred "
    "texts says."
)


@dataclass(frozen=True)
class Look:
    """Heatmaps of one text; prints shaded words in a terminal, and shows itself in a notebook.

    Attributes
    ----------
    words : of the text, as the model reads them.
    weights : explanation -> one weight per word; NaN where there is none.
    predicted, probability : the prediction.
    not_applicable : explanation -> why it is missing.
    """

    words: tuple[str, ...]
    weights: dict[str, tuple[float, ...]]
    predicted: str
    probability: float
    not_applicable: dict[str, str]

    def shades(self, name: str) -> list[float]:
        """How dark each word is, 0 to 1, relative to the largest weight of the text."""
        sizes = np.nan_to_num(np.abs(np.array(self.weights[name])))
        top = max(sizes.max(initial=0.0), min(3, len(sizes)) * sizes.mean()) or 1.0
        return (sizes / top).tolist()

    def text(self, *, colour: bool = True) -> str:
        """For a terminal; without colour, the three darkest words are marked instead."""
        lines = [f"{self.predicted} ({self.probability:.2f})"]
        width = max(len(spelled(name)) for name in self.weights)
        for name in self.weights:
            shades = self.shades(name)
            words = [
                _shaded(word, shade, weight) if colour else _marked(word, shade, shades, weight)
                for word, shade, weight in zip(self.words, shades, self.weights[name], strict=True)
            ]
            lines.append(f"{spelled(name):>{width}}  {' '.join(words)}")
        lines += [f"{spelled(name)}: {why}" for name, why in self.not_applicable.items()]
        return "\n".join([*lines, REMINDER])

    def __str__(self) -> str:
        return self.text(colour=False)

    def _repr_html_(self) -> str:
        rows = [
            f'<tr><th style="text-align:right;padding-right:1em">{escape(spelled(name))}</th>'
            f'<td style="text-align:left">{" ".join(self._spans(name))}</td></tr>'
            for name in self.weights
        ]
        said = f"{escape(self.predicted)} ({self.probability:.2f})"
        return f"<p>{said}</p><table>{''.join(rows)}</table><p><i>{escape(REMINDER)}</i></p>"

    def _spans(self, name: str) -> list[str]:
        return [
            f'<span title="{weight:.4g}" '
            f'style="background:rgba{(*heat_colour(weight), round(shade, 3))};'
            f'color:{"#fff" if shade > 0.6 else "inherit"};padding:.1em .2em">{escape(word)}</span>'
            for word, weight, shade in zip(
                self.words, self.weights[name], self.shades(name), strict=True
            )
        ]


def _shaded(word: str, shade: float, weight: float) -> str:
    """A word on a background from white to blue (or orange, below 0), in an ANSI terminal."""
    printable = "".join(each if each.isprintable() else "?" for each in word)
    background = [round(255 - shade * (255 - part)) for part in heat_colour(weight)]
    text = "255;255;255" if shade > 0.6 else "0;0;0"
    return f"\033[48;2;{';'.join(map(str, background))};38;2;{text}m{printable}\033[0m"


def _marked(word: str, shade: float, shades: Sequence[float], weight: float) -> str:
    """**word** for the three with the largest weight; **-word** if it is negative."""
    printable = "".join(each if each.isprintable() else "?" for each in word)
    sign = "-" if weight < 0 else ""
    return f"**{sign}{printable}**" if shade and shade in sorted(shades)[-3:] else printable


def show(
    model: Any,
    tokenizer: Any = None,
    text: str | tuple[str, str] | None = None,
    *,
    explanations: Sequence[Choice] = EXPLANATIONS,
    **options: Any,
) -> Look:
    """Heatmaps of one text, in seconds: a look, not an audit.

    Parameters
    ----------
    model : a Hugging Face classifier with its tokenizer, the folder of one, or the result of
        `from_huggingface`, then without a tokenizer.
    tokenizer : of the model.
    text : the text, or a pair of texts.
    explanations : measures to show.
    options : of `from_huggingface`, such as layers.

    Returns
    -------
    Look, which prints itself in a terminal and shows itself in a notebook.

    Examples
    --------
    >>> attnaudit.show(model, tokenizer, "a dull film")  # doctest: +SKIP
    """
    if isinstance(tokenizer, str | tuple) and text is None:
        tokenizer, text = None, tokenizer  # show(wrapped, "a dull film")
    if not isinstance(text, str | tuple) or not text:
        raise InputError('There is no text to show. Write show(model, tokenizer, "a dull film").')
    wrapped: Any = model
    if not hasattr(model, "read"):
        given = (model,) if tokenizer is None else (model, tokenizer)
        wrapped = from_huggingface(*given, **options)
    found = find_explanations(explanations)
    found.pop("random")
    with evaluating(wrapped):
        return _look(wrapped, text, found)


def _look(model: AttentionModel, text: Any, explanations: dict[str, Any]) -> Look:
    offered: Any = model
    (batch,) = offered.batches([text])
    with torch.no_grad():
        record = model.read(batch)
    content = record.content[0]
    weights: dict[str, tuple[float, ...]] = {}
    missing: dict[str, str] = {}
    for name, measure in explanations.items():
        try:
            score = heatmap(record).weights if name == "attention" else measure(model, record, 0)
        except NotApplicable as reason:
            missing[name] = str(reason)
            continue
        scores = mean_score_over_rows(score.detach())[0][content]
        weights[name] = tuple(scores.double().tolist())
    spelled_items = offered.spell(record, 0)
    words = tuple(spelled_items[item] for item in content.nonzero()[:, 0].tolist())
    predicted = int(record.predicted[0])
    names = offered.class_names
    said = str(predicted) if names is None else names[predicted]
    return Look(words, weights, said, float(record.probs[0, predicted]), missing)
