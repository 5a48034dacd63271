"""Exit codes, --quiet and --verbose."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from attnaudit.cli import main
from attnaudit.cli.exit_codes import ExitCode
from attnaudit.core.verbosity import Verbosity, set_verbosity
from attnaudit.training import runner

RUN = (
    *("run", "--dataset", "keyword:train=30,dev=10,test=12", "--encoder", "average"),
    *("--epochs", "1", "--audits", "uniform_attention", "--measures", "random"),
)


@pytest.fixture(autouse=True)
def _usual_verbosity() -> object:
    yield
    set_verbosity(Verbosity.NORMAL)


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["attnaudit", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_an_internal_error_has_its_own_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of our own making")

    monkeypatch.setattr(runner, "fit", broken)
    assert call(monkeypatch, *RUN, "--out", tmp_path) == ExitCode.INTERNAL == 70
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "ZeroDivisionError: of our own making" in said
    assert "this is an error in attnaudit" in said


def test_an_error_of_the_user_is_not_an_internal_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "status", tmp_path) == ExitCode.INPUT == 2
    assert "Traceback" not in capsys.readouterr().err


def test_quiet_and_verbose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, *RUN, "--out", tmp_path / "a", "--verbose") == 0
    said = capsys.readouterr()
    assert "attnaudit: training: " in said.err
    assert call(monkeypatch, *RUN, "--out", tmp_path / "b", "--quiet") == 0
    quiet = capsys.readouterr()
    assert quiet.err == ""
    assert quiet.out.replace("/b/", "/a/") == said.out  # the results are the same
    assert call(monkeypatch, *RUN, "--out", tmp_path / "c") == 0
    assert "training: " not in capsys.readouterr().err
    assert call(monkeypatch, *RUN, "--out", tmp_path / "d", "--quiet", "--verbose") == 2
    assert "contradict" in capsys.readouterr().err


def test_the_documentation_lists_every_exit_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "grid.md").read_text(encoding="utf-8")
    for code in (*ExitCode, 130, 143):
        assert f"| {int(code)} |" in page, code
