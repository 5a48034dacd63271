"""Start `attnaudit` commands in processes that have the libraries loaded already.

Importing torch and transformers takes several seconds, longer than many of the commands that
`kill_trials` kills. A server imports them once and forks a process for each command, which then
does what `python -m attnaudit` does. The server runs nothing itself, so a fork takes no threads or
locks along.
"""

from __future__ import annotations

import json
import os
import runpy
import select
import subprocess
import sys
from importlib import import_module
from pathlib import Path

_LIBRARIES = ("attnaudit.cli.main", "attnaudit.training.grids", "attnaudit.models.huggingface")
_BERT = "transformers.models.bert.modeling_bert"


class Preloaded:
    """The server, seen from the process that wants commands started: one at a time."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def start(self, words: list[str], log: Path) -> PreloadedCommand:
        """Start a command, its words without `python -m attnaudit`, in a session of its own."""
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps([words, str(log)]).encode() + b"\n")
        self._server.stdin.flush()
        return PreloadedCommand(int(self.line()))

    def line(self) -> bytes:
        """The next line that the server writes: the id of a process, then how it ended."""
        assert self._server.stdout is not None
        return self._server.stdout.readline()

    def has_line(self, seconds: float) -> bool:
        """Wait so long for the server to write something; whether it did."""
        return bool(select.select([self._server.stdout], [], [], seconds)[0])


class PreloadedCommand:
    """A command that was started, with what `kill_trials` uses of `subprocess.Popen`."""

    server: Preloaded | None = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    @classmethod
    def start(cls, words: list[str], log: Path) -> PreloadedCommand:
        """Start a command in the one server of this process."""
        cls.server = cls.server or Preloaded()
        return cls.server.start(words, log)

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        assert self.server is not None
        if self.returncode is None and self.server.has_line(0):
            self.returncode = int(self.server.line())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended."""
        assert self.server is not None
        if self.returncode is None:
            if timeout is not None and not self.server.has_line(timeout):
                raise subprocess.TimeoutExpired("attnaudit", timeout)
            self.returncode = int(self.server.line())
        return self.returncode


def _serve() -> None:
    for name in (*_LIBRARIES, _BERT):
        import_module(name)
    for line in sys.stdin:
        words, log = json.loads(line)
        ready, is_ready = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            os.write(is_ready, b".")
            _run(words, log)
        os.read(ready, 1)
        os.close(ready)
        os.close(is_ready)
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _run(words: list[str], log: str) -> None:
    """In the forked process: what `python -m attnaudit` does, to its end."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    stream = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for copy, descriptor in enumerate((nothing, stream, stream)):
        os.dup2(descriptor, copy)
    sys.argv = ["attnaudit", *words]
    runpy.run_module("attnaudit", run_name="__main__", alter_sys=True)
    sys.exit(0)


if __name__ == "__main__":
    _serve()
