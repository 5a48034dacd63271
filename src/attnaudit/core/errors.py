"""The exceptions that reach people as a sentence: what a user can put right, what a model cannot answer, what could not be written."""

from __future__ import annotations


class InputError(ValueError):
    """What is wrong, what was expected, what was given, and what to do. The command line prints it without a traceback."""


class OutputError(OSError):
    """A file or folder could not be written, usually because the disk is full. Says what was kept, where, and how to go on."""

    results: object = None  # what was computed before, if anything: to be shown all the same

    def __str__(self) -> str:
        return (
            f"{self.strerror}."
            if self.strerror and not self.strerror.endswith(".")
            else str(self.strerror)
        )


class ItemErrors(InputError):
    """What is wrong with single texts or labels of a list, by their index; the message is about the first."""

    def __init__(self, problems: dict[int, str]) -> None:
        self.problems = problems
        first = next(iter(problems))
        super().__init__(f"Text {first}: {problems[first]}")


class NotApplicable(Exception):
    """A measure or an audit has nothing to say about this model or data, for the reason given. Recorded, never passed over in silence."""
