"""What an audit says of itself: its question, what each number means, what it can see and what it cannot."""

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
    """floor and ceiling: a number, or the name of a metric of the same audit ("tau@random") that plays the part.

    scale: the least and the largest value possible; floor and ceiling themselves if omitted and both are numbers.
    """

    meaning: str
    floor: float | str
    ceiling: float | str
    scale: tuple[float, float] | None = None

    @property
    def limits(self) -> tuple[float, float] | None:
        """Between which a value must lie; None if it is not known."""
        if self.scale is not None or isinstance(self.floor, str) or isinstance(self.ceiling, str):
            return self.scale
        return (self.floor, self.ceiling)


@dataclass(frozen=True)
class Declaration:
    question: str
    metrics: Mapping[str, Metric]
    detects: tuple[str, ...] = ()  # glass models whose fault this audit shows
    blind: Mapping[str, str] = field(
        default_factory=dict
    )  # glass model -> why its fault is invisible here


# The ranges that most metrics have.
SHARE = (0.0, 1.0)
CORRELATION = DIFFERENCE = (-1.0, 1.0)
DIVERGENCE = (0.0, math.log(2))  # Jensen–Shannon, nats


def scales(declarations: Mapping[str, Declaration]) -> dict[str, dict[str, list[float]]]:
    """audit -> metric -> its limits, as they are stored with the results."""
    return {
        audit: {
            name: list(limits)
            for name, metric in declaration.metrics.items()
            if (limits := metric.limits) is not None
        }
        for audit, declaration in declarations.items()
    }


def declares(declaration: Declaration) -> Callable[[AuditFunction], AuditFunction]:
    def mark(audit: AuditFunction) -> AuditFunction:
        audit.declaration = declaration  # type: ignore[attr-defined]
        return audit

    return mark


def declaration_of(audit: Callable[..., Any]) -> Declaration:
    """Also of an audit whose options are bound; an undeclared one (a user's) says nothing of itself."""
    while isinstance(audit, partial):
        audit = audit.func
    return getattr(audit, "declaration", Declaration(question="", metrics={}))
