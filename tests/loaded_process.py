"""Commands in processes that have the libraries loaded already.

A new interpreter imports torch and transformers for seconds, longer than most commands of the tests
take. The server of `multiprocessing` from which `attnaudit` forks the workers of this test process
loads them once; here it forks commands, too. A command is alone in a session of its own, so that it
and the processes it starts can be killed together, and does what `python -m` does. Where a new
interpreter matters, tests use `subprocess`.
"""

from __future__ import annotations

import atexit
import faulthandler
import logging
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing import forkserver, util
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

LIBRARIES = [
    "attnaudit.cli.main",
    "attnaudit.auditing.cite_files",
    "attnaudit.report.page",
    "attnaudit.training.grids",
    "sklearn.linear_model",
    "tokenizers",
    "transformers.models.auto.modeling_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.models.llama.modeling_llama",
]


@cache
def _output_folder() -> TemporaryDirectory[str]:
    """Of this test process, and not of the commands."""
    return TemporaryDirectory(prefix="commands-")


def load_in_server(patch: Callable[[object, str, object], None]) -> None:
    """Let the server have the libraries; patch: as of `pytest.MonkeyPatch`.

    Before the first test of many files, this process has loaded most of them: it loads the others,
    and the server is forked from it, before a test changes anything. Otherwise the server loads
    them when it is first needed.
    """
    set_preload = forkserver.set_forkserver_preload

    def with_libraries(modules: list[str]) -> None:
        set_preload([*LIBRARIES, *modules])

    patch(forkserver, "set_forkserver_preload", with_libraries)
    if sys.platform == "linux" and sys.modules.keys() >= {*LIBRARIES[:4], "transformers"}:
        for library in LIBRARIES:
            import_module(library)  # once, for the tests of this process and for the server
        with_libraries([])
        util.spawnv_passfds = _fork_server_of_tests  # type: ignore[attr-defined]
        try:
            forkserver.ensure_running()
        finally:
            util.spawnv_passfds = _new_interpreter  # type: ignore[attr-defined]


class LoadedCommand:
    """`python -m MODULE ARGUMENTS`, with what the tests use of `subprocess.Popen`.

    Parameters
    ----------
    module : or the path of a script.
    output : file for all that it writes, instead of `communicate`.
    """

    def __init__(
        self,
        *arguments: object,
        module: str | Path = "attnaudit",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        output: Path | None = None,
    ) -> None:
        name = os.path.join(_output_folder().name, f"{time.monotonic_ns()}")
        self._files = [str(output or f"{name}.out"), str(output or f"{name}.err")]
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([])
        given = (
            str(module),
            [*map(str, arguments)],
            dict(env or os.environ),
            str(cwd or Path.cwd()),
        )
        self._process = context.Process(target=_run, args=(*given, self._files))
        self._process.start()
        self.pid = int(self._process.pid or 0)
        with suppress(ProcessLookupError):  # it has ended
            while os.getpgid(self.pid) != self.pid:  # its session has not begun
                time.sleep(0.001)

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("attnaudit", timeout or 0.0)
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Standard output and standard error, when it has ended."""
        self.wait(timeout)
        out, err = (Path(file).read_text(encoding="utf-8") for file in self._files)
        return out, err


def kill_group(process: LoadedCommand | subprocess.Popen[Any]) -> None:
    """SIGKILL a process and all that it started; they are gone when this returns."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    while _lives(process.pid):
        time.sleep(0.002)


def _lives(group: int) -> bool:
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            # Of a zombie the files are closed, and its locks are free, with its last thread.
            if int(fields[2]) == group and (
                fields[0] != "Z" or len(list((path / "task").iterdir())) > 1
            ):
                return True
    return False


def _run(
    module: str, arguments: list[str], environment: dict[str, str], cwd: str, files: Sequence[str]
) -> None:
    """In the forked process: what `python -m` does in a new one, to its end."""
    for copy, file in enumerate((os.devnull, *files)):
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT if copy else os.O_RDONLY
        os.dup2(os.open(file, flags), copy)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.modules["torch"].set_num_threads(1)
    util.spawnv_passfds = _fork_server  # type: ignore[attr-defined]
    sys.argv = [module, *arguments]
    os.setsid()
    try:
        if module.endswith(".py"):
            runpy.run_path(module, run_name="__main__")
        else:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()


_new_interpreter = util.spawnv_passfds  # type: ignore[attr-defined]


def _fork_server_of_tests(path: bytes, arguments: list[str], descriptors: list[int]) -> int:
    """A server with the libraries of the test process, and nothing that pytest has set up."""
    return _fork_server(path, arguments, descriptors, forget=_forget_pytest)


def _forget_pytest() -> None:
    faulthandler.disable()  # its file is closed
    logging.getLogger().handlers.clear()
    warnings.resetwarnings()
    for kind in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", kind)  # as in a new interpreter
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False)
        for number in range(3)
    )


def _fork_server(
    path: bytes,
    arguments: list[str],
    descriptors: list[int],
    forget: Callable[[], None] = lambda: None,
) -> int:
    """A server for the workers of a command: in its session, with the libraries of the command."""
    if "multiprocessing.forkserver" not in str(arguments[-1]):
        return int(_new_interpreter(path, arguments, descriptors))
    pid = os.fork()
    if pid:
        return pid
    try:  # as if started by `exec`: nothing is open, nothing is handled, nothing is known
        _close_all_but({0, 1, 2, *descriptors})
        atexit._clear()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        forkserver._forkserver.__init__()  # type: ignore[attr-defined]
        forget()
        exec(arguments[-1], {})
    finally:
        os._exit(0)


def _close_all_but(kept: set[int]) -> None:
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor not in kept:
            with suppress(OSError):
                os.close(descriptor)
