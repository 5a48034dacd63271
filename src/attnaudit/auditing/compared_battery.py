"""A battery that also compares explanations which are known only after the texts were read."""

from __future__ import annotations

from dataclasses import replace

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.explanations import (
    ExplanationChoice,
    find_explanations,
    with_explanations,
)


def with_compared(battery: Battery, choices: ExplanationChoice) -> Battery:
    """The battery with these explanations, and the audits that judge them."""
    compared = find_explanations(choices)
    audits, measures = with_explanations(dict(battery.audits), dict(battery.measures), compared)
    return replace(battery, audits=audits, measures=measures, explanations=tuple(compared))
