"""The command line as a user types it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

import attnaudit as attnaudit_package
from attnaudit.cli import app, main
from attnaudit.papers import make_lesson

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
    """The command, run in this process in an empty folder and without a data folder."""
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
        "does it point at what the model uses?",
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


COMMANDS = sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("across", "data")])
def test_the_help_of_every_command_has_an_example(
    attnaudit: Callable[..., Done], command: str
) -> None:
    done = attnaudit(command, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout
    assert f"Example: attnaudit {command}" in " ".join(done.stdout.split())


def test_help_imports_no_library_that_computes() -> None:
    """Counted, not timed: torch, pandas and transformers alone take seconds."""
    code = f"""
import sys
from attnaudit.cli import app
from typer.testing import CliRunner
for arguments in [["--help"], *([command, "--help"] for command in {COMMANDS!r})]:
    assert CliRunner().invoke(app, arguments).exit_code == 0, arguments
heavy = {{"torch", "pandas", "numpy", "transformers", "sklearn", "matplotlib"}} & set(sys.modules)
sys.exit(", ".join(heavy) or 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_help_does_not_show_old_names(attnaudit: Callable[..., Done]) -> None:
    assert "│ across" not in attnaudit("--help").stdout
    shown = attnaudit("run", "--help").stdout
    assert "--target-score" in shown
    assert "--keep-examples" in shown
    assert "--good-enough" not in shown
    assert "--illustrated" not in shown


def test_old_names_of_options_work_and_say_what_is_new(
    attnaudit: Callable[..., Done], tmp_path: Path
) -> None:
    quick = ["run", "--dataset", SMALL, *QUICK, "--audits", "permutation", "--measures", "random"]
    new = attnaudit(*quick, "--target-score", "0.1", "--keep-examples", "3")
    assert new.returncode == 0, new.stderr
    assert "deprecated" not in new.stderr
    old = attnaudit(*quick, "--good-enough", "0.1", "--illustrated", "3")
    assert old.returncode == 0, old.stderr
    assert "This run is already complete" in old.stdout
    for option, name in (("--good-enough", "--target-score"), ("--illustrated", "--keep-examples")):
        (line,) = [line for line in old.stderr.splitlines() if option in line]
        assert "is deprecated" in line
        assert line.endswith(f"Use {name}.")
    both = attnaudit(*quick, "--good-enough", "0.1", "--target-score", "0.2")
    assert both.returncode == 2
    assert "give only --target-score" in both.stderr
    assert len(list(tmp_path.glob("runs/*/run.json"))) == 1


def test_across_is_correlate_and_says_so(attnaudit: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    new, old = (attnaudit(command, "nowhere") for command in ("correlate", "across"))
    assert new.returncode == old.returncode == 2
    notice, *rest = old.stderr.splitlines()
    assert "attnaudit across is deprecated" in notice
    assert notice.endswith("Use attnaudit correlate.")
    assert rest == new.stderr.splitlines()


def test_run_in_python_is_the_command(attnaudit: Callable[..., Done], tmp_path: Path) -> None:
    made = attnaudit_package.run(
        SMALL,
        out="runs",
        encoder="bilstm:hidden=8",
        embedding=8,
        epochs=1,
        audits=("permutation",),
        measures=("random",),
        show_progress=False,
    )
    assert not made.was_complete
    assert made.report.is_file()
    options = ["--dataset", SMALL, *QUICK, "--audits", "permutation", "--measures", "random"]
    done = attnaudit("run", *options)
    assert "This run is already complete" in done.stdout
    assert f"Run: {made.folder}" in done.stdout
    assert str(made.results.card()) in done.stdout
    verified = attnaudit("verify", "runs")
    assert verified.stdout == f"{made.folder}: {attnaudit_package.verify('runs')[0].state}\n"
    closed = attnaudit("gate", str(made.folder), "--fail-if", "permutation/tvd_median>=0")
    assert closed.returncode == 3
    (condition,) = attnaudit_package.gate(made.folder, "permutation/tvd_median>=0")
    assert condition in closed.stderr


def test_the_lesson_in_python_is_the_command(
    attnaudit: Callable[..., Done], tmp_path: Path
) -> None:
    assert attnaudit("lesson", "--out", "one.html").stdout == "Lesson: one.html\n"
    page = make_lesson(tmp_path / "two.html")
    assert page.read_bytes() == (tmp_path / "one.html").read_bytes()


def test_list_names_every_choice_with_what_it_is(attnaudit: Callable[..., Done]) -> None:
    done = attnaudit("list")
    assert done.returncode == 0
    for expected in ("babi", "bilstm", "additive", "softmax", "leave_one_out", "furthest"):
        lines = [line for line in done.stdout.splitlines() if line.split()[:1] == [expected]]
        assert lines, expected  # leave_one_out is a measure of words and one of sources
        assert all(len(line.split()) > 3 for line in lines), lines


@pytest.mark.parametrize("kind", ["oracle", "shifted"])
def test_check_keeps_glass_models(attnaudit: Callable[..., Done], kind: str) -> None:
    assert attnaudit("check", f"glass:{kind}").returncode == 0


def test_check_reports_a_broken_model_with_exit_code_1(
    attnaudit: Callable[..., Done], tmp_path: Path
) -> None:
    (tmp_path / "broken_model.py").write_text(
        "from attnaudit.models.glass import Glass, glass_batch\n"
        "class Deaf(Glass):\n"
        "    def decode(self, record, alpha):\n"
        "        return super().decode(record, alpha * 0 + record.alpha / 2)\n"
        "def made():\n"
        "    return Deaf('oracle'), glass_batch()\n"
    )
    done = attnaudit("check", "broken_model:made")
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
        (["check", "nowhere"], "is not a run directory"),
        (["check", "glass:milk"], "There is no glass model 'milk'"),
        (["check", "json:dumps"], "cannot be called without arguments"),
    ],
)
def test_mistakes_are_reported_in_words_without_a_traceback(
    attnaudit: Callable[..., Done], arguments: list[str], text: str, tmp_path: Path
) -> None:
    done = attnaudit(*arguments)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert re.search(text, done.stderr), done.stderr
    assert not list(tmp_path.glob("runs/*/run.json"))


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


def test_run_on_a_file_says_what_it_read(attnaudit: Callable[..., Done], tmp_path: Path) -> None:
    words = ("sun", "moon", "tree", "river", "stone", "cloud", "light")
    rows = [
        f"{'good' if number % 2 else 'bad'} {' '.join(three)};{'pos' if number % 2 else 'neg'}"
        for number, three in enumerate(permutations(words, 3))
    ]
    (tmp_path / "reviews.csv").write_text("\n".join(["review;stars", *rows]), encoding="utf-8")
    audits = ["--audits", "uniform_attention", "--measures", "random"]
    done = attnaudit("run", "--dataset", "reviews.csv", *QUICK, *audits)
    assert done.returncode == 0, done.stderr
    expected = "Read reviews.csv: text = review, label = stars; train 168, dev 21, test 21"
    assert done.stdout.splitlines()[0] == expected
    again = attnaudit("run", "--dataset", SMALL, *QUICK, *audits)
    assert "Read " not in again.stdout
