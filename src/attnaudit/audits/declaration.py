"""What an audit says of itself: its question, what each number means, what it can see and what it cannot."""

from __future__ import annotations

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
    """floor and ceiling: a number, or the name of a metric of the same audit ("tau@random") that plays the part."""

    meaning: str
    floor: float | str
    ceiling: float | str


@dataclass(frozen=True)
class Declaration:
    question: str
    metrics: Mapping[str, Metric]
    detects: tuple[str, ...] = ()  # glass models whose fault this audit shows
    blind: Mapping[str, str] = field(default_factory=dict)  # glass model -> why its fault is invisible here


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
