"""Examples as the page reads them: which are embedded, how they are packed, and their order."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.charts.kept_scores import kept_scores
from attnaudit.report.column_view import Columns
from attnaudit.report.inline_data import packed, rounded
from attnaudit.results.results import Results

MOST = 200
_AT_ONCE = 50  # examples that are packed together
_LEAST_EXAMPLE, _LEAST_SCORE = 200, 40  # bytes of the names in an example, and in one of its scores
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


def example_data(results: Results, *, budget: int, most: int = MOST) -> dict[str, Any]:
    """The examples of a page, and the sentence that says which they are.

    They are taken in turn from each predicted class and from right and wrong answers, in an order
    that does not depend on their texts.

    Parameters
    ----------
    results
        Of a run.
    budget
        Bytes of examples, at most.
    most
        Number of examples, at most.

    Returns
    -------
    dict
        examples: a list of dicts; rule: the sentence.
    """
    chosen: list[dict[str, Any]] = []
    spent = 0
    numbers = _Numbers(results)
    order = _in_turn(results.examples)
    least = _least_bytes(results.examples)[order]
    for start in range(0, len(order), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        fitting = order[part][least[part] <= budget - spent]
        for example in _examples(results.examples.iloc[fitting], numbers):
            if len(chosen) == most:
                break
            size = len(json.dumps(example, ensure_ascii=False).encode("utf-8", errors="replace"))
            if spent + size <= budget:
                chosen.append(example)
                spent += size
        if len(chosen) == most:
            break
    return {"examples": chosen, "rule": _rule(len(chosen), len(results.examples), results)}


def all_examples(results: Results) -> Iterator[dict[str, Any]]:
    """Every stored example, in the order of `example_data`: for a site of many pages."""
    numbers = _Numbers(results)
    order = _in_turn(results.examples)
    for start in range(0, len(order), _AT_ONCE):
        part = results.examples.iloc[order[start : start + _AT_ONCE]]
        yield from _examples(part, numbers)


def _rule(embedded: int, stored: int, results: Results) -> str:
    audited = len(results.columns)
    kept = (
        f"All {audited:,} audited examples were kept whole"
        if stored == audited
        else f"{stored:,} of the {audited:,} audited examples were kept whole, drawn at random "
        "with the labels in proportion"
    )
    if embedded == stored:
        return f"{kept}; all of them are here."
    return (
        f"{kept}; {embedded:,} of them are here, taken in turn from each predicted class and from "
        "right and wrong answers."
    )


def _in_turn(examples: pd.DataFrame) -> np.ndarray:
    """The order of the examples, as line numbers.

    One from each group of (predicted, right or wrong) in turn; in a group, by hash of the id.
    """
    if not len(examples):
        return np.empty(0, dtype=int)
    hashes = [_hash(example_id) for example_id in examples["example_id"]]
    predicted, labels = examples["predicted"].to_numpy(), examples["label"].to_numpy()
    is_right = (labels == -1) | (labels == predicted)
    groups: dict[tuple[int, bool], list[int]] = {}
    for number in sorted(range(len(hashes)), key=hashes.__getitem__):
        groups.setdefault((predicted[number], is_right[number]), []).append(number)
    turns = zip_longest(*(groups[key] for key in sorted(groups)))
    return np.array([number for turn in turns for number in turn if number is not None])


def _hash(example_id: str) -> bytes:
    return hashlib.blake2b(
        str(example_id).encode("utf-8", errors="replace"), digest_size=8
    ).digest()


class _Numbers:
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


def _least_bytes(examples: pd.DataFrame) -> np.ndarray:
    """Fewer bytes than each example takes as JSON, (examples,): those that are quick to count.

    The words with their quotes, scores of two bytes in base64 (four characters for three bytes),
    and the shortest possible rest.
    """
    return np.array(
        [
            _LEAST_EXAMPLE
            + sum(map(len, tokens))
            + 4 * len(tokens)
            + sum(_LEAST_SCORE + 8 * len(values) // 3 for values in scores.values())
            for tokens, (_, scores) in zip(
                examples.get("tokens", ()), kept_scores(examples), strict=True
            )
        ],
        dtype=int,
    )


def _examples(lines: pd.DataFrame, numbers: _Numbers) -> Iterator[Any]:
    """The examples of these lines, as `PackedExample` in static/types.d.ts describes them."""
    scores = _scaled([score["values"] for line in lines.get("scores", ()) for score in line])
    for line in lines.astype(object).itertuples():  # quicker than columns of text
        packed_scores = {score["measure"]: next(scores) for score in line.scores}
        yield _example(line, packed_scores, numbers)


def _example(line: Any, scores: dict[str, Any], numbers: _Numbers) -> dict[str, Any]:
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
