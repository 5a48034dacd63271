"""`attnaudit cite` and `attnaudit audit --task lm`: what is written, printed and rejected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tiny_transformers as tiny
from attnaudit.cli import app
from attnaudit.core.errors import InputError
from attnaudit.results.store import load_results
from tiny_generation import tiny_generator

pytestmark = pytest.mark.filterwarnings("ignore")
EVIL = "<script>alert(1)</script> the film was good"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama as save_pretrained leaves it."""
    made = tmp_path_factory.mktemp("model")
    model = tiny_generator("llama")
    model.model.save_pretrained(made)
    model.tokenizer.save_pretrained(made)
    return made


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [
        {
            "passages": [EVIL, "a dull one"],
            "question": "was it good",
            "answer": "good",
            "gold": [0],
        },
        {"passages": ["it was bad", "not at all", "we"], "question": "was it", "answer": "bad"},
        {"question": "no sources"},
    ]
    path = tmp_path / "qa.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0
    return result.output


def test_cite_prints_the_card_and_writes_a_page(folder: Path, questions: Path) -> None:
    out = questions.parent / "out"
    said = run("cite", folder, "--data", questions, "--sources", "passages", "--skip-bad",
               "--out", out)  # fmt: skip
    assert "does attention point at the source it uses?" in said
    assert "1 row was skipped" in said
    results = load_results(out)
    assert results.about["texts"]["audited"] == 2
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert r"\u003cscript\u003ealert(1)" in page
    assert "May I show this model’s attention as the source of an answer?" in page


def test_cite_audits_sources_and_words_and_leaves_a_log(folder: Path, questions: Path) -> None:
    out = questions.parent / "out"
    said = run("cite", folder, "--data", questions, "--sources", "passages", "--skip-bad",
               "--items", "both", "--word-measures", "leave_one_out", "--out", out)  # fmt: skip
    assert "does attention point at the source it uses?" in said
    assert "does attention point at the words it uses?" in said
    results = load_results(out)
    assert results.about["word_measures"] == ["attention", "leave_one_out"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "The same of the words inside the sources" in page
    assert "<script>alert(1)" not in page
    log = (out / "run.log").read_text(encoding="utf-8")
    assert log.startswith(f"citations of {folder.name} on qa.jsonl\n")
    assert '  items = "both"' in log
    assert [line.split(":")[0] for line in log.splitlines()[-3:]] == [
        "loading the model",
        "answers and heads",
        "audit",
    ]
    assert str(questions.parent) not in log
    for wrong in ("--word-measures", "leave_one_out"), ("--audits", "top_word"):
        with pytest.raises(InputError, match='items="both"'):
            run("cite", folder, "--data", questions, *wrong, "--out", out / "other")
    with pytest.raises(InputError, match='"sources", "words" or "both", got \'all\''):
        run("cite", folder, "--data", questions, "--sources", "passages", "--skip-bad",
            "--items", "all", "--out", questions.parent / "other")  # fmt: skip


def test_wrong_questions_and_models_are_rejected(folder: Path, questions: Path) -> None:
    out = questions.parent / "out"
    with pytest.raises(InputError, match=r"qa\.jsonl, line 1: there is no 'sources'"):
        run("cite", folder, "--data", questions, "--out", out)
    with pytest.raises(InputError, match="There is no measure"):
        run("cite", folder, "--data", questions, "--measures", "nonsense", "--out", out)
    classifier = questions.parent / "bert"
    model, tokenizer = tiny.tiny("bert")
    model.float().save_pretrained(classifier)
    tokenizer.save_pretrained(classifier)
    with pytest.raises(InputError, match="does not generate text"):
        run("cite", classifier, "--data", questions, "--sources", "passages", "--skip-bad",
            "--out", out)  # fmt: skip


def test_a_language_model_is_audited_as_a_choice_among_words(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text,label\nthe film was a,yes\nit was not a,no\n", encoding="utf-8")
    fast = ("--audits", "uniform_attention", "--measures", "random")
    out = tmp_path / "out"
    said = run("audit", folder, "--data", path, "--task", "lm", "--verbalisers", "yes=a,no=it",
               "--out", out, *fast)  # fmt: skip
    assert "LlamaForCausalLM" in said
    results = load_results(out)
    assert results.about["classes"] == ["yes", "no"]
    assert (results.about["model"]["task"], results.about["texts"]["labelled"]) == ("lm", True)
    with pytest.raises(InputError, match="give two or more, for example --verbalisers good,bad"):
        run("audit", folder, "--data", path, "--task", "lm", "--out", tmp_path / "other", *fast)
    with pytest.raises(InputError, match="--task lm --verbalisers good,bad"):
        run("audit", folder, "--data", path, "--out", tmp_path / "other", *fast)
