"""Check every law of a model on a batch; report.py puts the outcome in words."""

from __future__ import annotations

import math
from collections.abc import Callable

from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError
from attnaudit.laws.decoding_laws import finite, leave_out_law, readout_law, round_trip, simplex
from attnaudit.laws.differences import FAILURES
from attnaudit.laws.gradient_law import differentiable
from attnaudit.laws.purity_law import fingerprint, pure
from attnaudit.laws.reading_laws import deterministic, padding
from attnaudit.laws.report import Law, LawReport


def check_model(model: AttentionModel, batch: Batch, *, seed: int = 0) -> LawReport:
    """Check every law on a batch.

    Parameters
    ----------
    model : AttentionModel
    batch : Batch
        Several examples of different lengths.
    seed : int
        For the random attention that some laws need.

    Returns
    -------
    LawReport

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> report = check_model(Glass("oracle"), glass_batch(6))
    >>> report.kept
    True
    """
    before = fingerprint(model)
    try:
        record = model.read(batch)
    except InputError:
        raise  # its message is for the user
    except FAILURES as failure:
        hint = f"{_raised(failure)}; try it on a batch of its own texts"
        return LawReport((Law("0 reading: the model reads the batch", math.inf, 0.0, hint=hint),))
    checks: dict[str, Callable[[], list[Law]]] = {
        "finite": lambda: [finite(record)],
        "1 round trip": lambda: [round_trip(model, record, seed)],
        "2 simplex": lambda: [simplex(record)],
        "3 differentiable": lambda: differentiable(model, batch),
        "5 padding": lambda: padding(model, batch, record),
        "6 determinism": lambda: [deterministic(model, batch, record)],
    }
    readout = record.readout
    if readout is not None:
        checks["7 readout"] = lambda: [readout_law(model, record, readout, seed)]
    if hasattr(model, "leave_out"):
        checks["8 leave_out"] = lambda: [leave_out_law(model, record)]
    checks["4 purity"] = lambda: [pure(model, batch, record, before)]
    return LawReport(tuple(law for name, check in checks.items() for law in _attempt(name, check)))


def _attempt(name: str, check: Callable[[], list[Law]]) -> list[Law]:
    """A model that raises has broken the law being checked; the others are still checked."""
    try:
        return check()
    except FAILURES as failure:
        return [Law(name, math.inf, 0.0, hint=_raised(failure))]


def _raised(failure: Exception) -> str:
    return f"the model raised {type(failure).__name__}: {failure}"
