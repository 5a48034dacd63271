"""Examples as the page reads them: which are embedded, how they are packed, and their order."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.column_view import Columns
from attnaudit.report.inline_data import packed, rounded
from attnaudit.results.results import Results

MOST = 200
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
    stored = len(results.examples)
    chosen: list[dict[str, Any]] = []
    spent = 0
    numbers = _numbers(results)
    for line in _in_turn(results.examples):
        if len(chosen) == most:
            break
        example = _example(line, numbers)
        size = len(json.dumps(example, ensure_ascii=False).encode("utf-8", errors="replace"))
        if spent + size <= budget:
            chosen.append(example)
            spent += size
    return {"examples": chosen, "rule": _rule(len(chosen), stored, results)}


def all_examples(results: Results) -> list[dict[str, Any]]:
    """Every stored example, in the order of `example_data`: for a site of many pages."""
    numbers = _numbers(results)
    return [_example(line, numbers) for line in _in_turn(results.examples)]


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


def _in_turn(examples: pd.DataFrame) -> Iterator[Any]:
    """One from each group of (predicted, right or wrong) in turn; in a group, by hash of the id."""
    groups: dict[tuple[int, bool], list[Any]] = {}
    for line in sorted(examples.itertuples(), key=lambda line: _hash(line.example_id)):
        groups.setdefault((line.predicted, line.label in (-1, line.predicted)), []).append(line)
    queues = [groups[key] for key in sorted(groups)]
    for turn in range(max(map(len, queues), default=0)):
        for queue in queues:
            if turn < len(queue):
                yield queue[turn]


def _hash(example_id: str) -> bytes:
    return hashlib.blake2b(
        str(example_id).encode("utf-8", errors="replace"), digest_size=8
    ).digest()


def _numbers(results: Results) -> dict[str, dict[str, float | None]]:
    """example_id -> the numbers of other audits that the list can be sorted by."""
    stored = set(results.examples["example_id"]) if len(results.examples) else set()
    columns = Columns(results.columns)
    numbers: dict[str, dict[str, float | None]] = {example_id: {} for example_id in stored}
    for name, key in _SORTED_BY.items():
        column = columns(*key)
        if column is not None:
            for example_id, value in zip(columns.ids, column, strict=True):
                if example_id in stored:
                    numbers[example_id][name] = rounded(value, 3)
    return numbers


def _example(line: Any, numbers: dict[str, dict[str, float | None]]) -> dict[str, Any]:
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
        "scores": {score["measure"]: _scaled(score["values"]) for score in line.scores},
        "numbers": numbers.get(line.example_id, {}),
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


def _scaled(values: Any) -> dict[str, Any]:
    """A measure's scores in 65,534 steps from their minimum (or 0) to their maximum (or 0)."""
    scores = np.asarray(values, dtype=float)
    known = np.isfinite(scores)
    low = float(min(0.0, scores[known].min(initial=0.0)))
    high = float(max(0.0, scores[known].max(initial=0.0)))
    steps = np.full(len(scores), _STEPS + 1)
    steps[known] = np.round((scores[known] - low) / ((high - low) or 1.0) * _STEPS)
    return {"low": low, "high": high, "steps": packed(steps, "<u2")}
