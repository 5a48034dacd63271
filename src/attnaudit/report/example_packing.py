"""Examples as the page reads them: numbers packed, scores in steps of their scale."""

from __future__ import annotations

import math
from binascii import b2a_base64
from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

import numpy as np

from attnaudit.report.column_view import Columns
from attnaudit.report.inline_data import packed, rounded, rounded_all
from attnaudit.report.move_packing import packed_moves
from attnaudit.results.results import Results

# Smaller differences are float32 rounding of the model; with a larger one, readout and attention do
# not determine the prediction.
_TOLERANCE = 1e-3
_MOST_AT_ONCE, _WORDS_AT_ONCE = 500, 2**16  # examples that are packed together
_STEPS = 65534  # of a measure's scale; 65535 stands for "undefined"
# name in the page -> audit, measure, metric
_SORTED_BY = {
    "tau_gradient": ("agreement", "gradient", "tau"),
    "tau_leave_one_out": ("agreement", "leave_one_out", "tau"),
    "shuffled": ("permutation", "", "tvd_median"),
}


class Lists:
    """Many short lists of numbers, one after another in one array.

    Attributes
    ----------
    flat : (all numbers,) of all lists.
    lengths, starts, ends : (lists,) of each, in `flat`.
    """

    def __init__(self, lists: Sequence[Any]) -> None:
        self.lengths = np.array([len(each) for each in lists], dtype=int)
        self.ends = self.lengths.cumsum()
        self.starts = self.ends - self.lengths
        arrays = [np.asarray(each, dtype=float) for each in lists]
        self.flat = np.concatenate(arrays) if arrays else np.empty(0)

    def at(self, index: int) -> np.ndarray:
        """One of the lists."""
        return self.flat[self.starts[index] : self.ends[index]]

    def split(self, values: list[Any]) -> list[list[Any]]:
        """One value per number, by list."""
        bounds = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [values[start:end] for start, end in bounds]

    def packed(self, dtype: str, values: np.ndarray | None = None) -> list[str]:
        """Each list as `inline_data.packed`; values: instead of `flat`."""
        numbers = (self.flat if values is None else values).astype(dtype)
        size, everything = numbers.itemsize, numbers.tobytes()
        bounds = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [_base64(everything[size * start : size * end]) for start, end in bounds]


def _base64(content: bytes) -> str:
    return b2a_base64(content, newline=False).decode("ascii")


class SortNumbers:
    """The numbers of other audits that the list of examples can be sorted by."""

    def __init__(self, results: Results) -> None:
        columns = Columns(results.columns)
        stored = {name: columns(*key) for name, key in _SORTED_BY.items()}
        self._columns = {name: column for name, column in stored.items() if column is not None}
        # Of the kept examples alone: there may be a million others.
        ids = results.columns.examples["example_id"]
        lines = np.flatnonzero(ids.isin(results.examples.get("example_id", ())))
        self._line_of = dict(zip(ids.iloc[lines].tolist(), lines.tolist(), strict=True))

    def of(self, example_ids: Sequence[str]) -> list[dict[str, float | None]]:
        """Name -> number of each example; empty if it has no values."""
        lines = [self._line_of.get(example_id, -1) for example_id in example_ids]
        numbers = [rounded_all(column[lines], 3) for column in self._columns.values()]
        return [
            dict(zip(self._columns, values, strict=True)) if line >= 0 else {}
            for line, values in zip(lines, _transposed(numbers, len(lines)), strict=True)
        ]


def _transposed(columns: Sequence[Sequence[Any]], count: int) -> list[tuple[Any, ...]]:
    return list(zip(*columns, strict=True)) if columns else [()] * count


