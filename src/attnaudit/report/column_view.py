"""The stored values by column: one number per example, the mean over attention rows."""

from __future__ import annotations

import numpy as np

from attnaudit.results.audit_names import bare, resolve_audit_name
from attnaudit.results.rows import mean_over_rows
from attnaudit.results.value_columns import Key, ValueColumns

_READ_TOGETHER = 2**18  # numbers of one audit that are read at once; more are read by column


class Columns:
    """columns("agreement", "gradient", "tau") -> (examples,), or None if it is not stored.

    An audit that was run with options is found by its bare name, as on the card; if there are
    several of that name, the one without options, or else the first (`resolve_audit_name`).
    """

    def __init__(self, values: ValueColumns) -> None:
        self.count = len(values)  # of the examples
        self.predicted = values.examples["predicted"].to_numpy()
        self._values = values
        names = list(dict.fromkeys(key[0] for key in values.keys))
        bare_names = {resolve_audit_name(name, names): name for name in map(bare, names)}
        self._rows: dict[tuple[str, str, str], list[Key]] = {}
        for key in values.keys:
            if key[0] in bare_names:
                self._rows.setdefault((bare_names[key[0]], *key[1:3]), []).append(key)
        self._audits: dict[str, dict[Key, np.ndarray] | None] = {}

    def __call__(self, audit: str, measure: str, metric: str) -> np.ndarray | None:
        rows = self._rows.get((audit, measure, metric))
        if rows is None:
            return None
        if audit not in self._audits:
            self._audits[audit] = self._read_audit(audit)
        together = self._audits[audit]
        if together is None:
            return mean_over_rows(self._values.matrix(rows))
        return mean_over_rows(np.column_stack([together[key] for key in rows]))

    def _read_audit(self, audit: str) -> dict[Key, np.ndarray] | None:
        """All columns of an audit, if they are small: one read is quicker than one for each."""
        keys = [key for (name, *_), rows in self._rows.items() if name == audit for key in rows]
        if len(keys) * self.count > _READ_TOGETHER:
            return None
        return dict(zip(keys, self._values.matrix(keys).T, strict=True))

    @property
    def ids(self) -> list[str]:
        """The ids of all examples."""
        return self._values.examples["example_id"].tolist()

    def measures(self, audit: str, metric: str) -> list[str]:
        """The measures that have this metric, in the order they were computed."""
        return [key[1] for key in self._rows if (key[0], key[2]) == (audit, metric)]

    def metrics(self, audit: str) -> list[str]:
        """The metrics of an audit, in the order they were computed."""
        return list(dict.fromkeys(key[2] for key in self._rows if key[0] == audit))
