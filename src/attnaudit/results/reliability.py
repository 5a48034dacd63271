"""How often the card errs, as measured on models of known truth (`make calibrate`)."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from attnaudit.results.number_formats import percent

FILE = "error_rates.json"  # written by benchmarks/calibration, next to this module


@cache
def error_rates() -> dict[str, Any]:
    """The measured error rates of the verdict; empty if they were not measured.

    Returns
    -------
    dict
        Per kind of error ("false_yes", "false_no"), the number of `cases`, the `rate` and the ends
        of its 95 % interval, `low` and `high`.
    """
    stored = files("attnaudit.results") / FILE
    return json.loads(stored.read_text(encoding="utf-8")) if stored.is_file() else {}


def reliability(rules: int) -> str:
    """One sentence on how often the card by these rules says yes wrongly, or an empty text."""
    rates = error_rates()
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
