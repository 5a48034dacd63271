"""The finished runs and interventions of an item on one dataset, from one seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.core import registry
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.report.run_sources import Run, gather
from attnaudit.results.findings import Findings, find_corpus_audit, read_findings
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric
from attnaudit.results.store import open_results
from attnaudit.training import corpus_audit
from attnaudit.training.experiment import ExperimentConfig

_SUMMARISED = ("mean", "low", "high", "floor", "ceiling", "sd", "nan_share", "count")


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A finished run: its folder and what it found.

    Parameters
    ----------
    folder : of the run.
    experiment : that it is of; None for a run that an intervention made.
    """

    folder: Path
    experiment: ExperimentConfig | None = None
    data_dir: Path | None = None
    fast: bool = False

    @cached_property
    def results(self) -> Results:
        """What was stored; tables are read when they are used."""
        return open_results(self.folder)

    @cached_property
    def source(self) -> Run:
        """The run as figures take it."""
        return gather([self.folder]).runs[0]

    @property
    def details(self) -> dict[str, Any]:
        """run.json."""
        return self.results.about["run"]

    @property
    def performance(self) -> dict[str, Any]:
        """Scores on the test split."""
        return self.details["performance"]

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return list(self.results.about["classes"])

    def part(self, name: str) -> str:
        """The encoder, scorer, … of the run by name, without options."""
        return registry.parse(str(self.details["choices"][name]))[0]

    def line(
        self, audit: str, metric: str, measure: str = "", group: str = "all"
    ) -> dict[str, float]:
        """A mean with interval, floor, ceiling, sd, nan_share and count; NaN if it is not there.

        `texts` is the count that the whole test split would have, on which published numbers are,
        if only a sample of it was audited; 0 if there is none.
        """
        frame = self.results.summaries
        lines = frame[
            (frame["audit"] == audit)
            & (frame["metric"] == metric)
            & (frame["measure"] == measure)
            & (frame["group"] == group)
        ]
        if not len(lines):
            return {**dict.fromkeys(_SUMMARISED, float("nan")), "texts": 0}
        values = one_line_per_metric(lines).iloc[0]
        line = {name: float(values[name]) for name in _SUMMARISED}
        whole = self.details["data"]["sizes"]["test"]
        audited = min(self.details["choices"].get("sample") or whole, whole)
        return {**line, "texts": round(line["count"] * whole / audited)}

    def column(self, audit: str, metric: str, measure: str = "") -> pd.Series:
        """A value per text, by its id; NaN where it is undefined."""
        values = self.source.need(audit, metric, measure)
        return pd.Series(values, index=pd.Index(self.results.columns.examples["example_id"]))

    def information(self) -> Findings:
        """The corpus audit mutual_information of this run, made once and stored with it."""
        stored = find_corpus_audit(self.folder, "mutual_information")
        if stored is not None:
            return stored
        name = "mutual_information:clusters=4,clusterings=1" if self.fast else "mutual_information"
        return corpus_audit(self.folder, name, data_dir=self.data_dir).findings


@dataclass(frozen=True, eq=False)
class FinishedCells:
    """The finished cells of an item, of one dataset and one seed.

    Parameters
    ----------
    runs : the runs.
    finding_folders : (intervention, name of its base) -> the folder of its findings.
    """

    dataset: str
    seed: int
    runs: tuple[FinishedRun, ...]
    finding_folders: dict[tuple[str, str], Path] = field(default_factory=dict)

    def where(self, **parts: str) -> Iterator[FinishedRun]:
        """The runs whose parts have these names; a name without options matches any options."""
        for run in self.runs:
            chosen = run.details["choices"]
            if all(_matches(str(chosen[part]), name) for part, name in parts.items()):
                yield run

    def encoders(self) -> list[str]:
        """The encoders of the runs by name, without options, in the order of the runs."""
        return list(dict.fromkeys(run.part("encoder") for run in self.runs))

    def one(self, **parts: str) -> FinishedRun:
        """The only run with these parts."""
        runs = list(self.where(**parts))
        if len(runs) != 1:
            raise InputError(
                f"{self.dataset}, seed {self.seed}: expected one finished run with {parts}, got "
                f"{len(runs)}. Run the item again."
            )
        return runs[0]

    def pictured(self, **parts: str) -> FinishedRun:
        """The run that a figure is drawn of; an error of the figure alone if it was left out."""
        if not any(self.where(**parts)):
            raise NotApplicable(f"its model, {', '.join(parts.values())}, is not among those made")
        return self.one(**parts)

    def findings(self, intervention: str, run: FinishedRun) -> Findings:
        """What an intervention found that started from a run."""
        for (name, base), folder in self.finding_folders.items():
            if base == run.folder.name and _matches(name, intervention):
                return read_findings(folder)
        raise InputError(
            f"{self.dataset}, seed {self.seed}: there are no findings of {intervention} on "
            f"{run.folder.name}. Run the item again."
        )

    def run_at(self, folder: Path) -> FinishedRun:
        """A run that an intervention made."""
        first = self.runs[0]
        return FinishedRun(folder, None, first.data_dir, first.fast)


def _matches(choice: str, wanted: str) -> bool:
    return choice == wanted or (":" not in wanted and registry.parse(choice)[0] == wanted)
