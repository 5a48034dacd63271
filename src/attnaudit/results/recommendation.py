"""What to show instead of attention, from the stored ranking of explanations: one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.results.explanation_tests import POINTING, TESTS
from attnaudit.results.groups import describe_group
from attnaudit.results.questions import NO, YES

_SPELLED = {
    "leave_one_out": "leave-one-out",
    "head_mean": "the mean over heads",
    "rollout": "rollout",
    "attention_norm": "attention times norm",
    "input_times_gradient": "input × gradient",
    "integrated_gradients": "integrated gradients",
    "lime": "LIME",
    "shap": "SHAP",
}
_FLOOR = "random"
_OF_ATTENTION = (
    "attention",
    "head_mean",
    "rollout",
    "attention_norm",
    "attention_gradient",
    "attention_times_gradient",
)


def spelled(name: str) -> str:
    """An explanation as a sentence names it.

    Examples
    --------
    >>> spelled("leave_one_out"), spelled("mine")
    ('leave-one-out', 'mine')
    """
    return _SPELLED.get(name, name)


def stored_ranking(about: Mapping[str, Any]) -> pd.DataFrame:
    """The ranking that was stored with the results, one line per explanation, the best first."""
    ranking = about.get("explanation_ranking")
    if ranking is None:
        raise InputError(
            "No explanations were compared in this audit. Run it again with "
            'explanations="all" (--explanations all).'
        )
    return pd.DataFrame(ranking)


def recommended(ranking: Sequence[Mapping[str, Any]], decision: str) -> Mapping[str, Any] | None:
    """The explanation to show: of those that beat random words, the one that passes most tests.

    One that `may_be_shown` comes before one that may not. Of several, the best rank; of tied ones
    attention, if its card is not a no, or else the cheapest. If the card of attention is a no,
    nothing made of attention is recommended. None if none beats random words; whether the best of
    those that do may be shown is asked by the caller, who says so otherwise.
    """
    candidates = [
        row
        for row in ranking
        if row["beats_random"]
        and row["explanation"] != _FLOOR
        and not (decision == NO and row["explanation"].partition(":")[0] in _OF_ATTENTION)
    ]
    return min(candidates, key=_cost_of_choice, default=None)


def may_be_shown(row: Mapping[str, Any]) -> bool:
    """Whether an explanation is offered.

    It beats random words, passes one of `POINTING`, and fails for no predicted class (which
    rankings of earlier versions do not say).
    """
    return bool(row["beats_random"]) and not _objection(row)


def _objection(row: Mapping[str, Any]) -> str:
    """Why an explanation that beats random words is not offered; empty if it is."""
    if not any(row["tests"].get(key) == YES for key in POINTING):
        return f"passes neither {' nor '.join(POINTING)}"
    group = row.get("failing_class")
    if not group or not isinstance(group, str):  # NaN in a table of which only some rows say it
        return ""
    return f"points at the wrong words of {describe_group(group)}"


def _cost_of_choice(row: Mapping[str, Any]) -> tuple[bool, float, float, bool, float]:
    rank = math.inf if row["rank"] is None else row["rank"]
    seconds = math.inf if row["seconds"] is None else row["seconds"]
    is_other = row["explanation"] != "attention"
    return not may_be_shown(row), -row["passed"], rank, is_other, seconds


def recommendation(ranking: Sequence[Mapping[str, Any]], decision: str) -> str:
    """One sentence: how many tests attention passes, and what passes more.

    Parameters
    ----------
    ranking : from `rank_explanations`.
    decision : of the card.

    Returns
    -------
    An empty text if nothing was compared.
    """
    of = {row["explanation"]: row for row in ranking}
    attention, best = of.get("attention"), recommended(ranking, decision)
    if attention is None:
        return ""
    start = f"Attention passes {attention['passed']} of {len(TESTS)} tests"
    if not attention["beats_random"]:
        start += " and does not beat random words"
    elif best is not None and best is not attention and best["passed"] <= attention["passed"] > 0:
        objection = "is not an explanation by its card" if decision == NO else _objection(attention)
        start += f", but {objection}" if objection else ""
    if best is None:
        tried = "of what was tried, nothing to show instead beats random words"
        return f"{start}; {tried}: show none of it."
    objection = _objection(best)
    if best is attention:
        also = f", and it {objection}" if objection else ""
        return f"{start}; no other explanation does better{also}."
    name = spelled(best["explanation"])
    if not best["passed"]:
        return f"{start}; {name} beats random words, but passes none of them."
    if objection:
        return f"{start}; {name} beats random words, but {objection}: show none of it."
    cost = "" if best["seconds"] is None else f", at {seconds_text(best['seconds'])} per text"
    passed = f"{best['passed']}{', too' if best['passed'] == attention['passed'] else ''}"
    return f"{start}; {name} passes {passed}{cost}: show that instead."


def seconds_text(seconds: float) -> str:
    """Seconds with two significant digits.

    Examples
    --------
    >>> seconds_text(0.9123), seconds_text(0.0042), seconds_text(75.2), seconds_text(1e-5)
    ('0.91 s', '0.004 s', '75 s', 'less than 0.001 s')
    """
    if seconds < 0.001:
        return "less than 0.001 s"
    digits = 0 if seconds >= 10 else 2 if seconds >= 0.01 else 3
    return f"{seconds:.{digits}f} s"
