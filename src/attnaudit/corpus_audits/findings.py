"""What a corpus audit found, and where it is kept: a folder in the run's own, complete or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit import store
from attnaudit.core.output_folders import write_folder

DONE = "corpus_audit.json"


@dataclass(frozen=True)
class CorpusFindings:
    """summary: one line a metric (metric, value, low, high, floor, ceiling). detail: the numbers behind it."""

    name: str
    question: str
    summary: pd.DataFrame
    detail: pd.DataFrame
    notes: dict[str, Any]

    def save(self, folder: Path) -> Path:
        return write_folder(folder, self._write, replace=True)  # the same question of the same run

    def _write(self, folder: Path) -> None:
        self.summary.to_parquet(folder / "summary.parquet", index=False)
        self.detail.to_parquet(folder / "detail.parquet", index=False)
        about = {"name": self.name, "question": self.question, "notes": self.notes}
        store.write_mark(folder / DONE, {**about, "versions": store.versions()})

    def __str__(self) -> str:
        return "\n".join(
            [
                self.question,
                self.summary.to_string(index=False, float_format="{:.3f}".format),
                "",
                self.detail.to_string(index=False, float_format="{:.3f}".format, max_rows=20),
            ]
        )


def read_corpus_findings(folder: Path) -> CorpusFindings:
    about, summary, detail = store.read_findings(folder, DONE, "detail")
    return CorpusFindings(about["name"], about["question"], summary, detail, about.get("notes", {}))
