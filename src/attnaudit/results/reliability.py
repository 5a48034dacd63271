"""How often cards and recommendations err, measured on models of known truth (`make calibrate`)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from attnaudit.results.explanation_tests import TEST_RULES
from attnaudit.results.number_formats import percent
from attnaudit.results.questions import CITATION, EXPLANATION

# Written by benchmarks/calibration, next to this module: per kind of card.
FILE, CITATION_FILE = "error_rates.json", "citation_error_rates.json"
RECOMMENDATION_FILE = "explanation_error_rates.json"
_FILES = {EXPLANATION: FILE, CITATION: CITATION_FILE}
FEWEST_TEXTS = 20  # with which the rates were measured; of fewer nothing is known


@cache
def error_rates(kind: str = EXPLANATION) -> dict[str, Any]:
    """The measured error rates of the verdict; empty if they were not measured.

    Parameters
    ----------
    kind : of the card, "explanation" or "citation".

    Returns
    -------
    dict
        Per kind of error ("false_yes", "false_no"), the number of `cases`, the `rate` and the ends
        of its 95 % interval, `low` and `high`.
    """
    return _stored(_FILES[kind])


@cache
def recommendation_rates() -> dict[str, Any]:
    """The measured error rates of recommended explanations; empty if they were not measured.

    Returns
    -------
    dict
        As `error_rates`: "wrong" (a recommended explanation is not faithful), "fooled" (one is
        recommended where only unfaithful ones were compared), "missed" (nothing is recommended
        though one is faithful) and "drawn" (scores drawn at random are recommended, if nothing
        else was compared). Of the numbers of texts, the one with the highest rate.
    """
    return _stored(RECOMMENDATION_FILE)


def _stored(name: str) -> dict[str, Any]:
    stored = files("attnaudit.results") / name
    return json.loads(stored.read_text(encoding="utf-8")) if stored.is_file() else {}


def reliability(rules: int, kind: str = EXPLANATION) -> str:
    """One sentence on how often the card by these rules says yes wrongly, or an empty text."""
    rates = error_rates(kind)
    if rates.get("rules") != rules:
        return ""
    wrong_yes, wrong_no = rates["false_yes"], rates["false_no"]
    return (
        f"On models of known truth, this card says yes wrongly in "
        f"{percent(wrong_yes['rate'], show_small=True)} of cases "
        f"(at most {percent(wrong_yes['high'], show_small=True)}) and no wrongly in "
        f"{percent(wrong_no['rate'], show_small=True)} "
        f"(at most {percent(wrong_no['high'], show_small=True)})."
    )


def recommendation_reliability(texts: int) -> str:
    """One sentence on how often a recommended explanation is wrong, or an empty text.

    Parameters
    ----------
    texts : from which the place of an explanation was measured. The rates are of the number of
        texts with the highest, mostly 20.
    """
    rates = recommendation_rates()
    if rates.get("rules") != TEST_RULES or texts < FEWEST_TEXTS:
        return ""
    wrong, fooled = rates["wrong"], rates["fooled"]
    return (
        "On models of known truth, an explanation recommended so was wrong in "
        f"{percent(wrong['rate'], show_small=True)} of cases "
        f"(at most {percent(wrong['high'], show_small=True)}); where only wrong ones were "
        f"compared, one was recommended in {percent(fooled['rate'], show_small=True)} "
        f"(at most {percent(fooled['high'], show_small=True)})."
    )
