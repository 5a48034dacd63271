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

from attnaudit.audits.position_profile import (
    PositionProfile,
    combine_profiles,
    profile_of_record,
)
from attnaudit.core.contract import Record

AuditFunction = TypeVar("AuditFunction", bound=Callable[..., Any])


class DataOption(NamedTuple):
    """How an option is computed: something of every record, then all of these combined.

    to_json and from_json store its value, for other processes of the same audit.
    """

    of_record: Callable[[Record], Any]
    combine: Callable[[list[Any]], Any]
    to_json: Callable[[Any], Any] = int
    from_json: Callable[[Any], Any] = int


def mean_length(lengths: list[Tensor]) -> int:
    """⌊mean number of items⌋ of all examples, from the lengths (B,) in each record."""
    return int(torch.cat(lengths).double().mean())


DATA_OPTIONS: dict[str, DataOption] = {
    "mean_length": DataOption(lambda record: record.length.cpu(), mean_length),
    "text_count": DataOption(lambda record: len(record.batch), sum),
    "position_profile": DataOption(
        profile_of_record, combine_profiles, PositionProfile.as_dict, PositionProfile.from_dict
    ),
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


def compute_data_options(
    audits: Mapping[str, Callable[..., Any]], read: Callable[[], Iterable[Record]]
) -> dict[str, Any]:
    """The data options that some of the audits use and were not given, by name.

    Parameters
    ----------
    audits : mapping of str to callable
    read : callable
        Returns the record of every batch, one after the other; called once, if there are any.
    """
    missing = {name for audit in audits.values() for name in missing_data_options(audit)}
    needed = [name for name in DATA_OPTIONS if name in missing]
    if not needed:
        return {}
    parts: dict[str, list[Any]] = {name: [] for name in needed}
    for record in read():
        for name in needed:
            parts[name].append(DATA_OPTIONS[name].of_record(record))
    return {name: DATA_OPTIONS[name].combine(parts[name]) for name in needed}


def bind_data_options(
    audits: Mapping[str, Callable[..., Any]], computed: Mapping[str, Any]
) -> dict[str, Callable[..., Any]]:
    """The audits with their missing data options bound.

    Parameters
    ----------
    audits : mapping of str to callable
    computed : what `compute_data_options` returned for them.
    """
    missing = {name: missing_data_options(audit) for name, audit in audits.items()}
    return {
        name: partial(audit, **{option: computed[option] for option in missing[name]})
        if missing[name]
        else audit
        for name, audit in audits.items()
    }


def data_options_to_json(computed: Mapping[str, Any]) -> dict[str, Any]:
    """Computed data options as JSON, from which they are read back exactly."""
    return {name: DATA_OPTIONS[name].to_json(value) for name, value in computed.items()}


def data_options_from_json(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What `data_options_to_json` was given."""
    return {name: DATA_OPTIONS[name].from_json(value) for name, value in stored.items()}
