"""A process that is killed between its results and the removal of its parts leaves nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from attnaudit import audit
from attnaudit.auditing.jobs.leftovers import remove_leftovers
from attnaudit.auditing.jobs.run_job import parts_folder
from attnaudit.core import temporary
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.training import run
from tiny_grids import DATASET, tables

CHEAP: dict[str, Any] = {"audits": ["uniform_attention"], "measures": ["random"]}


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it is done."""


def killed(_: object) -> None:
    raise Killed


@pytest.fixture
def leftover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Complete results whose parts were not removed."""
    out = tmp_path / "results"
    with monkeypatch.context() as patch:
        patch.setattr("attnaudit.auditing.audit.finish", killed)
        with pytest.raises(Killed):
            audit(Glass("oracle"), glass_batch(8), out=out, show_progress=False, **CHEAP)
    assert list(parts_folder(out).rglob("*.parquet"))
    return out


def test_the_same_audit_removes_them_and_says_that_it_is_done(leftover: Path) -> None:
    values = (leftover / "values.parquet").read_bytes()
    with pytest.raises(InputError, match="holds results already"):
        audit(Glass("oracle"), glass_batch(8), out=leftover, show_progress=False, **CHEAP)
    assert not parts_folder(leftover).exists()
    assert (leftover / "values.parquet").read_bytes() == values


def test_the_same_run_removes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choices: dict[str, Any] = {"encoder": "average", "epochs": 1, "show_progress": False}
    with monkeypatch.context() as patch:
        patch.setattr("attnaudit.training.runner.finish", killed)
        with pytest.raises(Killed):
            run(DATASET, out=tmp_path, **choices, **CHEAP)
    before = tables(tmp_path)
    (left,) = tmp_path.glob("*.parts")
    assert run(DATASET, out=tmp_path, **choices, **CHEAP).was_complete
    assert not left.exists()
    assert tables(tmp_path) == before


def test_parts_of_later_or_other_work_are_left(leftover: Path) -> None:
    parts = parts_folder(leftover)
    files = sorted(path for path in parts.rglob("*") if path.is_file())
    later = (leftover / "run.json").stat().st_mtime_ns + 1
    copy = shutil.copytree(parts, parts.with_name("copy"))
    os.utime(files[-1], ns=(later, later))  # an interrupted --force
    remove_leftovers(leftover)
    assert sorted(path for path in parts.rglob("*") if path.is_file()) == files
    shutil.rmtree(parts)
    shutil.copytree(copy, parts)
    with temporary.held_at_once(parts) as is_ours:  # another process is at work
        assert is_ours
        remove_leftovers(leftover)
    assert sorted(path for path in parts.rglob("*") if path.is_file()) == files
    foreign = parts / "notes.txt"
    foreign.write_text("of the user")
    os.utime(foreign, ns=(0, 0))
    remove_leftovers(leftover)
    assert sorted(path for path in parts.rglob("*") if path.is_file()) == sorted([*files, foreign])
    foreign.unlink()
    remove_leftovers(leftover)
    assert not parts.exists()
