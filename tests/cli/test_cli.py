"""The command line as a user meets it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from attnaudit.cli import main
from attnaudit.cli.choices import split

SMALL = "keyword:train=300,dev=60,test=40,length=8,jitter=2,distractors=1"
QUICK = ["--encoder", "bilstm:hidden=8", "--embedding", "8", "--epochs", "1"]


class Done(NamedTuple):
    returncode: object
    stdout: str
    stderr: str


@pytest.fixture
def attnaudit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """The command in this process (starting one costs seconds), in an empty folder, with no data folder set."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATTNAUDIT_DATA", raising=False)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "path", list(sys.path))

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["attnaudit", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return call


def test_run_prints_the_card_and_leaves_a_report(
    attnaudit: Callable[..., Done], tmp_path: Path
) -> None:
    done = attnaudit("run", "--dataset", SMALL, *QUICK)
    assert done.returncode == 0, done.stderr
    for question in (
        "needed?",
        "does it matter?",
        "does it point at what matters?",
        "is it the only story?",
        "is it stable?",
    ):
        assert question in done.stdout
    (page,) = tmp_path.glob("runs/*/report.html")
    assert str(page.relative_to(tmp_path)) in done.stdout
    assert "Traceback" not in done.stderr
    one_page = attnaudit("report", "runs", "--out", "all.html")
    assert one_page.returncode == 0
    assert "May I show this model" in (tmp_path / "all.html").read_text()
    checked = attnaudit("check", str(page.parent))
    assert checked.returncode == 0, checked.stdout
    assert "All laws are kept" in checked.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["check", "--help"]])
def test_help_teaches(attnaudit: Callable[..., Done], arguments: list[str]) -> None:
    done = attnaudit(*arguments)
    assert done.returncode == 0
    assert "Usage" in done.stdout


def test_list_names_every_choice_with_what_it_is(attnaudit: Callable[..., Done]) -> None:
    done = attnaudit("list")
    assert done.returncode == 0
    for expected in ("babi", "bilstm", "additive", "softmax", "leave_one_out", "furthest"):
        (line,) = [line for line in done.stdout.splitlines() if line.split()[:1] == [expected]]
        assert len(line.split()) > 3, line


@pytest.mark.parametrize("kind", ["oracle", "shifted"])
def test_check_keeps_glass_models(attnaudit: Callable[..., Done], kind: str) -> None:
    assert attnaudit("check", f"glass:{kind}").returncode == 0


def test_check_reports_a_broken_model_with_exit_code_1(
    attnaudit: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(
        "from attnaudit.models.glass import Glass, glass_batch\n"
        "class Deaf(Glass):\n"
        "    def decode(self, record, alpha):\n"
        "        return super().decode(record, alpha * 0 + record.alpha / 2)\n"
        "def made():\n"
        "    return Deaf('oracle'), glass_batch()\n"
    )
    done = attnaudit("check", "mine:made")
    assert done.returncode == 1
    assert "broken       1 round trip" in done.stdout
    assert "likely cause" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["run", "--dataset", "bab"],
            "There is no dataset 'bab'. Did you mean 'babi'. Choose from: .*babi, .*keyword, .*sst",
        ),
        (
            ["run", "--dataset", SMALL, "--encoder", "lstm"],
            "There is no encoder 'lstm'.*Choose from: bilstm",
        ),
        (
            ["run", "--dataset", SMALL, "--audits", "permutations"],
            "There is no audit 'permutations'",
        ),
        (
            ["run", "--dataset", "sst"],
            "data get sst. downloads it.*in the environment variable ATTNAUDIT_DATA",
        ),
        (["run", "--dataset", SMALL, "--epochs", "0"], "epochs must be above 0"),
        (["run", "--dataset", SMALL, "--vectors", "nowhere.txt"], "nowhere.txt"),
        (["report", "nowhere"], "There is no directory nowhere"),
        (["run", "--dataset", SMALL, "--device", "cuda"], "There is no CUDA device here"),
        (
            ["run", "--dataset", SMALL, "--encoder", "bilstm:hiden=3"],
            "has no option .hiden.. Choose from: hidden",
        ),
        (["run", "--dataset", SMALL, "--intervention", "seed"], "There is no intervention .seed."),
        (["run", "--dataset", SMALL, "--preset", "jain"], "There is no preset .jain."),
        (["check", "nowhere"], "is no run directory"),
        (["check", "glass:milk"], "There is no glass model 'milk'"),
        (["check", "json:dumps"], "cannot be called without arguments"),
    ],
)
def test_mistakes_are_told_in_words_without_a_traceback(
    attnaudit: Callable[..., Done], arguments: list[str], text: str, tmp_path: Path
) -> None:
    done = attnaudit(*arguments)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert re.search(text, done.stderr), done.stderr
    assert not list(tmp_path.glob("runs/*/run.json"))


def test_commas_between_audits_and_between_options() -> None:
    assert split("furthest:epsilon=0.05,fidelity=code,permutation") == [
        "furthest:epsilon=0.05,fidelity=code",
        "permutation",
    ]


def test_the_installed_command_answers_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Also: an error a user can put right has no traceback there either."""
    command = [sys.executable, "-m", "attnaudit"]
    assert (
        "Usage"
        in subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
    )
    wrong = subprocess.run(
        [*command, "report", "nowhere"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("attnaudit: There is no directory nowhere")
    assert "Traceback" not in wrong.stderr


def test_check_does_not_say_kept_of_what_could_not_be_tried(attnaudit: Callable[..., Done]) -> None:
    done = attnaudit("check", "glass:inert")
    assert done.returncode == 0
    assert "No law is broken; some could not be checked" in done.stdout
    assert "All laws are kept" not in done.stdout
