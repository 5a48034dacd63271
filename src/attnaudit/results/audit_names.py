"""Which stored audit a bare name, such as "furthest", refers to."""

from __future__ import annotations

from collections.abc import Iterable


def bare(name: str) -> str:
    """The name of an audit without its options.

    Examples
    --------
    >>> bare("furthest:epsilon=0.05")
    'furthest'
    """
    return name.partition(":")[0]


def resolve_audit_name(wanted: str, names: Iterable[str]) -> str | None:
    """The audit of exactly this name; otherwise the first one with options; otherwise None.

    An audit of something other than the attention (`of=`) is found by its full name only.

    Examples
    --------
    >>> resolve_audit_name("furthest", ["agreement:of=gradient", "furthest:epsilon=0.05"])
    'furthest:epsilon=0.05'
    >>> resolve_audit_name("agreement", ["agreement:of=gradient"]) is None
    True
    """
    candidates = list(names)
    if wanted in candidates:
        return wanted
    return next((name for name in candidates if bare(name) == wanted and "of=" not in name), None)
