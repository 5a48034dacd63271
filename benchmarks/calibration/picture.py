"""Draw the error rates of the card against the number of texts, one panel per question."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pandas as pd
from matplotlib.figure import Figure

_RATES = {
    "false_yes": ("false yes", "#D55E00", "o"),
    "false_no": ("false no", "#0072B2", "s"),
    "cannot_tell": ("cannot tell", "#666666", "^"),
}


def draw(errors: pd.DataFrame, path: Path, half: str = "held out") -> None:
    """Write the picture of one half of the zoo.

    Parameters
    ----------
    errors : as `outcomes.tabulate` returns.
    path : of the SVG file.
    half : "fit", "held out" or "all".
    """
    chosen = errors[errors["half"] == half]
    questions = list(dict.fromkeys(chosen["question"]))
    with mpl.rc_context({"svg.hashsalt": "attnaudit", "font.size": 8, "svg.fonttype": "path"}):
        figure = Figure(figsize=(2.1 * len(questions), 2.4), layout="constrained")
        panels = figure.subplots(1, len(questions), sharey=True, squeeze=False)[0]
        for panel, question in zip(panels, questions, strict=True):
            part = chosen[chosen["question"] == question].sort_values("texts")
            places = range(len(part))
            for shift, (name, (words, colour, mark)) in zip(
                (-0.12, 0.0, 0.12), _RATES.items(), strict=True
            ):
                at = [place + shift for place in places]
                panel.plot(at, part[name], color=colour, marker=mark, markersize=4, label=words)
                panel.vlines(at, part[f"{name}_low"], part[f"{name}_high"], color=colour, lw=0.8)
            panel.set_xticks(list(places), [f"{texts:,}" for texts in part["texts"]])
            panel.set_title(question.replace("_", " "))
            panel.set_xlabel("texts audited")
            panel.spines[["top", "right"]].set_visible(False)
            panel.set_ylim(-0.03, 1.03)
        panels[0].set_ylabel(f"share of models ({half})")
        panels[0].legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})
