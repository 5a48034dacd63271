"""Compare two runs: their cards, and every metric they share with difference and interval."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import torch

from attnaudit.results.number_formats import MISSING, NO_INTERVAL
from attnaudit.results.questions import Question
from attnaudit.results.results import Results
from attnaudit.results.rows import EVERY_ROW, METRIC_KEY, mean_over_rows, one_line_per_metric
from attnaudit.results.store import load_results
from attnaudit.results.value_columns import Key
from attnaudit.statistics import bootstrap
from attnaudit.statistics.inference import Spread, length_matched

KEY = [*METRIC_KEY, "row"]
MATCHED = "matched by length"
_CHUNK = 256  # metrics whose resamples by length are held in memory at once
_BLOCK_BYTES = 2**24  # of values of a run that are compared at once


class Comparison(NamedTuple):
    """Two results next to each other: the answers of both cards, and every metric they share.

    cards: one line per question. values: one line per metric, see `compare_values`.
    """

    first: Results
    second: Results
    cards: pd.DataFrame
    values: pd.DataFrame

    def text(self, *, every: bool = False) -> str:
        """Both cards and the metrics on them; every: all metrics that both have."""
        runs = (self.first, self.second)
        differs = (self.values["low"] > 0) | (self.values["high"] < 0)
        values = self.values.assign(differs=differs.map({True: "yes", False: ""}))
        shown = values if every else values[_on_card(values, *runs)]
        counts = " and ".join(str(len(run.columns)) for run in runs)
        how = values["how"].iloc[0] if len(values) else "nothing in common"
        if how == MATCHED:
            how += " (so not the difference of the two means, which are over all texts)"
        lines = []
        first, second = (_dataset(run) for run in runs)
        if first != second:
            lines.append(f"The two runs are on different data, {first} and {second}.\n")
        lines += [
            self.cards.to_string(index=False),
            f"\nDifferences (first − second), {how}, {counts} examples:",
            _table(shown) if len(shown) else "No number of either card is in both.",
        ]
        if single := int((values["difference"].notna() & values["low"].isna()).sum()):
            lines.append(
                f"\n{single} of {len(values)} differences: {NO_INTERVAL} (too few values, or too "
                "few that differ)."
            )
        if not every:
            lines.append(
                f"\n{differs.sum()} of {len(values)} numbers differ (the interval excludes 0); "
                "--all shows every number."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()


def compare(first: Results | str | Path, second: Results | str | Path) -> Comparison:
    """Compare two finished runs: their cards, and every metric they share with its difference.

    Parameters
    ----------
    first, second : results, or the run directories that hold them.

    Examples
    --------
    >>> from attnaudit import audit
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> results = audit(Glass("oracle"), glass_batch(20), audits=["permutation"])
    >>> float(compare(results, results).values["difference"].abs().max())
    0.0
    """
    first, second = (
        run if isinstance(run, Results) else load_results(run) for run in (first, second)
    )
    return Comparison(first, second, compare_cards(first, second), compare_values(first, second))


def _dataset(results: Results) -> str:
    return results.about.get("run", {}).get("choices", {}).get("dataset", "your texts")


def _table(values: pd.DataFrame) -> str:
    columns = values.drop(columns="how")
    return columns.to_string(index=False, float_format="{:.3f}".format, na_rep="–")


def _on_card(values: pd.DataFrame, *runs: Results) -> np.ndarray:
    """Which lines are on a card: of several rows of attention, only the mean over them."""
    names = {f.name for run in runs for answer in run.card().answers for f in answer.findings}
    measure = ("@" + values["measure"]).where(values["measure"] != "", "")
    name = values["audit"] + "/" + values["metric"] + measure
    whole = values.index.isin(one_line_per_metric(values).index)
    return name.isin(names).to_numpy() & whole


def compare_cards(first: Results, second: Results) -> pd.DataFrame:
    """One line per question, with both answers."""
    cards = [results.card() for results in (first, second)]
    verdicts = ("verdict", *(card.decision for card in cards))
    answers = [
        (question.wording, *(card.answer_to(question) for card in cards)) for question in Question
    ]
    asked = [line for line in answers if line[1:] != (MISSING, MISSING)]
    return pd.DataFrame([verdicts, *asked], columns=["question", "first", "second"])


def compare_values(first: Results, second: Results, *, seed: int = 0) -> pd.DataFrame:
    """One line per metric of both runs: both means, their difference and its 95 % interval.

    On the same examples, differences are taken example by example (`paired`). On different
    examples, they are between texts of similar length (`matched by length`), since tau, its
    significance and entropy depend on length.
    """
    shared = _shared(first, second)
    if not shared:
        return pd.DataFrame(columns=[*KEY, "first", "second", "difference", "low", "high", "how"])
    ids = [run.columns.examples["example_id"].tolist() for run in (first, second)]
    paired = ids[0] == ids[1] and _same_texts(first, second)
    lengths = [run.columns.examples["length"].to_numpy() for run in (first, second)]
    width = max(1, _BLOCK_BYTES // (8 * max(map(len, ids))))
    width = width if paired else min(width, _CHUNK)
    lines = []
    for start in range(0, len(shared), width):  # the same draws for every chunk
        chunk = shared[start : start + width]
        a, b = _values(first, chunk), _values(second, chunk)
        ends: list[Spread]
        if paired:
            gaps = torch.from_numpy(a - b)
            interval = bootstrap(gaps, limits=_gap_limits(first, second, chunk), seed=seed)
            ends = [
                Spread(float(e), float(low), float(high))
                for e, low, high in zip(*interval[:3], strict=True)
            ]
        else:
            ends = list(length_matched(a, lengths[0], b, lengths[1], seed=seed))
        for place, (key, (difference, low, high)) in enumerate(zip(chunk, ends, strict=True)):
            lines.append(
                {
                    **dict(zip(KEY, key, strict=True)),
                    "first": float(np.nanmean(a[:, place])),
                    "second": float(np.nanmean(b[:, place])),
                    "difference": difference,
                    "low": low,
                    "high": high,
                    "how": "paired" if paired else MATCHED,
                }
            )
    return pd.DataFrame(lines)


def _gap_limits(first: Results, second: Results, columns: list[Key]) -> torch.Tensor:
    """The smallest and largest possible difference in each metric, (M,2); NaN if unknown."""
    limits = []
    for audit, _, metric, _ in columns:
        scales = [limits_of(run.about, audit, metric) for run in (first, second)]
        if scales[0] is None or scales[0] != scales[1]:
            limits.append((np.nan, np.nan))
        else:
            room = scales[0][1] - scales[0][0]
            limits.append((-room, room))
    return torch.tensor(limits, dtype=torch.float64)


def limits_of(about: dict, audit: str, metric: str) -> tuple[float, float] | None:
    """The smallest and largest possible value of a metric, if stored with the results."""
    scale = about.get("scales", {}).get(audit, {}).get(metric)
    return None if scale is None else (float(scale[0]), float(scale[1]))


def _shared(first: Results, second: Results) -> list[Key]:
    """The metrics of which both runs have some value; after those of rows, the means over rows."""
    defined = [_defined(run) for run in (first, second)]
    return [key for key in defined[0] if key in defined[1]]


def _defined(results: Results) -> dict[Key, None]:
    """The columns that some example has a value in, and the means over several of them."""
    rows: dict[tuple[str, str, str], int] = {}
    defined: dict[Key, None] = {}
    for keys, matrix in results.columns.blocks():
        for key, is_known in zip(keys, ~np.isnan(matrix).all(0), strict=True):
            if is_known:
                defined[key] = None
                rows[key[:3]] = rows.get(key[:3], 0) + 1
    means = {(*metric, EVERY_ROW): None for metric, count in rows.items() if count > 1}
    return {**defined, **means}


def _values(results: Results, keys: list[Key]) -> np.ndarray:
    """The values (examples, keys) of these metrics, of row `EVERY_ROW` the mean over rows."""
    columns = results.columns
    values = np.empty((len(columns), len(keys)))
    for place, key in enumerate(keys):
        values[:, place] = (
            mean_over_rows(columns.matrix(columns.rows_of(*key[:3])))
            if key[3] == EVERY_ROW
            else columns.column(key)
        )
    return values


def _same_texts(first: Results, second: Results) -> bool:
    """Whether equal ids mean equal texts: by fingerprint, or else by label and length."""
    prints = [
        run.about.get("run", {}).get("data", {}).get("fingerprint") for run in (first, second)
    ]
    if all(prints):
        return prints[0] == prints[1]
    examples = [
        run.columns.examples.set_index("example_id")[["label", "length"]] for run in (first, second)
    ]
    return examples[0].equals(examples[1])
