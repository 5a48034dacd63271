"""What a worker process does: wait for a call, make it, send back what became of it.

It ignores Ctrl-C, which is the parent's to handle, ends when the parent ends, however that happens,
and does not write to the parent's terminal: messages for the user are sent to the parent, all other
output goes to a file.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection, wait
from typing import Any

from attnaudit.core.task_outcome import Finished, call, describe
from attnaudit.core.thread_limits import torch_threads

READY, NOTICE, DONE = "ready", "notice", "done"  # the first part of a message to the parent
INTERRUPTIONS = (signal.SIGINT, signal.SIGTERM)


def serve(
    connection: Connection,
    output: str,
    threads: int | None,
    environment: dict[str, str],
    share: int,
) -> None:
    """Answer calls from `connection` until the parent closes it.

    Parameters
    ----------
    connection : on which functions with their arguments come in, and messages go out.
    output : file for what the process writes to its terminal.
    threads : of torch, if asked for. If omitted, the environment decides, without importing torch.
    environment : of the parent, with the number of threads: a server that forks this process may
        have been started in another.
    share : that number of threads.
    """
    os.environ.clear()
    os.environ.update(environment)
    if "torch" in sys.modules:  # loaded by the server, perhaps with another number of threads
        sys.modules["torch"].set_num_threads(share)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):  # the parent blocked them until here
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTIONS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _redirect(output)
    sender = _Sender(connection)
    logging.getLogger("attnaudit").handlers = [_Notices(sender)]
    logging.getLogger("attnaudit").propagate = False
    sender.send((READY, None))
    while True:
        try:
            function, arguments = connection.recv()
        except (EOFError, OSError):
            return
        except Exception as error:  # the module of the function cannot be imported here
            sender.send((DONE, Finished(None, describe(error), None, 0.0)))
            continue
        os.ftruncate(1, 0)  # of a worker that dies, the output of its last task is shown
        with torch_threads(threads):
            finished = call(function, arguments)
        try:
            sender.send((DONE, finished))
        except (BrokenPipeError, ConnectionResetError):
            return
        except Exception as error:  # what the function returned cannot be sent
            sender.send((DONE, Finished(None, describe(error), None, finished.seconds)))


class _Sender:
    """Sends whole messages, whichever thread they come from."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: tuple[str, Any]) -> None:
        with self._lock:
            self._connection.send(message)


class _Notices(logging.Handler):
    def __init__(self, sender: _Sender) -> None:
        super().__init__()
        self._sender = sender

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._sender.send((NOTICE, record.getMessage()))
        except OSError:
            self.handleError(record)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _redirect(output: str) -> None:
    """Standard output and standard error of this process, and of its children, go to a file."""
    handle = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", buffering=1, closefd=False)  # line by line
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", buffering=1, closefd=False)