class ExamplePacker:
    """Makes of the examples of a run what `PackedExample` in static/types.d.ts describes.

    Parameters
    ----------
    results : of the run.
    """

    def __init__(self, results: Results) -> None:
        self._numbers = SortNumbers(results)
        frame = results.examples
        self._columns = {str(name): frame[name].to_numpy(dtype=object) for name in frame}
        longest = max(map(len, self._columns.get("tokens", ())), default=0)
        self._at_once = min(_MOST_AT_ONCE, max(1, _WORDS_AT_ONCE // max(1, longest)))

    def pack(self, chosen: Sequence[int] | np.ndarray) -> Iterator[dict[str, Any]]:
        """The examples with these line numbers, in this order."""
        for start in range(0, len(chosen), self._at_once):
            lines = chosen[start : start + self._at_once]
            columns = {name: column[lines].tolist() for name, column in self._columns.items()}
            yield from _packed(columns, self._numbers)


def _packed(columns: dict[str, list[Any]], numbers: SortNumbers) -> Iterator[Any]:
    """The examples of these lines; what is done to each of many short lists, is done to all."""
    count = len(columns["tokens"])
    missing = [None] * count
    attention = Lists(columns["attention"])
    weights = attention.packed("<f4")
    scores = _scaled([score["values"] for line in columns["scores"] for score in line])
    jsd = rounded_all(np.array(columns["furthest_jsd"], dtype=float), 6)
    upper = rounded_all(np.array(columns["furthest_upper"], dtype=float), 6)
    furthest = _furthest(columns["furthest"], columns["furthest_jsd"])
    probs = Lists(columns["probs"])
    shares = probs.split(rounded_all(probs.flat, 6))
    is_candidate = probs.split((probs.flat > 0).tolist())
    candidates = [list(compress(range(len(line)), line)) for line in is_candidate]
    readout = _readouts(columns, attention, candidates)
    numbers_of = numbers.of(columns["example_id"])
    pairs = columns.get("pair", missing)
    marks = columns.get("weight_on_marks", missing)
    moves = columns.get("moves", missing)
    for index, tokens in enumerate(columns["tokens"]):
        evidence = columns["evidence"][index]
        yield {
            "id": columns["example_id"][index],
            "query": columns["query"][index],
            "label": int(columns["label"][index]),
            "predicted": int(columns["predicted"][index]),
            "probs": shares[index],
            "tokens": tokens.tolist() if isinstance(tokens, np.ndarray) else list(tokens),
            "evidence": None if evidence is None else np.flatnonzero(evidence).tolist(),
            "rows": int(attention.lengths[index]) // len(tokens) if len(tokens) else 0,
            "attention": weights[index],
            "pair": None if pairs[index] is None else [int(value) for value in pairs[index]],
            "marks": None if marks[index] is None else [rounded(mark) for mark in marks[index]],
            "furthest": furthest[index],
            "jsd": jsd[index],
            "upper": upper[index],
            "exact": bool(columns["furthest_exact"][index]),
            "candidates": candidates[index],
            "readout": readout[index],
            "moves": packed_moves(moves[index], len(tokens), candidates[index]),
            "scores": {
                score["measure"]: packed_score
                for score, packed_score in zip(columns["scores"][index], scores, strict=False)
            },
            "numbers": numbers_of[index],
        }


def _furthest(weights: Sequence[Any], distances: Sequence[float]) -> list[dict[str, Any] | None]:
    """The items with a weight above 0, and their weights: two, if the answer is exact.

    None if no other attention was searched for. Older runs then store the attention itself, and
    NaN as its distance.
    """
    found: list[dict[str, Any] | None] = [None] * len(weights)
    searched = [
        index
        for index, (line, distance) in enumerate(zip(weights, distances, strict=True))
        if line is not None and not math.isnan(distance)
    ]
    lists = Lists([weights[index] for index in searched])
    places = np.flatnonzero(lists.flat)
    cuts = np.searchsorted(places, lists.ends)
    within = places - np.repeat(lists.starts, np.diff(cuts, prepend=0))
    items, values = within.astype("<u4").tobytes(), lists.flat[places].astype("<f4").tobytes()
    start = 0
    for index, length, end in zip(searched, lists.lengths.tolist(), cuts.tolist(), strict=True):
        part = slice(4 * start, 4 * end)  # both have four bytes per item
        found[index] = {
            "count": length,
            "at": _base64(items[part]),
            "weights": _base64(values[part]),
        }
        start = end
    return found


def _readouts(
    columns: dict[str, list[Any]], attention: Lists, candidates: Sequence[list[int]]
) -> list[str | None]:
    """The readouts, items × candidate classes.

    None if attention and readout together do not give the stored prediction, for example because
    weight lies on items that are not shown.
    """
    readouts: list[str | None] = [None] * len(candidates)
    # Texts of the same length, and with the same candidates, are computed together.
    alike: dict[tuple[int, ...], list[int]] = {}
    for index, (stored, tokens) in enumerate(
        zip(columns["readout"], columns["tokens"], strict=True)
    ):
        if stored is not None and attention.lengths[index] == len(tokens) > 0:
            alike.setdefault((len(tokens), *candidates[index]), []).append(index)
    for (items, *classes), lines in alike.items():
        probs = np.array([columns["probs"][index] for index in lines], dtype=float)
        stored = np.array([columns["readout"][index] for index in lines], dtype=float)
        tables = stored.reshape(len(lines), items, probs.shape[1])[:, :, classes]
        weights = np.array([attention.at(index) for index in lines])
        with np.errstate(invalid="ignore", divide="ignore"):
            logits = ((weights / weights.sum(1, keepdims=True))[:, None] @ tables)[:, 0]
            powers = np.exp(logits - logits.max(1, keepdims=True, initial=-np.inf))
            errors = np.abs(powers / powers.sum(1, keepdims=True) - probs[:, classes])
        for index, table, error in zip(lines, tables, errors, strict=True):
            if classes and (error < _TOLERANCE).all():
                readouts[index] = packed(table)
    return readouts


def _scaled(scores: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Each measure's scores in 65,534 steps from their minimum (or 0) to their maximum (or 0)."""
    if not len(scores):
        return
    lists = Lists(scores)
    everything = lists.flat
    known = np.isfinite(everything)
    everything[~known] = 0.0
    filled = lists.lengths > 0
    low, high = np.zeros(len(scores)), np.zeros(len(scores))
    if filled.any():
        low[filled] = np.minimum.reduceat(everything, lists.starts[filled])
        high[filled] = np.maximum.reduceat(everything, lists.starts[filled])
    # Not np.minimum, which may return -0.
    low, high = np.where(low < 0, low, 0.0), np.where(high > 0, high, 0.0)
    span = high - low
    span[span == 0] = 1.0
    offset, width = np.repeat(low, lists.lengths), np.repeat(span, lists.lengths)
    steps = np.round((everything - offset) / width * _STEPS)
    steps[~known] = _STEPS + 1
    texts = lists.packed("<u2", steps)
    for least, most, text in zip(low.tolist(), high.tolist(), texts, strict=True):
        yield {"low": least, "high": most, "steps": text}
