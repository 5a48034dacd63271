"""Several trainings of one model: every metric with an interval over seeds and examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.results.findings import find_corpus_audit
from attnaudit.results.results import Results
from attnaudit.results.value_columns import Key
from attnaudit.statistics.inference import over_seeds
from attnaudit.statistics.seeds import over_trainings
from attnaudit.training.comparisons.runs import KEY, limits_of
from attnaudit.training.comparisons.same_model import Identity, identities

_INFORMATION, _TAU = "mutual_information", "weighted_tau"


class SeedsTable(NamedTuple):
    """Every metric of every model over its seeds; `str` is one table per model."""

    values: pd.DataFrame

    def __str__(self) -> str:
        parts = []
        for model, part in self.values.groupby("model", sort=False):
            counts = zip(part["seeds"], part["of"], strict=True)
            rows = part.drop(columns=["model", "of"]).assign(
                seeds=[f"{count} of {total}" for count, total in counts]
            )
            table = rows.to_string(index=False, float_format="{:.3f}".format, na_rep="–")
            single = part["seeds"] < 2
            withheld = int((part["low"].isna() & ~single).sum())
            notes = ""
            if single.any():
                notes += (
                    f"\n{single.sum()} number(s) without an interval: fewer than 2 seeds have them."
                )
            if withheld:
                notes += f"\n{withheld} number(s) without an interval: too few texts that differ."
            parts.append(f"{model}\n{table}{notes}")
        return "\n\n".join(parts)


def seeds_table(folders: Sequence[Path]) -> SeedsTable:
    """Every metric of the runs, summarised over runs that differ only by seed."""
    return SeedsTable(across_seeds(folders))


def across_seeds(folders: Sequence[Path], *, seed: int = 0) -> pd.DataFrame:
    """One line per model and metric that some run has.

    The mean over seeds, its 95 % interval over seeds and examples (see `over_seeds`), the least and
    the largest mean of a run, and how many of the model's seeds have the metric. Runs of one model
    differ by seed and by what was audited; several runs of one seed are read as one. Weighted tau
    of `attnaudit corpus-audit` has an interval over seeds alone.
    """
    groups = _by_model(folders)
    if not any(len(group) > 1 for group in groups.values()):
        raise InputError(
            "Comparing seeds needs at least two runs that differ by seed alone; got "
            f"{len(folders)} run(s) of {len(groups)} model(s). Train one of them again with "
            "another --seed."
        )
    return pd.concat(
        [_lines(label, trainings, seed) for label, trainings in groups.items()], ignore_index=True
    )


def _by_model(folders: Sequence[Path]) -> dict[str, dict[int, list[Path]]]:
    """Label of a model -> seed -> its runs."""
    identified = identities(folders)
    if any(identity.seed is None for identity in identified):
        raise InputError(
            "Comparing seeds needs runs of `attnaudit run`; one of these was made otherwise."
        )
    samples = [store.read_run(folder)["choices"].get("sample") for folder in folders]
    models: dict[str, dict[int, list[Path]]] = {}
    for identity, folder, sample in zip(identified, folders, samples, strict=True):
        trainings = models.setdefault(_label(identity, sample, samples), {})
        runs = trainings.setdefault(int(identity.seed or 0), [])
        if folder.resolve() in [run.resolve() for run in runs]:
            raise InputError(
                f"Two of the runs have the same seed: give each seed once. Got {folder} twice."
            )
        runs.append(folder)
    return models


def _label(identity: Identity, sample: int | None, samples: Sequence[int | None]) -> str:
    """Runs on different samples have different texts, so each sample has its own table."""
    if len(set(samples)) == 1:
        return identity.label
    return f"{identity.label} · {'all examples' if sample is None else f'sample of {sample}'}"


def _lines(model: str, trainings: dict[int, list[Path]], seed: int) -> pd.DataFrame:
    opened = {number: [*map(store.open_results, runs)] for number, runs in trainings.items()}
    results = [opened[number] for number in sorted(opened)]
    abouts = [run.about for runs in opened.values() for run in runs]
    lines = []
    every_key = (key for runs in results for run in runs for key in run.columns.keys)
    for key in dict.fromkeys(every_key):
        columns = [_column(runs, key) for runs in results]
        having = [column for column in columns if column is not None]
        line = {"model": model, **dict(zip(KEY, key, strict=True))}
        if not having:
            unknown = dict.fromkeys(("mean", "low", "high", "least", "largest"), np.nan)
            lines.append({**line, **unknown, "seeds": 0, "of": len(columns)})
            continue
        together = pd.concat(having, axis=1)  # aligned by text: all seeds see the same texts
        scales = (limits_of(about, str(key[0]), str(key[2])) for about in abouts)
        limits = next((scale for scale in scales if scale is not None), None)
        spread = over_seeds(together.to_numpy(dtype=float).T, limits=limits, seed=seed)
        means = together.mean()
        lines.append(
            {
                **line,
                "mean": spread.estimate,
                "low": spread.low,
                "high": spread.high,
                "least": float(means.min()),
                "largest": float(means.max()),
                "seeds": len(having),
                "of": len(columns),
            }
        )
    return pd.DataFrame([*lines, *_information_line(model, trainings)])


def _information_line(model: str, trainings: dict[int, list[Path]]) -> list[dict[str, object]]:
    """Weighted tau of information (Wen et al. 2022), if a corpus audit of it is in some run.

    One number per training, without texts: its interval is over trainings alone.
    """
    taus = []
    for runs in trainings.values():
        found = (find_corpus_audit(run, _INFORMATION) for run in runs)
        findings = next((findings for findings in found if findings is not None), None)
        if findings is None:
            taus.append(np.nan)
        else:
            taus.append(float(findings.summary.set_index("metric").loc[_TAU, "value"]))
    known = np.array(taus)[~np.isnan(taus)]
    if not len(known):
        return []
    mean, low, high = over_trainings(known)
    line = dict.fromkeys(KEY, "") | {"model": model, "audit": _INFORMATION, "metric": _TAU}
    ends = {"mean": mean, "low": low, "high": high, "least": known.min(), "largest": known.max()}
    return [{**line, **ends, "seeds": len(known), "of": len(taus)}]


def _column(runs: Sequence[Results], key: Key) -> pd.Series | None:
    """A metric by text, from the first of these runs of one training that has it; else None."""
    for run in runs:
        if run.columns.has(key):
            values = run.columns.column(key)
            if not np.isnan(values).all():
                return pd.Series(values, index=pd.Index(run.columns.examples["example_id"]))
    return None
