"""Several trainings of one model: every number with an interval that includes the noise between seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.results.rows import METRIC_KEY
from attnaudit.statistics.inference import over_seeds
from attnaudit.training.comparisons.same_model import Identity, identities

KEY = [*METRIC_KEY, "row"]


def across_seeds(folders: Sequence[Path], *, seed: int = 0) -> pd.DataFrame:
    """One line per model and number that some run has: its mean over seeds, its 95 % interval over seeds and examples (two-level
    bootstrap), the least and the largest of the runs' own means, and how many of the model's seeds have the number.

    Runs of one model differ by seed alone; what was audited may differ too, and several runs of one seed are read as one.
    """
    groups = _by_model(folders)
    if not any(len(group) > 1 for group in groups.values()):
        raise InputError(
            f"Seeds are compared between at least two runs that differ by seed alone; got {len(folders)} run(s) of "
            f"{len(groups)} model(s). Train one of them again with another --seed."
        )
    return pd.concat(
        [_lines(label, trainings, seed) for label, trainings in groups.items()], ignore_index=True
    )


def seeds_table(folders: Sequence[Path]) -> str:
    """`across_seeds` as text, one table per model."""
    found = across_seeds(folders)
    parts = []
    for model, part in found.groupby("model", sort=False):
        rows = part.drop(columns=["model", "of"]).assign(
            seeds=[
                f"{have} of {all_}" for have, all_ in zip(part["seeds"], part["of"], strict=True)
            ]
        )
        single = part["seeds"] < 2
        table = rows.to_string(index=False, float_format="{:.3f}".format, na_rep="–")
        note = f"\n{int(single.sum())} number(s) without an interval: fewer than 2 seeds have them." if single.any() else ""  # fmt: skip
        parts.append(f"{model}\n{table}{note}")
    return "\n\n".join(parts)


def _by_model(folders: Sequence[Path]) -> dict[str, dict[int, list[Path]]]:
    """label of a model -> seed -> its runs."""
    found = identities(folders)
    if any(each.seed is None for each in found):
        raise InputError(
            "Seeds are compared between runs of `attnaudit run`; one of these is of another kind."
        )
    samples = [store.read_run(folder)["choices"].get("sample") for folder in folders]
    models: dict[str, dict[int, list[Path]]] = {}
    for each, folder, sample in zip(found, folders, samples, strict=True):
        trainings = models.setdefault(_label(each, sample, samples), {})
        runs = trainings.setdefault(int(each.seed or 0), [])
        if folder.resolve() in [run.resolve() for run in runs]:
            raise InputError(
                f"Two of the runs have the same seed: name each seed once. Got {folder} twice."
            )
        runs.append(folder)
    return models


def _label(identity: Identity, sample: int | None, samples: Sequence[int | None]) -> str:
    """Numbers of other samples are of other texts: a table of their own."""
    if len(set(samples)) == 1:
        return identity.label
    return f"{identity.label} · {'all examples' if sample is None else f'sample of {sample}'}"


def _lines(model: str, trainings: dict[int, list[Path]], seed: int) -> pd.DataFrame:
    numbers = [_numbers(trainings[each]) for each in sorted(trainings)]
    lines = []
    for key in dict.fromkeys(key for part in numbers for key in part):
        having = [part[key] for part in numbers if key in part and part[key].notna().any()]
        line = {"model": model, **dict(zip(KEY, key, strict=True))}
        if not having:
            unknown = dict.fromkeys(("mean", "low", "high", "least", "largest"), np.nan)
            lines.append({**line, **unknown, "seeds": 0, "of": len(numbers)})
            continue
        together = pd.concat(having, axis=1)  # by text: all seeds see the same ones
        found = over_seeds(together.to_numpy(dtype=float).T, seed=seed)
        means = together.mean()
        lines.append(
            {
                **line,
                "mean": found.estimate,
                "low": found.low,
                "high": found.high,
                "least": float(means.min()),
                "largest": float(means.max()),
                "seeds": len(having),
                "of": len(numbers),
            }
        )
    return pd.DataFrame(lines)


def _numbers(runs: Sequence[Path]) -> dict[tuple, pd.Series]:
    """Each number by text, of the first of these runs of one training that has it."""
    found: dict[tuple, pd.Series] = {}
    for run in runs:
        frame = store.load_results(run).frame()
        for key, part in frame.groupby(KEY, observed=True, sort=False):
            values = part.set_index("example_id")["value"]
            if key not in found or not found[key].notna().any():
                found[key] = values
    return found
