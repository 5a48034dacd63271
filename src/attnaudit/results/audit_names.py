"""Which audit answers to a bare name, such as "furthest", where it was run with options ("furthest:epsilon=0.05")?"""

from __future__ import annotations

from collections.abc import Iterable


def bare(name: str) -> str:
    return name.partition(":")[0]


def resolve_audit_name(wanted: str, names: Iterable[str]) -> str | None:
    """The audit of that very name; else the first with options. Never one that is about something else than the attention (`of=`): what is
    asked by the bare name is asked of the attention."""
    listed = list(names)
    if wanted in listed:
        return wanted
    return next((name for name in listed if bare(name) == wanted and "of=" not in name), None)
