"""What an intervention found, and where it is kept: a folder of its own next to the runs, complete or not at all."""

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
    """summary: one line per model or setting, with intervals. examples: one line per example and pair, for figures."""

    name: str
    question: str
    summary: pd.DataFrame
    examples: pd.DataFrame
    runs: tuple[Path, ...]
    answer: str = ""  # the question answered in words, from the summary; empty in findings of before answers were kept

    def save(self, folder: Path) -> Path:
        return write_folder(
            folder, self._write, replace=True
        )  # the same comparison of the same runs

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
    """Three decimals, and small settings such as lam = 0.0005 as they are."""
    return f"{value:g}" if 0 < abs(value) < 0.002 else f"{value:.3f}"


def read_findings(folder: Path) -> Findings:
    about, summary, examples = store.read_findings(folder, DONE, "examples")
    runs = tuple(folder.parent / str(name) for name in about.get("runs", ()))
    return Findings(
        about["name"], about["question"], summary, examples, runs, str(about.get("answer", ""))
    )


Intervention = Callable[..., Findings]
