"""What an audit gathers, batch by batch: the values, the examples to look at, and what could not be asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from attnaudit.core.contract import Record
from attnaudit.results.value_table import Table


@dataclass
class Collector:
    table: Table = field(default_factory=Table)
    drawn: list[list[dict[str, Any]]] = field(default_factory=list)
    reasons: dict[tuple[str, str], str] = field(
        default_factory=dict
    )  # (audit or measure, name) -> why not
    scored: set[str] = field(default_factory=set)  # measures that some batch has
    rows: int = 0  # the most that any batch has
    row_names: list[str] | None = None  # of the batch with the most rows
    linear: bool = True  # every batch has a readout

    def start(self, record: Record, row_names: list[str] | None = None) -> None:
        self.table.start(record)
        if record.alpha.shape[1] > self.rows:
            self.rows, self.row_names = record.alpha.shape[1], row_names
        self.linear = self.linear and record.readout is not None

    def about(self) -> dict[str, Any]:
        """Of an audit that applies to some batches only, the others have NaN; it is unanswered where it applied to none."""
        answered = {"audit": self.table.audits(), "measure": self.scored}
        unanswered: dict[str, dict[str, str]] = {"audit": {}, "measure": {}}
        for (kind, name), reason in self.reasons.items():
            if name not in answered[kind]:
                unanswered[kind][name] = reason
        return {
            "not_applicable": unanswered["audit"],
            "measures_not_applicable": unanswered["measure"],
            "has_readout": self.linear,
            "rows": self.rows,
            "row_names": self.row_names,
        }
