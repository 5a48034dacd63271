"""What CI and trackers read: JUnit, Markdown, flat metrics, model cards, and assert_card."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from attnaudit import InputError, Results, audit
from attnaudit.cli import app
from attnaudit.core.errors import OutputError
from attnaudit.models import Glass, glass_batch
from attnaudit.testing import assert_card

CONDITIONS = "matters=no; points!=yes; permutation/tvd_median<0.05"


@cache
def inert() -> Results:
    audits = ["permutation", "top_words", "polarity", "furthest"]
    return audit(
        Glass("inert"),
        glass_batch(),
        audits=audits,
        explanations=["leave_one_out"],
        show_progress=False,
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return inert().save(tmp_path / "run")


def test_every_condition_is_a_test_case(run: Path, tmp_path: Path) -> None:
    junit, summary = tmp_path / "junit.xml", tmp_path / "summary.md"
    given = ["gate", str(run), "--fail-if", CONDITIONS]
    ran = CliRunner().invoke(app, [*given, "--junit", str(junit), "--summary", str(summary)])
    assert ran.exit_code == 3
    suite = ElementTree.fromstring(junit.read_text(encoding="utf-8"))
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    cases = {case.get("name"): case.find("failure") for case in suite.iter("testcase")}
    assert cases["not points!=yes"] is None
    failure = cases["not matters=no"]
    assert failure is not None
    assert failure.get("message") == "matters=no: the card says 'no'"
    text = summary.read_text(encoding="utf-8")
    assert "gate closed" in text
    assert "| `matters=no` | the card says 'no' | ❌ |" in text
    assert "| does it matter? | ❌ no |" in text


def test_an_open_gate_adds_to_the_summary_and_has_no_failures(run: Path, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n", encoding="utf-8")
    given = ["gate", str(run), "--fail-if", "points=no", "--summary", str(summary)]
    assert CliRunner().invoke(app, given).exit_code == 0
    assert summary.read_text(encoding="utf-8").startswith(
        "before\n## Attention audit of run: gate open"
    )


def test_metrics_are_flat_and_those_of_the_card_and_the_unknown_is_counted() -> None:
    metrics = inert().metrics()
    assert all(isinstance(value, float) for value in metrics.values())
    assert metrics["unknown"] == sum(map(math.isnan, metrics.values())) > 0
    assert metrics["answer/matters"] == metrics["verdict"] == 0
    assert metrics["permutation/tvd_median"] == inert().mean("permutation", "tvd_median")
    assert metrics["explanation/leave_one_out/passed"] >= 3
    assert math.isnan(metrics["answer/stable"])  # cannot tell


def test_mlflow_takes_the_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow-skinny is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    with mlflow.start_run() as run:
        mlflow.log_metrics(inert().metrics())
        mlflow.log_text(str(inert().card()), "attention_card.txt")
    stored = mlflow.get_run(run.info.run_id).data.metrics
    assert stored == pytest.approx(inert().metrics(), nan_ok=True)


def test_a_model_card_is_parsed_by_hugging_face(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub")
    card = hub.ModelCard(inert().to_model_card())
    (result,) = [each for each in card.data.eval_results if each.metric_type == "accuracy"]
    assert result.metric_value == 1.0
    (verdict,) = [
        each for each in card.data.eval_results if each.metric_type == "attention_as_explanation"
    ]
    assert verdict.metric_value == "no"
    assert "## May its attention be shown as an explanation?" in card.text
    card.save(tmp_path / "README.md")
    assert hub.ModelCard.load(tmp_path / "README.md").data.eval_results


def test_assert_card_passes_or_says_what_differs() -> None:
    assert_card(inert(), matters="no", points=("yes", "partly"), verdict="no")
    with pytest.raises(
        AssertionError, match="matters is 'no', expected yes: shuffling the weights"
    ):
        assert_card(inert(), matters="yes")
    with pytest.raises(AssertionError, match="plausible is '–', expected yes"):
        assert_card(
            audit(Glass("oracle"), glass_batch(4), audits=["permutation"], show_progress=False),
            plausible="yes",
        )
    with pytest.raises(InputError, match="assert_card takes verdict, needed"):
        assert_card(inert(), points="maybe")


def test_a_summary_needs_a_regular_file(run: Path, tmp_path: Path) -> None:
    given = ["gate", str(run), "--fail-if", "points=no", "--summary", str(tmp_path)]
    assert isinstance(CliRunner().invoke(app, given).exception, InputError)
    missing = str(tmp_path / "nowhere" / "summary.md")
    assert isinstance(CliRunner().invoke(app, [*given[:-1], missing]).exception, OutputError)
