"""The stored long table by column: one number an example, the mean over rows where a site has several."""

from __future__ import annotations

import numpy as np
import pandas as pd

from attnaudit.results.audit_names import bare, resolve_audit_name
from attnaudit.results.rows import mean_by_example


class Columns:
    """columns("agreement", "gradient", "tau") -> (examples,) or None. An audit with options answers to its bare name where it is the
    only one, as on the card."""

    def __init__(self, values: pd.DataFrame) -> None:
        first = values.drop_duplicates("example_id")
        self.ids: list[str] = first["example_id"].tolist()
        self.predicted = first["predicted"].to_numpy()
        self._place = pd.Index(self.ids).get_indexer(values["example_id"])
        self._values = values["value"].to_numpy()
        names = [str(name) for name in values["audit"].unique()]
        answers = {resolve_audit_name(wanted, names): wanted for wanted in map(bare, names)}
        grouped = values.groupby(["audit", "measure", "metric"], observed=True, sort=False)
        self._lines: dict[tuple[str, str, str], np.ndarray] = {
            (answers[str(audit)], str(measure), str(metric)): lines
            for (audit, measure, metric), lines in grouped.indices.items()
            if str(audit) in answers
        }

    def __call__(self, audit: str, measure: str, metric: str) -> np.ndarray | None:
        lines = self._lines.get((audit, measure, metric))
        if lines is None:
            return None
        return mean_by_example(self._place[lines], self._values[lines], len(self.ids))

    def measures(self, audit: str, metric: str) -> list[str]:
        """Those that have this metric, in the order they were computed."""
        return [measure for each, measure, name in self._lines if each == audit and name == metric]

    def metrics(self, audit: str) -> list[str]:
        """All that an audit gave, in the order they were computed."""
        return list(dict.fromkeys(metric for each, _, metric in self._lines if each == audit))
