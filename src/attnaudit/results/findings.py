"""What an intervention or a corpus audit found, and the folder that holds it.

The folder of an intervention is next to the runs, that of a corpus audit within its run's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.core.output_folders import write_folder
from attnaudit.results.checksums import check_files, read_mark, write_mark
from attnaudit.results.store import versions
from attnaudit.results.table_schema import read_parquet

if TYPE_CHECKING:
    from attnaudit.audits.corpus import CorpusFindings


class Kind(Enum):
    """What made the findings: which file completes their folder, and which holds the detail."""

    INTERVENTION = ("intervention.json", "examples.parquet")
    CORPUS_AUDIT = ("corpus_audit.json", "detail.parquet")

    def __init__(self, mark: str, detail: str) -> None:
        self.mark = mark
        self.detail = detail


@dataclass(frozen=True, eq=False)
class Findings:
    """What an intervention or a corpus audit found.

    Attributes
    ----------
    name : of the intervention or the corpus audit.
    question : what it asks.
    summary : one line per model, setting or metric, with intervals.
    detail : the numbers behind it: one line per example and pair of models, or per rank.
    runs : the runs that were compared.
    answer : the question answered in words; empty if the version that wrote it stored none.
    notes : settings of a corpus audit.
    kind : what made them.
    folder : where they were read from; None if they were not.

    Examples
    --------
    >>> summary = pd.DataFrame({"metric": ["accuracy"], "difference": [0.25]})
    >>> findings = Findings("uniform", "Is attention needed?", summary, pd.DataFrame())
    >>> print(findings)
    Is attention needed?
      metric  difference
    accuracy       0.250
    """

    name: str
    question: str
    summary: pd.DataFrame
    detail: pd.DataFrame
    runs: tuple[Path, ...] = ()
    answer: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    kind: Kind = Kind.INTERVENTION
    folder: Path | None = None

    @classmethod
    def of_corpus_audit(cls, result: CorpusFindings) -> Findings:
        """Wrap what a corpus audit returned."""
        return cls(
            result.name,
            result.question,
            result.summary,
            result.detail,
            notes=result.notes,
            kind=Kind.CORPUS_AUDIT,
        )

    @property
    def title(self) -> str:
        """The name of their folder, if they were read from one."""
        return self.name if self.folder is None else self.folder.name

    def save(self, folder: Path) -> Path:
        """Write to a folder, complete or not at all; replaces the same findings of the same runs.

        `read_findings` reads it back.
        """
        return write_folder(folder, self._write, replace=True)

    def _write(self, folder: Path) -> None:
        self.summary.to_parquet(folder / "summary.parquet", index=False)
        self.detail.to_parquet(folder / self.kind.detail, index=False)
        about: dict[str, Any] = {"name": self.name, "question": self.question}
        if self.kind is Kind.INTERVENTION:
            about |= {"answer": self.answer, "runs": [run.name for run in self.runs]}
        else:
            about["notes"] = self.notes
        write_mark(folder / self.kind.mark, {**about, "versions": versions()})

    def __str__(self) -> str:
        if self.kind is Kind.CORPUS_AUDIT:
            summary, detail = (
                frame.to_string(index=False, float_format="{:.3f}".format, max_rows=most)
                for frame, most in ((self.summary, None), (self.detail, 20))
            )
            return f"{self.question}\n{summary}\n\n{detail}"
        table = self.summary.to_string(index=False, float_format=_short)
        return f"{self.question}\n{table}" + (f"\n\n{self.answer}" if self.answer else "")


def read_findings(folder: Path) -> Findings:
    """Read the findings that `Findings.save` wrote.

    Parameters
    ----------
    folder : of an intervention or of a corpus audit.

    Returns
    -------
    Findings

    Raises
    ------
    InputError
        If the folder holds no findings, or damaged ones.
    """
    kind = next((kind for kind in Kind if (folder / kind.mark).is_file()), None)
    if kind is None:
        marks = " or ".join(kind.mark for kind in Kind)
        raise InputError(
            f"{folder} holds no findings: there is no {marks}. Give a folder that `attnaudit run "
            "--intervention` or `attnaudit corpus-audit` has written."
        )
    about = read_mark(folder / kind.mark)
    if not all(isinstance(about.get(key), str) for key in ("name", "question")):
        raise InputError(
            f"{folder / kind.mark} is damaged: it does not say what was found. "
            "Make the findings again."
        )
    tables = ("summary.parquet", kind.detail)
    check_files(folder, about, tables)
    summary, detail = (read_parquet(folder / name) for name in tables)
    return Findings(
        about["name"],
        about["question"],
        summary,
        detail,
        tuple(folder.parent / str(name) for name in about.get("runs", ())),
        str(about.get("answer", "")),
        about.get("notes", {}),
        kind,
        folder,
    )


def find_corpus_audit(run: Path, name: str) -> Findings | None:
    """The first findings of the corpus audit `name` in a run's folder, or None."""
    for place in sorted(run.glob(f"{name}*")):
        if (place / Kind.CORPUS_AUDIT.mark).is_file():
            return read_findings(place)
    return None


def _short(value: float) -> str:
    """Three decimals; small settings such as lam = 0.0005 as they are."""
    return f"{value:g}" if 0 < abs(value) < 0.002 else f"{value:.3f}"
