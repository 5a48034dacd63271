"""The exceptions whose message is written for users; the command line prints them as one line."""

from __future__ import annotations


class InputError(ValueError):
    """An input the user can correct.

    The message says what is wrong, what was expected, what was given and what to do.
    """


class OutputError(OSError):
    """A file or folder could not be written, usually because the disk is full.

    The message says what was kept, where, and how to go on.
    """

    results: object = None  # what was computed before the failure, so that it can still be shown

    def __str__(self) -> str:
        text = str(self.strerror)
        return f"{text}." if self.strerror and not text.endswith(".") else text


class WorkError(RuntimeError):
    """Parts of the work failed in the processes that did them; the finished ones are kept.

    The message says how many, the first reason, and how to go on.
    """


class ItemErrors(InputError):
    """Problems with single texts or labels of a list, keyed by index; the message quotes the first.

    Examples
    --------
    >>> print(ItemErrors({3: "is empty", 7: "is no text"}))
    Text 3: is empty
    """

    def __init__(self, problems: dict[int, str]) -> None:
        self.problems = problems
        first = next(iter(problems))
        super().__init__(f"Text {first}: {problems[first]}")


class NotApplicable(Exception):
    """A measure or an audit cannot be computed for this model or data.

    The reason is recorded with the results.
    """
