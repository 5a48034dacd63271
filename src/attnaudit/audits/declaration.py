"""What an audit declares: its question, the meaning of its metrics, and what it can detect."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from torch import Tensor

# (measure, metric) -> values (B,) or (B,R). A plain metric name stands for ("", metric).
Values = dict[tuple[str, str], Tensor]
AuditFunction = TypeVar("AuditFunction", bound=Callable[..., Any])


@dataclass(frozen=True)
class Metric:
    """One number that an audit computes per example, with the values to compare it with.

    Parameters
    ----------
    meaning : str
        In words.
    floor, ceiling : float or str
        The worst and the best value to expect: a number, or the name of a metric of the same audit
        ("tau@random"); `NO_CEILING` if no best value is known.
    scale : (float, float), optional
        The smallest and largest possible value; floor and ceiling if omitted and both are numbers.

    Examples
    --------
    >>> Metric("Kendall's tau-b", floor="tau@random", ceiling=1.0, scale=CORRELATION).limits
    (-1.0, 1.0)
    """

    meaning: str
    floor: float | str
    ceiling: float | str
    scale: tuple[float, float] | None = None

    @property
    def limits(self) -> tuple[float, float] | None:
        """The smallest and largest possible value; None if unknown.

        Those of `scale`; without it floor and ceiling, if both are numbers: a floor alone is what
        to expect at worst, not a bound.
        """
        if self.scale is not None or isinstance(self.floor, str) or isinstance(self.ceiling, str):
            return self.scale
        return None if math.isnan(self.ceiling) else (self.floor, self.ceiling)


@dataclass(frozen=True)
class Declaration:
    """What an audit asks and what it can see.

    Parameters
    ----------
    question : str
    metrics : mapping of str to Metric
    detects : tuple of str
        The glass models (synthetic reference models) whose fault this audit shows.
    blind : mapping of str to str
        Glass model -> why its fault is invisible to this audit.
    shortens_texts : bool
        Whether it reads texts without different numbers of their words in one batch: the shorter
        ones are padded, even if no text of the data is.
    """

    question: str
    metrics: Mapping[str, Metric]
    detects: tuple[str, ...] = ()
    blind: Mapping[str, str] = field(default_factory=dict)
    shortens_texts: bool = False


# The scales of most metrics.
SHARE = (0.0, 1.0)
CORRELATION = DIFFERENCE = (-1.0, 1.0)
DIVERGENCE = (0.0, math.log(2))  # Jensen–Shannon, nats
NOT_NEGATIVE = (0.0, math.inf)

NO_CEILING = math.nan  # of a metric without a best value to expect


def scales(declarations: Mapping[str, Declaration]) -> dict[str, dict[str, list[float]]]:
    """Audit -> metric -> its limits, as stored with the results; only finite limits are."""
    return {
        audit: {
            name: list(limits)
            for name, metric in declaration.metrics.items()
            if (limits := metric.limits) is not None and all(map(math.isfinite, limits))
        }
        for audit, declaration in declarations.items()
    }


def declares(declaration: Declaration) -> Callable[[AuditFunction], AuditFunction]:
    """Attach a declaration to an audit.

    Examples
    --------
    >>> @declares(Declaration("Is the text long?", {"long": Metric("over ten words", 0.0, 1.0)}))
    ... def long(model, record, scores, seed):
    ...     return {"long": record.length > 10}
    >>> declaration_of(long).question
    'Is the text long?'
    """

    def mark(audit: AuditFunction) -> AuditFunction:
        audit.declaration = declaration  # type: ignore[attr-defined]
        return audit

    return mark


def declaration_of(audit: Callable[..., Any]) -> Declaration:
    """The declaration of an audit, with or without bound options; an empty one if it has none."""
    while isinstance(audit, partial):
        audit = audit.func
    return getattr(audit, "declaration", Declaration(question="", metrics={}))
