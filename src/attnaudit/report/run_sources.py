"""What figures and tables are made from: runs and findings, read from disk without torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
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
from attnaudit.results.run_names import DEFAULT_PARTS
from attnaudit.results.store import find_runs, is_complete, open_results
from attnaudit.results.stored_runs import readable

FEW_CLASSES = 3  # drawn separately in one figure; more are drawn together, as in Jain & Wallace
_KEPT_OPEN = 4  # runs whose results are held at once
_IN_LABELS = ("dataset", "model", "encoder", "scorer", "projection", "output", "variant", "seed")


class OpenRun:
    """The results of a run, and the view of its values, made when it is first used."""

    def __init__(self, results: Results) -> None:
        self.results = results

    @cached_property
    def columns(self) -> Columns:
        return Columns(self.results.columns)


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run; its results are opened when they are used, and only those of a few kept.

    Attributes
    ----------
    title : its folder's name, unique.
    label : how it differs from the others.
    folder : of the run.
    about : what is stored about it (`Results.about`).
    opened : reads the results in a folder.
    """

    title: str
    label: str
    folder: Path
    about: dict[str, Any]
    opened: Callable[[Path], OpenRun]

    @property
    def results(self) -> Results:
        return self.opened(self.folder).results

    @property
    def columns(self) -> Columns:
        return self.opened(self.folder).columns

    @property
    def classes(self) -> list[str]:
        return self.about["classes"]

    @property
    def choices(self) -> dict[str, Any]:
        return self.about.get("run", {}).get("choices", {})

    def need(self, audit: str, metric: str, measure: str = "") -> np.ndarray:
        """One stored number per example, (examples,); NaN where it is undefined."""
        column = self.columns(audit, measure, metric)
        if column is None:
            raise NotApplicable(self.why_not(audit, measure))
        if np.isnan(column).all():
            name = f"{audit}/{metric}" + (f"@{measure}" if measure else "")
            raise NotApplicable(f"{name} is undefined for every example")
        return column

    def why_not(self, audit: str, measure: str = "") -> str:
        """Why the run has no number of this audit and measure."""
        audits = dict.fromkeys(key[0] for key in self.results.columns.keys)
        if resolve_audit_name(audit, audits) is not None:
            if measure:
                return f"the measure {measure} was not run"
            return f"the audit {audit} has no such number"
        for name, reason in self.results.about.get("not_applicable", {}).items():
            if bare(name) == audit:
                return f"the audit {audit} did not apply: {reason}"
        return f"the audit {audit} was not run"

    def summary(self, audit: str, group: str = "all") -> pd.DataFrame:
        """The stored means of one audit with their intervals, as on the card.

        If the audit was run more than once, the one without options; if there are several rows,
        the mean over them.
        """
        frame = self.results.summaries
        name = resolve_audit_name(audit, frame["audit"].astype(str).unique())
        if name is None:
            raise NotApplicable(self.why_not(audit))
        part = frame[(frame["audit"].astype(str) == name) & (frame["group"] == group)]
        return one_line_per_metric(part)

    def by_class(self) -> list[tuple[str, np.ndarray]]:
        """(class name, mask of the examples predicted so).

        All together if only one class is predicted, or more than FEW_CLASSES.
        """
        predicted = self.columns.predicted
        seen = np.unique(predicted)
        if not 1 < len(seen) <= FEW_CLASSES:
            return [("all", np.ones(len(predicted), dtype=bool))]
        return [(self.classes[number], predicted == number) for number in seen]

    def corpus_audit(self, name: str) -> Findings:
        """The first corpus audit of this name in the run's folder."""
        findings = find_corpus_audit(self.folder, name)
        if findings is None:
            raise NotApplicable(f"`attnaudit corpus-audit RUN --audit {name}` was not run")
        return findings


@dataclass(frozen=True, eq=False)
class Sources:
    """The runs and findings that figures and tables are made from."""

    runs: tuple[Run, ...]
    findings: tuple[Findings, ...]


def gather(folders: Iterable[Path], *, parts: Sequence[str] = ()) -> Sources:
    """Find the runs and the findings of interventions in these folders, each once.

    Parameters
    ----------
    folders
        Run directories, findings, or folders that contain some.
    parts
        Of `Results`, the parts that will be used, such as "summaries"; all if omitted. A run in
        which one of them is damaged is left out.

    Returns
    -------
    Sources
        Runs that cannot be read are left out, with a notice.
    """
    runs: dict[Path, None] = {}
    findings: dict[Path, None] = {}
    for folder in folders:
        if (folder / Kind.INTERVENTION.mark).is_file():
            findings[folder.resolve()] = None
            continue
        mark = Kind.INTERVENTION.mark
        below = sorted(folder.glob(f"*/{mark}")) if not is_complete(folder) else []
        below = [path for path in below if not is_temporary(path.parent)]
        findings |= {path.parent.resolve(): None for path in below}
        candidates = find_runs([folder])
        # A folder with findings and no run is not a broken run.
        if not (below and candidates == [folder]):
            runs |= {path.resolve(): None for path in candidates}
    read_runs = readable(runs, lambda folder: open_results(folder).read(*parts).about)
    titles = _distinct([folder.name for folder, _ in read_runs])
    labels = _labels([about.get("run", {}).get("choices", {}) for _, about in read_runs], titles)
    opened = lru_cache(_KEPT_OPEN)(lambda folder: OpenRun(open_results(folder)))
    return Sources(
        tuple(
            Run(title, label, folder, about, opened)
            for title, label, (folder, about) in zip(titles, labels, read_runs, strict=True)
        ),
        tuple(read for read in map(_read_or_skip, findings) if read is not None),
    )


def _read_or_skip(folder: Path) -> Findings | None:
    try:
        return read_findings(folder)
    except InputError as error:
        notice(f"left out: {error}")
        return None


def describe_choices(choices: dict[str, Any], keys: Sequence[str]) -> list[str]:
    """These choices in words, without those that have their default.

    Examples
    --------
    >>> describe_choices({"encoder": "cnn", "variant": "ordinary", "seed": 1}, ["variant", "seed"])
    ['seed 1']
    """
    return [
        f"seed {choices[key]}" if key == "seed" else without_folders(str(choices[key]))
        for key in keys
        if key in choices and choices[key] != DEFAULT_PARTS.get(key)
    ]


def _labels(choices: Sequence[dict[str, Any]], names: Sequence[str]) -> list[str]:
    """What differs between the runs; the projection if nothing does.

    A model that was not trained here gets its folder's name. Runs with the same label get the hash
    at the end of their folder's name.
    """
    known = [run for run in choices if run]
    differing = [key for key in _IN_LABELS if len({str(run.get(key)) for run in known}) > 1]
    keys = differing or ["projection"]
    labels = [
        " · ".join(describe_choices(run, keys)) or name
        for run, name in zip(choices, names, strict=True)
    ]
    return [
        f"{label} · {name[-8:]}" if labels.count(label) > 1 else label
        for label, name in zip(labels, names, strict=True)
    ]


def _distinct(names: Sequence[str]) -> list[str]:
    """Names made unique: the second folder of the same name gets a number."""
    earlier = [list(names[:index]).count(name) for index, name in enumerate(names)]
    return [
        f"{name}-{count + 1}" if count else name for name, count in zip(names, earlier, strict=True)
    ]
