"""One task and what became of it, the same in this process, in another, or on a cluster."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from typing import Any, NamedTuple


class Task(NamedTuple):
    """One call that may run in another process or on another machine.

    Parameters
    ----------
    key : unique among the tasks of a call of `run_tasks`.
    function : importable by name, so defined at the top level of a module.
    arguments : plain data: texts, numbers, lists, dicts; paths as texts. Also such functions.
    """

    key: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def modules(self) -> list[str]:
        """The modules of its functions, which a process imports to run it.

        Examples
        --------
        >>> import os.path
        >>> Task("one", abs, (os.path.join, "a")).modules()
        ['builtins', 'posixpath']
        """
        functions = [self.function, *(part for part in self.arguments if callable(part))]
        return [function.__module__ for function in functions]


class Outcome(NamedTuple):
    """What became of a task.

    Parameters
    ----------
    key : the task's.
    value : what the function returned; None if it failed.
    error : None, or in one line the type and message of the exception, or "worker died (…)".
    traceback : of the exception; for a worker that died, the end of what it wrote to its terminal.
    seconds : duration of the last attempt.
    attempts : how often the task was started; more than 1 if a worker died.
    """

    key: str
    value: Any
    error: str | None
    traceback: str | None
    seconds: float
    attempts: int


class Finished(NamedTuple):
    """The end of one call: an outcome without key and attempts, which the caller knows."""

    value: Any
    error: str | None
    traceback: str | None
    seconds: float


def call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Finished:
    """Call a function; an exception is described, not raised. An interruption is raised.

    Examples
    --------
    >>> call(divmod, (7, 2)).value
    (3, 1)
    >>> call(divmod, (7, 0)).error.startswith("ZeroDivisionError: ")
    True
    """
    started = time.perf_counter()
    value, error, trace = None, None, None
    try:
        value = function(*arguments)
    except (Exception, SystemExit) as raised:  # one failed task must not stop the others
        error, trace = describe(raised), traceback.format_exc()
    return Finished(value, error, trace, time.perf_counter() - started)


def describe(error: BaseException) -> str:
    """The type and message of an exception in one line.

    Examples
    --------
    >>> describe(ValueError("two\\nlines"))
    'ValueError: two lines'
    """
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def died(attempts: int, reason: str) -> str:
    """The error of a task whose worker died in every attempt.

    Examples
    --------
    >>> died(3, "killed by SIGKILL")
    'worker died (3 attempts): killed by SIGKILL'
    """
    return f"worker died ({attempts} attempt{'s' * (attempts != 1)}): {reason}"
