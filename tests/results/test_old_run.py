"""Results of an earlier version can still be loaded, reported, compared, gated and tabulated."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

import attnaudit
from attnaudit.cli import app
from attnaudit.results.findings import Kind, find_corpus_audit, read_findings
from attnaudit.results.store import find_runs, load_results

STORED = Path(__file__).parent / "old_run"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A copy, since some commands write next to what they read."""
    return Path(shutil.copytree(STORED, tmp_path / "old_run"))


@pytest.fixture
def run(runs: Path) -> Path:
    return next(folder for folder in find_runs([runs]) if "-softmax-" in folder.name)


def call(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_both_runs_load_with_the_answers_they_were_stored_with(runs: Path) -> None:
    folders = find_runs([runs])
    assert len(folders) == 2
    for folder in folders:
        stored = json.loads((folder / "card.json").read_text(encoding="utf-8"))
        card = load_results(folder).card()
        assert card.rules == 1
        assert card.verdict == stored["verdict"]
        assert "rules of an earlier version" in card.cautions[0]
        assert [answer.answer for answer in card.answers] == [
            question["answer"] for question in stored["questions"]
        ]
        assert [answer.question for answer in card.answers] == [
            question["question"] for question in stored["questions"]
        ]


def test_the_model_loads_too(run: Path) -> None:
    loaded = attnaudit.load(run)
    assert len(loaded.results.examples) == 12
    assert not math.isnan(loaded.results.mean("agreement", "tau", "gradient"))


def test_findings_of_both_kinds_are_read(runs: Path, run: Path) -> None:
    (intervention,) = runs.glob("uniform-*")
    found = read_findings(intervention)
    assert (found.name, found.kind, found.answer) == ("uniform", Kind.INTERVENTION, "")
    assert set(found.runs) == set(find_runs([runs]))
    assert "accuracy" in str(found)
    corpus = find_corpus_audit(run, "mutual_information")
    assert corpus is not None
    assert corpus.notes["clusters"] == "3"


def test_every_command_over_finished_runs_reads_them(runs: Path, run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    call("report", runs, "--out", page)
    text = page.read_text(encoding="utf-8")
    assert "Does the model do worse when it is trained with uniform attention?" in text
    assert "weighted_tau" in text
    assert "does it matter?" in call("compare", *find_runs([runs]))
    assert "The gate is open" in call("gate", run, "--fail-if", "stable=no")
    assert "kept no checksums" in call("verify", runs)
    call("tables", runs, "--out", tmp_path / "tables", "--format", "csv")
    assert (tmp_path / "tables" / "runs.csv").is_file()
