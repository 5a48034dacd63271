"""Several trainings of one model: every number with an interval that knows of the noise between seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from attnaudit import store
from attnaudit.errors import InputError
from attnaudit.statistics.inference import over_seeds

KEY = ["audit", "measure", "metric", "row"]


def across_seeds(folders: Sequence[Path], *, seed: int = 0) -> pd.DataFrame:
    """One line a number that all runs have: its mean over seeds, its 95 % interval over seeds and examples (two-level bootstrap), and
    the least and the largest of the runs' own means.

    The runs must differ by seed alone.
    """
    choices = [store.read_run(folder).get("choices", {}) for folder in folders]
    if not all(choices):
        raise InputError(
            "Seeds are compared between runs of `attnaudit run`; one of these is of another kind."
        )
    alike = [{key: value for key, value in each.items() if key not in ("seed", "other_seeds", "audits", "measures")} for each in choices]  # fmt: skip
    if len(folders) < 2 or any(each != alike[0] for each in alike):
        raise InputError(
            f"Seeds are compared between at least two runs that differ by seed alone; got {len(folders)} run(s) of "
            f"{len({str(each) for each in alike})} model(s). Name the runs one by one."
        )
    if len({each["seed"] for each in choices}) < len(choices):
        raise InputError("Two of the runs have the same seed: name each seed once.")
    frames = [store.load_results(folder).frame() for folder in folders]
    parts = [
        {
            key: part.set_index("example_id")["value"]
            for key, part in frame.groupby(KEY, observed=True, sort=False)
        }
        for frame in frames
    ]
    lines = []
    for key in parts[0]:
        if not all(key in part for part in parts):
            continue
        together = pd.concat([part[key] for part in parts], axis=1)  # by text: all seeds see the same ones
        found = over_seeds(together.to_numpy(dtype=float).T, seed=seed)
        means = together.mean().tolist()
        lines.append(
            {
                **dict(zip(KEY, key, strict=True)),
                "mean": found.estimate,
                "low": found.low,
                "high": found.high,
                "least": min(means),
                "largest": max(means),
                "seeds": len(parts),
            }
        )
    return pd.DataFrame(lines)
