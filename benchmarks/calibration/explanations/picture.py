"""Draw how often recommendations, and explanations on their own, are wrong."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pandas as pd
from benchmarks.calibration.explanations.answers import SHOWN
from benchmarks.calibration.explanations.document import TEXTS
from matplotlib.figure import Figure

from attnaudit.results.recommendation import spelled

_LEAST = 5  # models, for a rate to be drawn
_WRONG, _FOOLED, _MISSED = "#D55E00", "#CC79A7", "#0072B2"


def draw(
    recommendations: pd.DataFrame, errors: pd.DataFrame, path: Path, half: str = "held out"
) -> None:
    """Write the picture of one half of the zoo.

    Parameters
    ----------
    recommendations : from `recommendation_errors`.
    errors : from `explanation_errors`.
    path : of the SVG file.
    half : "fit" or "held out".
    """
    with mpl.rc_context({"svg.hashsalt": "attnaudit", "font.size": 8, "svg.fonttype": "path"}):
        figure = Figure(figsize=(8.4, 3.2), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
        part = recommendations[recommendations["half"] == half].sort_values("texts")
        places = range(len(part))
        for shift, name, colour, mark, words in (
            (-0.12, "wrong", _WRONG, "o", "recommended, not faithful"),
            (0.0, "fooled", _FOOLED, "^", "recommended, only unfaithful compared"),
            (0.12, "missed", _MISSED, "s", "nothing recommended, one faithful"),
        ):
            at = [place + shift for place in places]
            left.plot(at, part[name], color=colour, marker=mark, markersize=4, label=words)
            left.vlines(at, part[f"{name}_low"], part[f"{name}_high"], color=colour, lw=0.8)
        left.set_xticks(list(places), [f"{texts:,}" for texts in part["texts"]])
        left.set_xlabel("texts audited")
        left.set_ylabel(f"share ({half})")
        left.set_ylim(-0.02, 0.52)
        left.legend(frameon=False)
        chosen = (errors["half"] == half) & (errors["texts"] == TEXTS)
        of = errors[chosen & (errors["question"] == SHOWN)].iloc[::-1]
        rows = range(len(of))
        for shift, name, cases, colour, mark, words in (
            (0.12, "false_pass", "truth_no", _WRONG, "o", "would be offered alone, not faithful"),
            (-0.12, "false_fail", "truth_yes", _MISSED, "s", "would not be offered, faithful"),
        ):
            at = [row + shift for row in rows]
            rates = of.where(of[cases] >= _LEAST)
            right.plot(rates[name], at, color=colour, marker=mark, markersize=4, ls="", label=words)
            right.hlines(at, rates[f"{name}_low"], rates[f"{name}_high"], color=colour, lw=0.8)
        right.set_yticks(list(rows), [spelled(name) for name in of["explanation"]])
        right.set_xlim(-0.01, 0.52)
        right.set_xlabel(f"share of models ({half}, {TEXTS} texts)")
        right.legend(frameon=False)
        for panel in (left, right):
            panel.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None})
