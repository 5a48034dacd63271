"""Options of an audit that are computed from all the data, which no single batch shows.

An audit asks for one by having a parameter of that name; `uses_data_option` next to the audit
restricts this to certain values of its other options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from inspect import signature
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from attnaudit.audits.position_profile import combine_profiles, profile_of_record
from attnaudit.core.contract import Record

AuditFunction = TypeVar("AuditFunction", bound=Callable[..., Any])


class DataOption(NamedTuple):
    """How an option is computed: something of every record, then all of these combined."""

    of_record: Callable[[Record], Any]
    combine: Callable[[list[Any]], Any]


def mean_length(lengths: list[Tensor]) -> int:
    """⌊mean number of items⌋ of all examples, from the lengths (B,) in each record."""
    return int(torch.cat(lengths).double().mean())


DATA_OPTIONS: dict[str, DataOption] = {
    "mean_length": DataOption(lambda record: record.length.cpu(), mean_length),
    "text_count": DataOption(lambda record: len(record.batch), sum),
    "position_profile": DataOption(profile_of_record, combine_profiles),
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
    options = {name: parameter.default for name, parameter in signature(audit).parameters.items()}
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
    audits: Mapping[str, Callable[..., Any]], read: Callable[[], Iterable[Record]]
) -> dict[str, Callable[..., Any]]:
    """The audits with their missing data options bound; the data is read once, if there are any.

    Parameters
    ----------
    audits : mapping of str to callable
    read : callable
        Returns the record of every batch, one after the other.
    """
    missing = {name: missing_data_options(audit) for name, audit in audits.items()}
    needed = [name for name in DATA_OPTIONS if any(name in names for names in missing.values())]
    if not needed:
        return dict(audits)
    parts: dict[str, list[Any]] = {name: [] for name in needed}
    for record in read():
        for name in needed:
            parts[name].append(DATA_OPTIONS[name].of_record(record))
    computed = {name: DATA_OPTIONS[name].combine(parts[name]) for name in needed}
    return {
        name: partial(audit, **{option: computed[option] for option in missing[name]})
        if missing[name]
        else audit
        for name, audit in audits.items()
    }
