"""Where the findings of a corpus audit are kept: a folder in the run's own, complete or not at all."""

from __future__ import annotations

from pathlib import Path

from attnaudit.audits.corpus.findings import CorpusFindings
from attnaudit.core.output_folders import write_folder
from attnaudit.results import store

DONE = "corpus_audit.json"


def save_corpus_findings(findings: CorpusFindings, folder: Path) -> Path:
    """Replace what the same audit found of the same run before."""

    def write(draft: Path) -> None:
        findings.summary.to_parquet(draft / "summary.parquet", index=False)
        findings.detail.to_parquet(draft / "detail.parquet", index=False)
        about = {"name": findings.name, "question": findings.question, "notes": findings.notes}
        store.write_mark(draft / DONE, {**about, "versions": store.versions()})

    return write_folder(folder, write, replace=True)


def read_corpus_findings(folder: Path) -> CorpusFindings:
    about, summary, detail = store.read_findings(folder, DONE, "detail")
    return CorpusFindings(about["name"], about["question"], summary, detail, about.get("notes", {}))
