"""What an intervention found, stored in its own folder next to the runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.core.output_folders import write_folder
from attnaudit.results import store

DONE = "intervention.json"


@dataclass(frozen=True)
class Findings:
    """The findings of an intervention.

    summary: one line per model or setting, with intervals. examples: one line per example and
    pair, for figures. answer: the question answered in words; empty in findings of earlier
    versions.
    """

    name: str
    question: str
    summary: pd.DataFrame
    examples: pd.DataFrame
    runs: tuple[Path, ...]
    answer: str = ""

    def save(self, folder: Path) -> Path:
        """Write the findings, complete or not at all; replaces those of the same comparison."""
        return write_folder(folder, self._write, replace=True)

    def _write(self, folder: Path) -> None:
        self.summary.to_parquet(folder / "summary.parquet", index=False)
        self.examples.to_parquet(folder / "examples.parquet", index=False)
        about: dict[str, Any] = {
            "name": self.name,
            "question": self.question,
            "answer": self.answer,
            "runs": [run.name for run in self.runs],
            "versions": store.versions(),
        }
        store.write_mark(folder / DONE, about)

    def __str__(self) -> str:
        table = self.summary.to_string(index=False, float_format=_short)
        return f"{self.question}\n{table}" + (f"\n\n{self.answer}" if self.answer else "")


def _short(value: float) -> str:
    """Three decimals, but small settings such as lam = 0.0005 in full."""
    return f"{value:g}" if 0 < abs(value) < 0.002 else f"{value:.3f}"


def read_findings(folder: Path) -> Findings:
    """Read back what `Findings.save` wrote."""
    about, summary, examples = store.read_findings(folder, DONE, "examples")
    runs = tuple(folder.parent / str(name) for name in about.get("runs", ()))
    return Findings(
        about["name"], about["question"], summary, examples, runs, str(about.get("answer", ""))
    )


Intervention = Callable[..., Findings]
