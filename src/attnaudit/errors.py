"""The two exceptions people are told in words: what a user can put right, and what a model or its data cannot answer."""

from __future__ import annotations


class InputError(ValueError):
    """What is wrong, what was expected, what came, and what to do. The command line prints it without a traceback."""


class ItemErrors(InputError):
    """What is wrong with single texts or labels of a list, by their index; the message is about the first."""

    def __init__(self, problems: dict[int, str]) -> None:
        self.problems = problems
        first = next(iter(problems))
        super().__init__(f"Text {first}: {problems[first]}")


class NotApplicable(Exception):
    """A measure or an audit has nothing to say about this model or data, for the reason given. Recorded, never passed over in silence."""
