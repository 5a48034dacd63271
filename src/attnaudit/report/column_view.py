"""The stored long table by column: one number per example, the mean over attention rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attnaudit.results.audit_names import bare, resolve_audit_name
from attnaudit.results.rows import mean_by_example


class Columns:
    """columns("agreement", "gradient", "tau") -> (examples,), or None if it is not stored.

    An audit that was run with options is found by its bare name, as on the card; if there are
    several of that name, the one without options, or else the first (`resolve_audit_name`).
    """

    def __init__(self, values: pd.DataFrame) -> None:
        first = values.drop_duplicates("example_id")
        self.ids: list[str] = first["example_id"].tolist()
        self.predicted = first["predicted"].to_numpy()
        self._example = pd.Index(self.ids).get_indexer(values["example_id"])
        self._values = values["value"].to_numpy()
        names = [str(name) for name in values["audit"].unique()]
        bare_names = {resolve_audit_name(name, names): name for name in map(bare, names)}
        grouped = values.groupby(["audit", "measure", "metric"], observed=True, sort=False)
        self._lines: dict[tuple[str, str, str], np.ndarray] = {
            (bare_names[str(audit)], str(measure), str(metric)): lines
            for (audit, measure, metric), lines in grouped.indices.items()
            if str(audit) in bare_names
        }

    def __call__(self, audit: str, measure: str, metric: str) -> np.ndarray | None:
        lines = self._lines.get((audit, measure, metric))
        if lines is None:
            return None
        return mean_by_example(self._example[lines], self._values[lines], len(self.ids))

    def measures(self, audit: str, metric: str) -> list[str]:
        """The measures that have this metric, in the order they were computed."""
        return [key[1] for key in self._lines if (key[0], key[2]) == (audit, metric)]

    def metrics(self, audit: str) -> list[str]:
        """The metrics of an audit, in the order they were computed."""
        return list(dict.fromkeys(key[2] for key in self._lines if key[0] == audit))
