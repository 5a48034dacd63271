"""The truth about every explanation of a model: that of attention, for any scores.

An explanation is faithful if it *points*: the ⌈N / 5⌉ words that it scores highest have the exact
Shapley values that the best words have, by the definition and the thresholds of
`benchmarks.calibration.truth` (`skill`, corrected for chance, over all texts and in the worst
predicted class). Scores have no weights in the model that could be swapped, so *matters* is asked
of attention only. No number of an audit is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from benchmarks.calibration.labels import PointingTruth, truth_of_pointing
from benchmarks.calibration.truth import capture_of, game_of_text

from attnaudit.audits.per_row import mean_score_over_rows
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import NotApplicable
from attnaudit.core.module_state import evaluating
from attnaudit.measures.rounding import tie_equal_scores


@dataclass(frozen=True)
class TextPointing:
    """What an explanation shows of one text; see `benchmarks.calibration.truth`."""

    predicted: int
    capture: float
    chance: float


def truth_of_explanations(
    model: AttentionModel, batch: Batch, explanations: Mapping[str, Callable[..., Any]]
) -> dict[str, PointingTruth]:
    """Return the truth about each explanation that applies to the model.

    Parameters
    ----------
    model : AttentionModel
    batch : the texts, of which all 2^N deletions are read.
    explanations : measures by name.

    Examples
    --------
    >>> from benchmarks.calibration.corpus import Corpus
    >>> from benchmarks.calibration.design import Design
    >>> from benchmarks.calibration.explanations.planted import PLANTED
    >>> from benchmarks.calibration.handmade import Handmade
    >>> found = truth_of_explanations(Handmade(Design()), Corpus().texts(20), PLANTED)
    >>> found["drawn"].points
    'no'
    """
    with evaluating(model):
        shown = _scores(model, batch, explanations)
        texts: dict[str, list[TextPointing]] = {name: [] for name in shown}
        with torch.no_grad():
            for index in range(len(batch)):
                record = model.read(batch.rows(torch.tensor([index])))
                values, _ = game_of_text(model, record)
                for name, scores in shown.items():
                    pointing = capture_of(values, scores[index])
                    texts[name].append(TextPointing(int(record.predicted[0]), *pointing))
    return {name: truth_of_pointing(found) for name, found in texts.items()}


def _scores(
    model: AttentionModel, batch: Batch, explanations: Mapping[str, Callable[..., Any]]
) -> dict[str, list[np.ndarray]]:
    """Per explanation, the scores of the words of each text; ties as an audit makes them."""
    with torch.no_grad():
        record = model.read(batch)
    found = {}
    for name, measure in explanations.items():
        try:
            scores = measure(model, record, 0)
        except NotApplicable:
            continue
        tied = mean_score_over_rows(tie_equal_scores(measure, scores.detach(), record)).double()
        found[name] = [
            line[words].numpy() for line, words in zip(tied, record.content, strict=True)
        ]
    return found
