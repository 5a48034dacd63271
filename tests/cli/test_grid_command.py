"""`attnaudit grid` and `status` as a user runs them: killed, interrupted, twice at once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from attnaudit.core.tasks import Workers
from attnaudit.results import store
from attnaudit.results.checksums import verify_folder
from attnaudit.training import grid, status
from loaded_process import LoadedCommand, kill_group
from tiny_grids import DATASET, TINY, TINY_TOML, tables

ROOT = Path(__file__).parents[2]
Process = subprocess.Popen[str] | LoadedCommand
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([*sys.path, str(ROOT / "tests")]),
    "OMP_NUM_THREADS": "1",
    "COLUMNS": "200",
}


def begin(*arguments: str | Path) -> LoadedCommand:
    """The command in a process group of its own."""
    return LoadedCommand(*arguments, env=ENVIRONMENT)


def begin_in_new_interpreter(*arguments: str | Path) -> subprocess.Popen[str]:
    """The same, as a user begins it."""
    return subprocess.Popen(
        [sys.executable, "-m", "attnaudit", *map(str, arguments)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def call(
    *arguments: str | Path, begin: Callable[..., Process] = begin
) -> tuple[int | None, str, str]:
    """Exit code, standard output and standard error of the command."""
    process = begin(*arguments)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def wait_for(path: Path, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.05)


def stamps(out: Path) -> dict[str, int]:
    """Folder name -> when its values were written, of every finished run."""
    return {path.parent.name: path.stat().st_mtime_ns for path in out.glob("*/values.parquet")}


def slow_toml(folder: Path, seconds: float) -> str:
    """Four tiny cells, and a first one that is slow to read."""
    return TINY_TOML + (
        f'[[include]]\ndataset = "tiny_grids:slow:folder={folder},seconds={seconds}"\n'
        'encoder = "average"\nseed = 0\n'
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("undisturbed")
    grid(TINY, out, workers=Workers(threads=1), show_progress=False)
    return tables(out)


def test_a_grid_runs_and_says_so(tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    file, out = tmp_path / "grid.toml", tmp_path / "runs"
    file.write_text(TINY_TOML)
    words = ("grid", file, "--out", out, "--threads", "1")
    code, said, lines = call(*words, begin=begin_in_new_interpreter)
    assert (code, said) == (0, "4 cells: 4 done\n")
    assert "[1/4] done in" in lines
    assert "[4/4] done in" in lines
    assert tables(out) == undisturbed
    code, said, lines = call("grid", file, "--out", out, "--quiet")
    assert (code, said, lines) == (0, "4 cells: 4 done\n", "")
    code, said, _ = call("status", out, begin=begin_in_new_interpreter)
    assert code == 0
    assert said.startswith("4 cells: 4 done\n")
    assert "encoder mlp, seed 1" in said
    code, said, _ = call("verify", out, begin=begin_in_new_interpreter)
    assert code == 0
    assert said.count("whole (8 files)") == 4


def test_a_wrong_file_is_an_error_before_any_work(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    file.write_text('encoders = ["cnnn"]')
    code, said, lines = call("grid", file, "--out", tmp_path / "runs")
    assert (code, said) == (2, "")
    assert lines.startswith("attnaudit: grid.toml, line 1: encoders: There is no encoder 'cnnn'")
    assert not (tmp_path / "runs").exists()
    code, _, lines = call("status", tmp_path)
    assert code == 2
    assert "holds no grid" in lines


def test_failed_cells_have_their_exit_code(tmp_path: Path) -> None:
    file, out = tmp_path / "grid.toml", tmp_path / "runs"
    file.write_text(TINY_TOML + '[[include]]\ndataset = "tiny_grids:failing"\nseed = 0\n')
    code, said, lines = call("grid", file, "--out", out, "--quiet")
    assert code == 4
    assert said == "6 cells: 4 done, 2 failed\n"
    assert lines.count("InputError: The disk of this dataset is on fire.") == 2
    assert "--retry-failed" in lines
    assert call("status", out)[0] == 4
    code, said, _ = call("grid", file, "--out", out, "--dry-run")
    assert code == 0
    assert "2 failed" in said


def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    file, out = tmp_path / "grid.toml", tmp_path / "runs"
    file.write_text(slow_toml(tmp_path, 60))
    words = ("grid", file, "--out", out, "--workers", "2", "--threads", "1")
    process = begin_in_new_interpreter(*words)
    wait_for(tmp_path / "begun")
    time.sleep(0.5)
    seen = status(out)
    assert [cell.state for cell in seen.cells][4] == "running"
    os.killpg(process.pid, signal.SIGINT)
    _, lines = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "The same command goes on" in lines
    assert "Traceback" not in lines
    done = len(tables(out))
    assert f"interrupted: {done} of 5 cells are done" in lines
    after = [cell.state for cell in status(out).cells]
    assert after[4] in ("waiting", "interrupted")
    assert "running" not in after
    file.write_text(TINY_TOML)
    assert call("grid", file, "--out", out, "--threads", "1", "--quiet")[0] == 0
    assert tables(out) == undisturbed


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigkill_at_random_moments_loses_nothing_that_was_finished(
    tmp_path: Path, undisturbed: dict[str, bytes], workers: str
) -> None:
    file, out = tmp_path / "grid.toml", tmp_path / "runs"
    file.write_text(TINY_TOML)
    line = ("grid", file, "--out", out, "--workers", workers, "--threads", "1", "--quiet")
    draw = random.Random(7)
    finished: dict[str, int] = {}
    ends: list[int | None] = []
    for more in (0, 1, 1):  # cells to finish before the moment
        process = begin(*line)
        wait_for(out / "grid")
        while len(tables(out)) < len(finished) + more and process.poll() is None:
            time.sleep(0.002)
        time.sleep(draw.uniform(0.0, 0.1))
        kill_group(process)
        ends.append(process.returncode)
        for folder in store.find_runs([out]):
            if folder != out:
                assert verify_folder(folder).startswith("whole")
        now = stamps(out)
        assert finished.items() <= now.items()  # nothing finished is made again
        finished = now
        assert "running" not in {cell.state for cell in status(out).cells}
        (out / "grid").rename(tmp_path / f"ledger-{len(list(tmp_path.iterdir()))}")
    assert -signal.SIGKILL in ends
    assert call(*line)[0] == 0
    assert finished.items() <= stamps(out).items()
    assert tables(out) == undisturbed


def test_two_grids_at_once_run_each_cell_once(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    file, out = tmp_path / "grid.toml", tmp_path / "runs"
    toml = TINY_TOML.replace(DATASET, f"tiny_grids:counted:folder={tmp_path}")
    file.write_text(f"embedding = 50 # as for keyword\n{toml}")
    line = ("grid", file, "--out", out, "--threads", "1", "--quiet")
    first, second = begin(*line), begin(*line)
    ends = [process.communicate(timeout=300) for process in (first, second)]
    assert ends == [("4 cells: 4 done\n", "")] * 2
    assert (first.returncode, second.returncode) == (0, 0)
    assert list(tables(out).values()) == list(undisturbed.values())
    assert all(verify_folder(folder).startswith("whole") for folder in store.find_runs([out]))
    assert (tmp_path / "reads").read_text() == "read\n" * 4
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []
