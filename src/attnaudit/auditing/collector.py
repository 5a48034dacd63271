"""Collects what an audit keeps of the batches it has seen: values, examples, and facts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from attnaudit.core.contract import Record
from attnaudit.results.value_table import Table

Reasons = dict[str, dict[str, str]]  # "audit" or "measure" -> name -> why it did not apply


def _no_reasons() -> Reasons:
    return {"audit": {}, "measure": {}}


@dataclass
class Facts:
    """What is stored about the audited data; of a part of it, or of all parts together."""

    classes: int = 0
    computed_audits: set[str] = field(default_factory=set)  # in at least one batch
    computed_measures: set[str] = field(default_factory=set)
    reasons: Reasons = field(default_factory=_no_reasons)
    rows: int = 0  # the largest number of rows in a batch
    row_names: list[str] | None = None  # of the batch with the most rows
    has_readout: bool = True  # in every batch
    truncated: int = 0  # texts that were cut
    # "read" and each explanation -> seconds that it took for all texts
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def together(cls, parts: Iterable[Facts]) -> Facts:
        """The facts of all parts, in their order."""
        whole = cls()
        for part in parts:
            whole.classes = part.classes
            whole.computed_audits |= part.computed_audits
            whole.computed_measures |= part.computed_measures
            for kind, reasons in part.reasons.items():
                whole.reasons[kind].update(reasons)
            if part.rows > whole.rows:
                whole.rows, whole.row_names = part.rows, part.row_names
            whole.has_readout &= part.has_readout
            whole.truncated += part.truncated
            for name, seconds in part.seconds.items():
                whole.seconds[name] = whole.seconds.get(name, 0.0) + seconds
        return whole

    def add_seconds(self, name: str, started: float) -> None:
        """Add the time since `started` (time.perf_counter) to what `name` took."""
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON; `from_dict` reads it back."""
        plain = {**vars(self)}
        for name in ("computed_audits", "computed_measures"):
            plain[name] = sorted(plain[name])
        return plain

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Facts:
        """What `as_dict` returned."""
        sets = {name: set(content[name]) for name in ("computed_audits", "computed_measures")}
        return cls(**{**content, **sets})

    def about(self) -> dict[str, Any]:
        """What results say about the audited data.

        An audit that applies to some batches has NaN in the others; it is listed as not applicable
        only if it applied to none.
        """
        computed = {"audit": self.computed_audits, "measure": self.computed_measures}
        not_applicable = {
            kind: {name: why for name, why in reasons.items() if name not in computed[kind]}
            for kind, reasons in self.reasons.items()
        }
        return {
            "not_applicable": not_applicable["audit"],
            "measures_not_applicable": not_applicable["measure"],
            "has_readout": self.has_readout,
            "rows": self.rows,
            "row_names": self.row_names,
            "truncated": self.truncated,
        }


@dataclass
class Collector:
    """Everything that is kept of the batches seen so far."""

    table: Table = field(default_factory=Table)
    examples: list[dict[str, Any]] = field(default_factory=list)  # those kept whole
    facts: Facts = field(default_factory=Facts)

    def start(self, record: Record, row_names: list[str] | None = None) -> None:
        """Begin the next batch."""
        self.table.start(record)
        facts = self.facts
        facts.classes = record.logits.shape[1]
        if record.alpha.shape[1] > facts.rows:
            facts.rows, facts.row_names = record.alpha.shape[1], row_names
        facts.has_readout &= record.readout is not None
        if (cut := getattr(record.batch, "truncated", None)) is not None:
            facts.truncated += int(cut.sum())
