"""The numbers of a summary, by name and group, as the rules of the card read them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import Any

import pandas as pd

from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.card import Finding
from attnaudit.results.groups import ALL, class_of_group
from attnaudit.results.number_formats import percent
from attnaudit.results.rows import METRIC_KEY, one_line_per_metric
from attnaudit.results.rules.meanings import MEANINGS

MIN_GROUP = 10  # values that a group must have to be judged on its own
_LARGE_GROUP = 0.1  # of the texts: a group of this share must be judged for a clean yes
_SAMPLED, _TRIED = "top_words/", "top_words/searched_exactly"
_MIN_VALUES = 10  # an interval of fewer means nothing


class Numbers:
    """The numbers of a summary, by name.

    Parameters
    ----------
    summaries : the summary.
    not_applicable : why an audit that was asked for has no numbers, by its name.

    Attributes
    ----------
    count : number of examples.
    groups : the predicted classes and, if labels are known, right and wrong decisions, with the
        number of their examples.
    """

    def __init__(
        self, summaries: pd.DataFrame, not_applicable: Mapping[str, str] | None = None
    ) -> None:
        self._not_applicable = not_applicable or {}
        self._place: dict[tuple[str, str, str, str], int] = {}  # in the columns
        self.groups: dict[str, int] = {}
        self.count = 0
        lines = one_line_per_metric(summaries)
        self._columns = {str(name): lines[name].to_numpy().tolist() for name in lines}
        keys = (map(str, self._columns[name]) for name in ("group", *METRIC_KEY))
        for place, (key, count) in enumerate(
            zip(zip(*keys, strict=True), self._columns["count"], strict=True)
        ):
            group, audit, measure, metric = key
            if (group, audit, measure, metric) in self._place:  # the first of equal lines counts
                continue
            self._place[group, audit, measure, metric] = place
            if group == ALL:
                self.count = max(self.count, int(count))
            else:
                self.groups[group] = int(count)
        self._audits = list(dict.fromkeys(key[1] for key in self._place))

    def __call__(self, name: str, group: str = ALL) -> Finding | None:
        """The number "audit/metric" or "audit/metric@measure" of a group, if it decides anything.

        It does not without an interval, nor if it is undefined for all but a few examples.
        """
        line = self._line(name, group)
        if line is None or self._values(line) < _MIN_VALUES:
            return None
        if math.isnan(line.low) and math.isnan(getattr(line, "relative_low", math.nan)):
            return None
        undefined, note = line.nan_share, ""
        if name.startswith(_SAMPLED) and (tried := self.values(_TRIED, group)):
            # The audit reads some of the texts only: the others are not undefined.
            undefined = 1 - self._values(line) / tried
            note = f"from {tried} of {line.count} texts" if tried < line.count else ""
        return Finding(
            name=f"{line.audit}/{name.partition('/')[2]}",
            meaning=MEANINGS[name],
            value=line.mean,
            low=line.low,
            high=line.high,
            floor=line.floor,
            ceiling=line.ceiling,
            nan_share=undefined,
            note=note,
            compared=getattr(line, "compared", 1.0),
            relative=getattr(line, "relative", math.nan),
            relative_low=getattr(line, "relative_low", math.nan),
            relative_high=getattr(line, "relative_high", math.nan),
        )

    def _line(self, name: str, group: str) -> Any:
        audit, _, rest = name.partition("/")
        metric, _, measure = rest.partition("@")
        stored_audit = resolve_audit_name(audit, self._audits) or audit
        place = self._place.get((group, stored_audit, measure, metric))
        if place is None:
            return None
        return SimpleNamespace(**{name: column[place] for name, column in self._columns.items()})

    @staticmethod
    def _values(line: Any) -> int:
        return round(line.count * (1 - line.nan_share))

    def values(self, name: str, group: str = ALL) -> int:
        """How many examples of a group have this number."""
        line = self._line(name, group)
        return 0 if line is None else self._values(line)

    @property
    def classes(self) -> list[str]:
        """The groups of predicted classes."""
        return [group for group in self.groups if class_of_group(group) is not None]

    def judged_groups(self, name: str, groups: Collection[str]) -> list[str]:
        """Those of some groups with enough values of this number to be judged on their own."""
        return [group for group in groups if self.values(name, group) >= MIN_GROUP]

    def unjudged_group(self, name: str, groups: Collection[str]) -> str | None:
        """The largest of some groups with too few values to be judged, if it is a large one."""
        few = {
            group: self.groups[group]
            for group in groups
            if self.values(name, group) < MIN_GROUP
            and self.groups[group] >= _LARGE_GROUP * self.count
        }
        return max(few, key=lambda group: few[group]) if few else None

    def known(self, *names: str) -> tuple[Finding, ...]:
        """Those of the named numbers that can decide something."""
        return tuple(finding for name in names if (finding := self(name)) is not None)

    def ran(self, audit: str) -> bool:
        """Whether an audit has any number."""
        return resolve_audit_name(audit, self._audits) is not None

    def why_unknown(self, audit: str, name: str = "") -> str:
        """Why an audit, or one of its numbers, has nothing to decide by."""
        if not self.ran(audit):
            asked_for = resolve_audit_name(audit, list(self._not_applicable))
            if asked_for is not None:
                reason = self._not_applicable[asked_for]
                return f"the audit {audit} does not apply: {reason}"
            return f"the audit {audit} was not run"
        line = self._line(name, ALL) if name else None
        if line is not None and self._values(line) >= _MIN_VALUES:
            if line.nan_share > 0.5:
                return f"the number is undefined for {percent(line.nan_share)} of the texts"
            return f"its interval is {getattr(line, 'interval', '') or 'not known'}"
        return (
            f"the audit {audit} has too few values for an interval: "
            f"at least {_MIN_VALUES} are needed"
        )
