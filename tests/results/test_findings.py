"""Findings of interventions and of corpus audits have one class and one reader."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from attnaudit.audits.corpus import CorpusFindings
from attnaudit.core.errors import InputError
from attnaudit.results.findings import Findings, Kind, find_corpus_audit, read_findings

SUMMARY = pd.DataFrame({"metric": ["weighted_tau"], "value": [0.8125], "lam": [0.0005]})
DETAIL = pd.DataFrame({"rank": [1, 2], "mi": [0.25, 0.125]})
OF_INTERVENTION = Findings("seeds", "How far apart?", SUMMARY, DETAIL, (Path("a"),), "Not far.")
OF_CORPUS_AUDIT = Findings.of_corpus_audit(
    CorpusFindings("mutual_information", "Does it inform?", SUMMARY, DETAIL, {"k": 2})
)


@pytest.mark.parametrize("findings", [OF_INTERVENTION, OF_CORPUS_AUDIT], ids=["runs", "corpus"])
def test_findings_are_read_as_they_were_saved(findings: Findings, tmp_path: Path) -> None:
    folder = findings.save(tmp_path / "found")
    back = read_findings(folder)
    pd.testing.assert_frame_equal(back.summary, findings.summary)
    pd.testing.assert_frame_equal(back.detail, findings.detail)
    assert (back.name, back.question, back.answer) == (
        findings.name,
        findings.question,
        findings.answer,
    )
    assert (back.kind, back.notes) == (findings.kind, findings.notes)
    assert [run.name for run in back.runs] == [run.name for run in findings.runs]
    assert str(back) == str(findings)
    assert (back.title, findings.title) == ("found", findings.name)


def test_each_kind_keeps_its_file_names(tmp_path: Path) -> None:
    names = {"summary.parquet", "examples.parquet", "intervention.json"}
    assert {path.name for path in OF_INTERVENTION.save(tmp_path / "a").iterdir()} == names
    names = {"summary.parquet", "detail.parquet", "corpus_audit.json"}
    assert {path.name for path in OF_CORPUS_AUDIT.save(tmp_path / "b").iterdir()} == names


def test_only_a_corpus_audit_prints_its_detail() -> None:
    assert "0.0005" in str(OF_INTERVENTION)
    assert str(OF_INTERVENTION).endswith("Not far.")
    assert "rank" not in str(OF_INTERVENTION)
    assert "rank" in str(OF_CORPUS_AUDIT)


def test_a_folder_without_findings_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no findings"):
        read_findings(tmp_path)


def test_findings_that_do_not_say_what_was_found_are_rejected(tmp_path: Path) -> None:
    folder = OF_INTERVENTION.save(tmp_path / "found")
    (folder / Kind.INTERVENTION.mark).write_text(json.dumps({"name": "seeds"}))
    with pytest.raises(InputError, match="does not say what was found"):
        read_findings(folder)


def test_the_corpus_audit_of_a_run_is_found_by_name(tmp_path: Path) -> None:
    assert find_corpus_audit(tmp_path, "mutual_information") is None
    OF_CORPUS_AUDIT.save(tmp_path / "mutual_information-seed_0")
    found = find_corpus_audit(tmp_path, "mutual_information")
    assert found is not None
    assert found.title == "mutual_information-seed_0"
    assert find_corpus_audit(tmp_path, "other") is None
