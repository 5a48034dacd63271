"""One example as the page reads it: numbers packed, scores in steps of their scale."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.column_view import Columns
from attnaudit.report.inline_data import packed, rounded
from attnaudit.report.move_packing import packed_moves
from attnaudit.results.results import Results

# Smaller differences are float32 rounding of the model; with a larger one, readout and attention do
# not determine the prediction.
_TOLERANCE = 1e-3
_STEPS = 65534  # of a measure's scale; 65535 stands for "undefined"
# name in the page -> audit, measure, metric
_SORTED_BY = {
    "tau_gradient": ("agreement", "gradient", "tau"),
    "tau_leave_one_out": ("agreement", "leave_one_out", "tau"),
    "shuffled": ("permutation", "", "tvd_median"),
}


class SortNumbers:
    """The numbers of other audits that the list of examples can be sorted by."""

    def __init__(self, results: Results) -> None:
        columns = Columns(results.columns)
        stored = {name: columns(*key) for name, key in _SORTED_BY.items()}
        self._columns = {name: column for name, column in stored.items() if column is not None}
        self._line_of = {example_id: line for line, example_id in enumerate(columns.ids)}

    def of(self, example_id: str) -> dict[str, float | None]:
        """Name -> number of one example; empty if it has no values."""
        line = self._line_of.get(example_id)
        if line is None:
            return {}
        return {name: rounded(column[line], 3) for name, column in self._columns.items()}


def packed_examples(lines: pd.DataFrame, numbers: SortNumbers) -> Iterator[Any]:
    """The examples of these lines, as `PackedExample` in static/types.d.ts describes them."""
    scores = _scaled([score["values"] for line in lines.get("scores", ()) for score in line])
    for line in lines.astype(object).itertuples():  # quicker than columns of text
        packed_scores = {score["measure"]: next(scores) for score in line.scores}
        yield _example(line, packed_scores, numbers)


def _example(line: Any, scores: dict[str, Any], numbers: SortNumbers) -> dict[str, Any]:
    count = len(line.tokens)
    attention = np.asarray(line.attention, dtype=float)
    evidence = (
        None if line.evidence is None else [int(item) for item in np.flatnonzero(line.evidence)]
    )
    candidates = [index for index, share in enumerate(line.probs) if share > 0]
    return {
        "id": line.example_id,
        "query": line.query,
        "label": int(line.label),
        "predicted": int(line.predicted),
        "probs": [rounded(share, 6) for share in line.probs],
        "tokens": list(line.tokens),
        "evidence": evidence,
        "rows": len(attention) // count if count else 0,
        "attention": packed(attention),
        "pair": _plain_list(getattr(line, "pair", None)),
        "marks": _rounded_list(getattr(line, "weight_on_marks", None)),
        "furthest": _furthest(line),
        "jsd": rounded(line.furthest_jsd, 6),
        "upper": rounded(line.furthest_upper, 6),
        "exact": bool(line.furthest_exact),
        "candidates": candidates,
        "readout": _readout(line, attention, candidates),
        "moves": packed_moves(getattr(line, "moves", None), count, candidates),
        "scores": scores,
        "numbers": numbers.of(line.example_id),
    }


def _plain_list(values: Any) -> list[int] | None:
    return None if values is None else [int(value) for value in values]


def _rounded_list(values: Any) -> list[float | None] | None:
    return None if values is None else [rounded(value, 4) for value in values]


def _furthest(line: Any) -> dict[str, Any] | None:
    """None if no other attention was searched for.

    Older runs then store the attention itself, and NaN as its distance.
    """
    if line.furthest is None or math.isnan(line.furthest_jsd):
        return None
    return _sparse(np.asarray(line.furthest, dtype=float))


def _sparse(weights: np.ndarray) -> dict[str, Any]:
    """The items with a weight above 0, and their weights: two, if the answer is exact."""
    items = np.flatnonzero(weights)
    return {"count": len(weights), "at": packed(items, "<u4"), "weights": packed(weights[items])}


def _readout(line: Any, attention: np.ndarray, candidates: list[int]) -> str | None:
    """The readout, items × candidate classes.

    None if attention and readout together do not give the stored prediction, for example because
    weight lies on items that are not shown.
    """
    if line.readout is None or len(attention) != len(line.tokens) or not len(attention):
        return None
    probs = np.asarray(line.probs, dtype=float)
    table = np.asarray(line.readout, dtype=float).reshape(len(attention), len(probs))[:, candidates]
    logits = attention / attention.sum() @ table
    recomputed = np.exp(logits - logits.max())
    recomputed /= recomputed.sum()
    return packed(table) if np.abs(recomputed - probs[candidates]).max() < _TOLERANCE else None


def _scaled(scores: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Each measure's scores in 65,534 steps from their minimum (or 0) to their maximum (or 0)."""
    if not len(scores):
        return
    lengths = np.array([len(values) for values in scores])
    everything = np.concatenate([np.asarray(values, dtype=float) for values in scores])
    known = np.isfinite(everything)
    everything[~known] = 0.0
    ends = lengths.cumsum()
    starts, filled = ends - lengths, lengths > 0
    low, high = np.zeros(len(scores)), np.zeros(len(scores))
    if filled.any():
        low[filled] = np.minimum.reduceat(everything, starts[filled])
        high[filled] = np.maximum.reduceat(everything, starts[filled])
    # Not np.minimum, which may return -0.
    low, high = np.where(low < 0, low, 0.0), np.where(high > 0, high, 0.0)
    span = high - low
    span[span == 0] = 1.0
    steps = np.round((everything - np.repeat(low, lengths)) / np.repeat(span, lengths) * _STEPS)
    steps[~known] = _STEPS + 1
    bytes_of_all = steps.astype("<u2").tobytes()
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        text = base64.b64encode(bytes_of_all[2 * start : 2 * end]).decode("ascii")
        yield {"low": float(low[index]), "high": float(high[index]), "steps": text}
