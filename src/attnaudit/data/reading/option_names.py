"""How an option is written in messages: in a dataset choice, on the command line or in Python."""

from __future__ import annotations

import shlex
from collections.abc import Callable

Spelling = Callable[[str, str], str]  # (option, value) -> what the user types

_FLAGS = {"text": "--text-column", "label": "--label-column", "query": "--pair-column"}


def in_choice(option: str, value: str) -> str:
    """`text=review`, as in `reviews.csv:text=review`."""
    return f"{option}={value}"


def in_command(option: str, value: str) -> str:
    """`--text-column review`, as in `attnaudit audit`."""
    flag = _FLAGS.get(option, f"--{option.replace('_', '-')}")
    return flag if value == "true" else f"{flag} {shlex.quote(value)}"


def in_python(option: str, value: str) -> str:
    """`text='review'`, as in `audit(model, frame, text='review')`."""
    return f"{'pair' if option == 'query' else option}={value!r}"
