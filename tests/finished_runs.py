"""Small finished runs for tests: trained, audited and stored as a user's would be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from attnaudit.report.run_sources import OpenRun, Run, gather
from attnaudit.results import store
from attnaudit.results.checksums import write_json, write_mark
from attnaudit.results.value_columns import ValueColumns
from attnaudit.training.experiment import make_experiment
from attnaudit.training.runner import run_experiment

DATASET = "keyword:train=300,dev=60,test=80,length=12,jitter=3,distractors=2"
HOSTILE = (
    "$\\nosuch_1^{2}$ & \\alpha %#~",
    "=cmd|' /C calc'!A0 <script>alert(1)</script>\x00\n\u202eשלום 🙂 " + "x" * 10_000,
)


_KEPT = TemporaryDirectory(prefix="finished-runs-")


def finished(out: Path, **changes: Any) -> Path:
    """A finished run below `out`; one with the same settings is trained once per test process."""
    kept = _trained(tuple(sorted(changes.items())))
    return Path(shutil.copytree(kept, out / kept.name))


@cache
def _trained(changes: tuple[tuple[str, Any], ...]) -> Path:
    settings = {"encoder": "average", "embedding": 8, "epochs": 2, "learning_rate": 0.02}
    experiment = make_experiment(DATASET, **{**settings, **dict(changes)})
    return run_experiment(experiment, Path(_KEPT.name), show_progress=False)


def opened(folder: Path) -> Run:
    (run,) = gather([folder]).runs
    return run


def with_results(run: Run, **changes: Any) -> Run:
    """The same run with other `columns`, `summaries`, `examples` or `about` of its results."""
    open_run = OpenRun(replace(run.results, **changes))
    return replace(run, about=open_run.results.about, opened=lambda folder: open_run)


def edit_run(
    folder: Path, change: Callable[[dict[str, Any]], None], *, with_checksums: bool = True
) -> None:
    """Change run.json as somebody who knows the format might.

    with_checksums: False for an earlier version, which kept none.
    """
    details = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    change(details)
    if with_checksums:
        write_mark(folder / "run.json", details)
    else:
        del details["files"], details["checksum"]
        write_json(folder / "run.json", details)


def renamed_classes(folder: Path, to: Path, names: tuple[str, str]) -> Path:
    """The same run, its two classes called otherwise."""
    results = store.load_results(folder)
    groups = dict(zip(results.about["classes"], names, strict=True))
    about = {**results.about, "classes": list(names)}
    summaries = results.summaries.assign(
        group=[groups.get(name, name) for name in results.summaries["group"]]
    )
    to.mkdir(parents=True)
    details = {
        key: value
        for key, value in about["run"].items()
        if key not in ("about", "format", "versions")
    }
    store.write_results(replace(results, summaries=summaries, about=about), to, run=details)
    return to


def altered(
    folder: Path, to: Path, *, shift: float = 0.0, without: tuple[str, ...] = (), **choices: object
) -> Path:
    """The same run with other choices, as if trained so.

    Every value is moved by `shift`, and the metrics in `without` have no value.
    """
    results = store.load_results(folder)
    values, summaries = (
        frame.assign(**{name: (frame[name] + shift).mask(frame["metric"].isin(without))})
        for frame, name in ((results.values, "value"), (results.summaries, "mean"))
    )
    details = {
        key: value
        for key, value in results.about["run"].items()
        if key not in ("about", "format", "versions")
    }
    details["choices"] = {**details["choices"], **choices}
    to.mkdir(parents=True)
    moved = replace(results, columns=ValueColumns.from_long(values), summaries=summaries)
    store.write_results(moved, to, run=details)
    return to
