"""Published text, released code and correct computation differ in places; the word for which is checked here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnaudit.core.errors import InputError


def check_fidelity(fidelity: str, known: Sequence[str], what: str) -> None:
    if fidelity not in known:
        raise InputError(
            f"There is no fidelity {fidelity!r} of {what}; choose from: {', '.join(known)}."
        )


def fidelity_of(what: str, known: Sequence[str]) -> Callable[[str], None]:
    """The check of what can be chosen for one part, to declare as the limit of its option."""
    return lambda fidelity: check_fidelity(fidelity, known, what)
