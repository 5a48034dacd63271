"""Worker processes end when they must, and write to no terminal."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import task_functions
from attnaudit.core.tasks import Task, Workers, run_tasks

ROOT = Path(__file__).parents[2]
# Two tasks that wait for a file that never comes; the test ends the program.
PROGRAM = """
import sys
import task_functions
from attnaudit.core import interruption
from attnaudit.core.tasks import Task, Workers, run_tasks

if __name__ == "__main__":
    interruption.watch()
    folder = sys.argv[1]
    tasks = [
        Task(str(n), task_functions.wait_for, (f"{folder}/never", f"{folder}/{n}.pid"))
        for n in range(20)
    ]
    try:
        for outcome in run_tasks(tasks, Workers(2)):
            print(outcome)
    except interruption.Interrupted as interrupted:
        print("interrupted")
        sys.exit(interrupted.exit_code)
"""


def exists(pid: int) -> bool:
    """Is there such a process, zombies aside?"""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def eventually(is_true: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if is_true():
            return True
        time.sleep(0.02)
    return is_true()


def pids_in(folder: Path) -> list[int]:
    return [int(file.read_text(encoding="utf-8")) for file in folder.glob("*.pid")]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))
    with subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert eventually(lambda: len(pids_in(tmp_path)) == 2, 30)
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("to_group", [False, True])
def test_an_interruption_stops_the_workers_without_a_word_of_theirs(
    program: subprocess.Popen[str], tmp_path: Path, number: signal.Signals, to_group: bool
) -> None:
    pids = pids_in(tmp_path)
    assert all(map(exists, pids))
    started = time.monotonic()
    (os.killpg if to_group else os.kill)(program.pid, number)  # Ctrl-C reaches the whole group
    output, errors = program.communicate(timeout=10)
    assert time.monotonic() - started < 4  # two seconds on a machine that is not busy
    assert (program.returncode, output, errors) == (128 + number, "interrupted\n", "")
    assert not any(map(exists, pids))


def test_workers_end_with_a_parent_that_is_killed(
    program: subprocess.Popen[str], tmp_path: Path
) -> None:
    pids = pids_in(tmp_path)
    assert all(map(exists, pids))
    program.kill()
    program.wait()
    assert eventually(lambda: not any(map(exists, pids)), 5)


def test_closing_the_iterator_stops_the_workers(tmp_path: Path) -> None:
    tasks = [
        Task("quick", task_functions.double, (1,)),
        Task("1", task_functions.wait_for, (str(tmp_path / "never"), str(tmp_path / "1.pid"))),
        Task("2", task_functions.wait_for, (str(tmp_path / "never"), str(tmp_path / "2.pid"))),
    ]
    others = set(multiprocessing.active_children())  # the cluster of other tests
    outcomes = run_tasks(tasks, Workers(2))
    assert next(outcomes).key == "quick"
    children = set(multiprocessing.active_children()) - others
    assert len(children) == 2
    outcomes.close()  # type: ignore[attr-defined]
    assert not children & set(multiprocessing.active_children())


def test_ctrl_c_is_for_the_parent_to_handle(tmp_path: Path) -> None:
    gate, started = tmp_path / "gate", tmp_path / "1.pid"
    tasks = [Task("waits", task_functions.wait_for, (str(gate), str(started)))]

    def interrupt_worker() -> None:
        assert eventually(started.exists, 30)
        os.kill(pids_in(tmp_path)[0], signal.SIGINT)
        time.sleep(0.2)
        gate.touch()

    thread = threading.Thread(target=interrupt_worker)
    thread.start()
    (outcome,) = run_tasks(tasks, Workers(2))
    thread.join()
    assert (outcome.error, outcome.attempts) == (None, 1)


def run_script(script: Path) -> subprocess.CompletedProcess[str]:
    """Run a Python file in a process of its own."""
    return subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_an_iterator_that_is_left_open_does_not_keep_the_program_from_ending(
    tmp_path: Path,
) -> None:
    script = tmp_path / "left_open.py"
    script.write_text(
        "from attnaudit.core.tasks import Task, Workers, run_tasks\n"
        "if __name__ == '__main__':\n"
        "    kept = run_tasks([Task(str(n), abs, (n,)) for n in range(9)], Workers(2))\n"
        "    print(next(kept).error)\n",
        encoding="utf-8",
    )
    done = run_script(script)
    assert (done.returncode, done.stdout, done.stderr) == (0, "None\n", "")


def test_a_death_says_how_and_what_was_written_last() -> None:
    tasks = [
        Task("exits", task_functions.end_process, (7,)),
        Task("killed", task_functions.kill_process, ()),
    ]
    outcomes = {outcome.key: outcome for outcome in run_tasks(tasks, Workers(2), retries=0)}
    assert outcomes["exits"].error == "worker died (1 attempt): it ended with exit code 7"
    assert outcomes["exits"].traceback == "the last words"
    assert "killed by SIGKILL, usually for lack of memory" in str(outcomes["killed"].error)


def test_messages_of_tasks_reach_the_user_and_other_output_does_not(
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The command line prints notices; what it has set up in this process is not tested here.
    monkeypatch.setattr(logging.getLogger("attnaudit"), "handlers", [])
    tasks = [Task(text, task_functions.notify, (text,)) for text in ("one", "two")]
    assert [outcome.error for outcome in run_tasks(tasks, Workers(2))] == [None, None]
    assert sorted(caplog.messages) == ["one", "two"]
    assert capfd.readouterr() == ("", "")


def test_threads_are_divided_among_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnaudit.core.process_pool.available_cores", lambda: 7)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    tasks = [Task("threads", os.getenv, ("OMP_NUM_THREADS",))]
    for count, threads in ((2, "3"), (8, "1")):
        (outcome,) = run_tasks(tasks, Workers(count))
        assert outcome.value == threads
    assert os.environ["OMP_NUM_THREADS"] == "5"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every worker is started afresh")
def test_workers_are_forked_from_one_server_and_not_from_this_process() -> None:
    tasks = [Task(str(n), os.getppid, ()) for n in range(4)]
    parents = {outcome.value for outcome in run_tasks(tasks, Workers(2))}
    assert len(parents) == 1
    assert os.getpid() not in parents


def test_libraries_that_are_loaded_before_a_fork_get_the_threads_of_the_worker(
    tmp_path: Path,
) -> None:
    script = tmp_path / "loaded_before.py"
    script.write_text(
        "import multiprocessing\n"
        "import task_functions\n"
        "from attnaudit.core import process_pool\n"
        "from attnaudit.core.tasks import Task, Workers, run_tasks\n"
        "if __name__ == '__main__':\n"
        "    process_pool.available_cores = lambda: 6\n"
        "    context = multiprocessing.get_context('forkserver')\n"
        "    context.set_forkserver_preload(['torch'])\n"
        "    with context.Manager():  # the server runs, with the threads of this process\n"
        "        for count in (2, 3):\n"
        "            tasks = [Task('one', task_functions.torch_thread_count, ())]\n"
        "            (outcome,) = run_tasks(tasks, Workers(count))\n"
        "            print(outcome.value)\n",
        encoding="utf-8",
    )
    done = run_script(script)
    assert done.stdout == "(3, '3')\n(2, '2')\n", done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every worker is started afresh")
def test_the_server_loads_the_architectures_of_this_process_for_all_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr("multiprocessing.forkserver.set_forkserver_preload", asked.append)
    for name in ("modeling_mine", "configuration_mine"):
        monkeypatch.setitem(sys.modules, f"transformers.models.mine.{name}", task_functions)
    next(run_tasks([Task("one", task_functions.double, (1,))], Workers(2)))
    assert "task_functions" in asked[0]
    assert "transformers.models.mine.modeling_mine" in asked[0]
    assert "transformers.models.mine.configuration_mine" not in asked[0]


def test_workers_that_cannot_start_are_an_error_that_says_why(tmp_path: Path) -> None:
    script = tmp_path / "no_guard.py"
    script.write_text(
        "from attnaudit.core.errors import InputError\n"
        "from attnaudit.core.tasks import Task, Workers, run_tasks\n"
        "try:\n"
        "    print(list(run_tasks([Task('one', abs, (1,))], Workers(2))))\n"
        "except InputError as error:\n"
        "    print(error)\n",
        encoding="utf-8",
    )
    done = run_script(script)
    assert "Worker processes cannot be started" in done.stdout
    assert "if __name__ == '__main__':" in done.stdout


def test_a_worker_starts_without_torch() -> None:
    code = (
        "import sys; from attnaudit.core import tasks, process_pool, worker_process, dask_cluster;"
        "sys.exit(bool({'torch', 'distributed', 'dask', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_is_left_in_the_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    outcomes = run_tasks([Task("one", task_functions.double, (1,))] * 2, Workers(2))
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]
    assert [path for path in tmp_path.iterdir() if path.name.startswith("attnaudit")] == []
