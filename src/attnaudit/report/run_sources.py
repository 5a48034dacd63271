"""What figures and tables are made from: finished runs and findings beside them, read from disk without torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.notices import notice
from attnaudit.core.paths import without_folders
from attnaudit.core.temporary import is_temporary
from attnaudit.report.column_view import Columns
from attnaudit.results.audit_names import bare, resolve_audit_name
from attnaudit.results.findings import Findings, Kind, find_corpus_audit, read_findings
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric
from attnaudit.results.store import find_runs, is_complete, load_readable

FEW = 3  # classes told apart in one figure; with more, Jain & Wallace draw all together
_USUAL = {"model": "attentive", "output": "linear_query", "variant": "ordinary"}
_TOLD = ("dataset", "model", "encoder", "scorer", "projection", "output", "variant", "seed")


@dataclass(frozen=True, eq=False)
class Run:
    """title: of its folder, no two the same; label: what tells it from the runs beside it."""

    title: str
    label: str
    folder: Path
    results: Results
    columns: Columns

    @property
    def classes(self) -> list[str]:
        return self.results.about["classes"]

    @property
    def choices(self) -> dict[str, Any]:
        return self.results.about.get("run", {}).get("choices", {})

    def need(self, audit: str, metric: str, measure: str = "") -> np.ndarray:
        """One stored number an example (examples,), NaN where it is not defined."""
        found = self.columns(audit, measure, metric)
        if found is None:
            raise NotApplicable(self.why_not(audit, measure))
        if np.isnan(found).all():
            told = f"{audit}/{metric}" + (f"@{measure}" if measure else "")
            raise NotApplicable(f"{told} is undefined for every example")
        return found

    def why_not(self, audit: str, measure: str = "") -> str:
        """Why the run holds no number of this audit and measure."""
        about = self.results.about
        if (
            resolve_audit_name(audit, map(str, self.results.values["audit"].cat.categories))
            is not None
        ):
            return (
                f"the measure {measure} was not run"
                if measure
                else f"the audit {audit} has no such number"
            )
        for name, reason in about.get("not_applicable", {}).items():
            if bare(name) == audit:
                return f"the audit {audit} did not apply: {reason}"
        return f"the audit {audit} was not run"

    def summary(self, audit: str, group: str = "all") -> pd.DataFrame:
        """The stored means of one audit with their intervals; the one without options where it was run more than once, and the mean
        over rows where there are several, as on the card."""
        frame = self.results.summaries
        name = resolve_audit_name(audit, frame["audit"].astype(str).unique())
        if name is None:
            raise NotApplicable(self.why_not(audit))
        part = frame[(frame["audit"].astype(str) == name) & (frame["group"] == group)]
        return one_line_per_metric(part)

    def by_class(self) -> list[tuple[str, np.ndarray]]:
        """(class name, examples predicted so); all together where more than FEW classes are predicted, or only one."""
        predicted = self.columns.predicted
        seen = np.unique(predicted)
        if not 1 < len(seen) <= FEW:
            return [("all", np.ones(len(predicted), dtype=bool))]
        return [(self.classes[number], predicted == number) for number in seen]

    def corpus_audit(self, name: str) -> Findings:
        """The first of this name in the run's own folder."""
        findings = find_corpus_audit(self.folder, name)
        if findings is None:
            raise NotApplicable(f"`attnaudit corpus-audit RUN --audit {name}` was not run")
        return findings


@dataclass(frozen=True, eq=False)
class Sources:
    runs: tuple[Run, ...]
    findings: tuple[Findings, ...]


def gather(folders: Iterable[Path]) -> Sources:
    """The runs and the interventions' findings named, or held by a folder named; each once."""
    runs: dict[Path, None] = {}
    findings: dict[Path, None] = {}
    for folder in folders:
        if (folder / Kind.INTERVENTION.mark).is_file():
            findings[folder.resolve()] = None
            continue
        below = (
            sorted(folder.glob(f"*/{Kind.INTERVENTION.mark}")) if not is_complete(folder) else []
        )
        below = [each for each in below if not is_temporary(each.parent)]
        findings |= {each.parent.resolve(): None for each in below}
        found = find_runs([folder])
        if not (
            below and found == [folder]
        ):  # a folder that holds findings and no run is no broken run
            runs |= {each.resolve(): None for each in found}
    readable = load_readable(runs)
    loaded = [results for _, results in readable]
    titles = _distinct([folder.name for folder, _ in readable])
    labels = _labels([each.about.get("run", {}).get("choices", {}) for each in loaded], titles)
    return Sources(
        tuple(
            Run(title, label, folder, results, Columns(results.values))
            for title, label, (folder, results) in zip(titles, labels, readable, strict=True)
        ),
        tuple(each for each in map(_read_or_skip, findings) if each is not None),
    )


def _read_or_skip(folder: Path) -> Findings | None:
    try:
        return read_findings(folder)
    except InputError as error:
        notice(f"left out: {error}")
        return None


def told(choices: dict[str, Any], keys: Sequence[str]) -> list[str]:
    """These choices in words, without those that are as usual."""
    return [
        f"seed {choices[key]}" if key == "seed" else without_folders(str(choices[key]))
        for key in keys
        if key in choices and choices[key] != _USUAL.get(key)
    ]


def _labels(choices: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    """What differs between the runs; the projection where nothing does; the folder's name for a model made elsewhere. Runs whose choices
    told here are the same get the hash that ends their folder's name."""
    known = [each for each in choices if each]
    telling = [key for key in _TOLD if len({str(each.get(key)) for each in known}) > 1] or [
        "projection"
    ]
    labels = [
        " · ".join(told(each, telling)) or name for each, name in zip(choices, names, strict=True)
    ]
    return [
        f"{label} · {name[-8:]}" if labels.count(label) > 1 else label
        for label, name in zip(labels, names, strict=True)
    ]


def _distinct(names: Sequence[str]) -> list[str]:
    """Folders of one name in two places: the second gets a number."""
    return [
        name if not (before := list(names[:at]).count(name)) else f"{name}-{before + 1}"
        for at, name in enumerate(names)
    ]
