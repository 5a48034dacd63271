"""Options of an audit that are computed from all the data, which no single batch shows.

An audit asks for one by having a parameter of that name; `uses_data_option` next to the audit
restricts this to certain values of its other options.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any, TypeVar

from torch import Tensor

AuditFunction = TypeVar("AuditFunction", bound=Callable[..., Any])


def mean_length(lengths: Tensor) -> int:
    """⌊mean number of items⌋ of all examples; lengths (examples,)."""
    return int(lengths.double().mean())


# Name of the option -> how it is computed from the lengths of all examples.
DATA_OPTIONS: dict[str, Callable[[Tensor], Any]] = {
    "mean_length": mean_length,
    "text_count": len,
}


def uses_data_option(
    name: str, *, when: Callable[[Mapping[str, Any]], bool]
) -> Callable[[AuditFunction], AuditFunction]:
    """Declare with which options an audit uses a data option; always, if not declared.

    Parameters
    ----------
    name : str
        A key of `DATA_OPTIONS`.
    when : callable
        Takes the options of the audit by name, defaults included; returns whether it uses `name`.

    Examples
    --------
    >>> @uses_data_option("mean_length", when=lambda options: options["k"] is None)
    ... def long_texts(model, record, scores, seed, *, k=None, mean_length=None):
    ...     return {"long": record.length > (mean_length if k is None else k)}
    >>> missing_data_options(long_texts)
    ['mean_length']
    """

    def declare(audit: AuditFunction) -> AuditFunction:
        audit.data_options = {**getattr(audit, "data_options", {}), name: when}  # type: ignore[attr-defined]
        return audit

    return declare


def missing_data_options(audit: Callable[..., Any]) -> list[str]:
    """The data options that an audit uses and that it was not given."""
    options = {name: each.default for name, each in signature(audit).parameters.items()}
    given = audit.keywords if isinstance(audit, partial) else {}
    while isinstance(audit, partial):
        audit = audit.func
    used_when = getattr(audit, "data_options", {})
    return [
        name
        for name in DATA_OPTIONS
        if name in options
        and name not in given
        and (name not in used_when or used_when[name](options))
    ]


def bind_data_options(
    audits: Mapping[str, Callable[..., Any]], read_lengths: Callable[[], Tensor]
) -> dict[str, Callable[..., Any]]:
    """The audits with their missing data options bound; the data is read only if there are any."""
    missing = {name: missing_data_options(audit) for name, audit in audits.items()}
    if not any(missing.values()):
        return dict(audits)
    lengths = read_lengths()
    computed = {name: compute(lengths) for name, compute in DATA_OPTIONS.items()}
    return {
        name: partial(audit, **{option: computed[option] for option in missing[name]})
        if missing[name]
        else audit
        for name, audit in audits.items()
    }
