"""Collects the values of audits batch by batch, and why an audit or a measure did not apply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from attnaudit.core.contract import Record
from attnaudit.results.value_table import Table


@dataclass
class Collector:
    """Everything that `audit()` keeps of the batches it has seen."""

    table: Table = field(default_factory=Table)
    examples: list[list[dict[str, Any]]] = field(default_factory=list)  # kept whole, per batch
    computed_measures: set[str] = field(default_factory=set)  # in at least one batch
    # (audit or measure, name) -> why it did not apply to some batch
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    rows: int = 0  # the largest number of rows in a batch
    row_names: list[str] | None = None  # of the batch with the most rows
    has_readout: bool = True  # in every batch

    def start(self, record: Record, row_names: list[str] | None = None) -> None:
        """Begin the next batch."""
        self.table.start(record)
        if record.alpha.shape[1] > self.rows:
            self.rows, self.row_names = record.alpha.shape[1], row_names
        self.has_readout = self.has_readout and record.readout is not None

    def about(self) -> dict[str, Any]:
        """What is stored about the audited data.

        An audit that applies to some batches has NaN in the others; it is listed as not applicable
        only if it applied to none.
        """
        computed = {"audit": self.table.audits(), "measure": self.computed_measures}
        not_applicable: dict[str, dict[str, str]] = {"audit": {}, "measure": {}}
        for (kind, name), reason in self.reasons.items():
            if name not in computed[kind]:
                not_applicable[kind][name] = reason
        return {
            "not_applicable": not_applicable["audit"],
            "measures_not_applicable": not_applicable["measure"],
            "has_readout": self.has_readout,
            "rows": self.rows,
            "row_names": self.row_names,
        }
