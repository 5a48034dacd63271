"""Other processes find audits and measures by name: functions cannot be given to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attnaudit.auditing.selection import Choice
from attnaudit.core.errors import InputError


def reject_functions(given: Mapping[str, Any]) -> None:
    """Reject choices that are not names.

    Parameters
    ----------
    given : kind, such as "audits" -> the choices: a sequence, a dict by name, or None.
    """
    for kind, chosen in given.items():
        listed = chosen or ()
        choices: Iterable[Choice] = listed.values() if isinstance(listed, dict) else listed
        functions = [choice for choice in choices if not isinstance(choice, str)]
        if functions:
            raise InputError(
                f"Workers cannot be given the function {functions[0]!r} among the {kind}. "
                'Name it: "package.module:function".'
            )
