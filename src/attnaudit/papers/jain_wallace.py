"""Jain & Wallace 2019, "Attention is not Explanation", table 2: tau of attention with importance.

Two versions of the table were published: that of the paper, with models selected on the test set,
and a later one with models selected on dev. The distance between them is the noise of retraining;
judge any other difference by it. Both are in published/jain_wallace_table2.csv.
"""

from __future__ import annotations

import pandas as pd

from attnaudit.core import registry
from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.published import table
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric

# The choices of the paper's models.
_CHOICES = {
    "model": "attentive",
    "scorer": "additive",
    "projection": "softmax",
    "variant": "ordinary",
}


def next_to_published(results: Results) -> pd.DataFrame:
    """Our mean tau with its interval next to both published values, one line per class and measure.

    Empty if nothing was published for this dataset and model.
    """
    chosen = results.about.get("run", {}).get("choices", {})
    if any(chosen.get(part) != name for part, name in _CHOICES.items()):
        return pd.DataFrame()
    if {"groups", "classes"} & set(registry.parse(chosen["dataset"])[1]):
        return pd.DataFrame()  # not the classes of the paper
    published = table("jain_wallace_table2")
    published = published[
        (published["dataset"] == corpus_of(chosen["dataset"]))
        & (published["encoder"] == registry.parse(chosen["encoder"])[0])
    ]
    by_class = published.loc[published["predicted_class"] != "all", "predicted_class"].astype(int)
    if len(by_class) and by_class.max() + 1 != len(results.about["classes"]):
        return pd.DataFrame()  # the same texts with other labels
    ours = one_line_per_metric(results.summaries)
    ours = ours[(ours["audit"] == "agreement") & (ours["metric"] == "tau")].set_index(
        ["group", "measure"]
    )
    lines = []
    for line in published.itertuples():
        number = line.predicted_class
        group = "all" if number == "all" else results.about["classes"][int(number)]
        if (group, line.measure) not in ours.index:
            continue
        mean = ours.loc[(group, line.measure)]
        lines.append(
            {
                "predicted class": group,
                "measure": line.measure,
                "paper": line.paper_mean,
                "later version": line.later_mean,
                "ours": round(float(mean["mean"]), 3),
                "low": round(float(mean["low"]), 3),
                "high": round(float(mean["high"]), 3),
            }
        )
    return pd.DataFrame(lines)
