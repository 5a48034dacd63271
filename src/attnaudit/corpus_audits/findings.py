"""What a corpus audit found, and where it is kept: a folder in the run's own, complete or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit import store

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
        with store.draft(folder) as working:
            self.summary.to_parquet(working / "summary.parquet", index=False)
            self.detail.to_parquet(working / "detail.parquet", index=False)
            about = {"name": self.name, "question": self.question, "notes": self.notes}
            store.write_json(working / DONE, {**about, "versions": store.versions()})
        return folder

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
    about = json.loads((folder / DONE).read_text(encoding="utf-8"))
    frames = [pd.read_parquet(folder / f"{name}.parquet") for name in ("summary", "detail")]
    return CorpusFindings(about["name"], about["question"], frames[0], frames[1], about["notes"])
