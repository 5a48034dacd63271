"""Jain & Wallace 2019, "Attention is not Explanation", table 2: tau of attention with importance, additive attention.

Two versions of the table were published: the paper's, whose models were chosen on the test set, and a later one chosen on dev. How far
they lie apart is the noise of retraining, by which any other difference should be judged. Both are in published/jain_wallace_table2.csv.
"""

from __future__ import annotations

import pandas as pd

from attnaudit.core import registry
from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.published import table
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric

_SAME = {"model": "attentive", "scorer": "additive", "projection": "softmax", "variant": "ordinary"}


def beside_published(results: Results) -> pd.DataFrame:
    """Our mean tau and its interval beside both published ones; empty where nothing was published for this run."""
    chosen = results.about.get("run", {}).get("choices", {})
    if any(chosen.get(part) != name for part, name in _SAME.items()):
        return pd.DataFrame()
    if {"groups", "classes"} & set(registry.parse(chosen["dataset"])[1]):
        return pd.DataFrame()  # other classes than the paper's
    published = table("jain_wallace_table2")
    published = published[
        (published["dataset"] == corpus_of(chosen["dataset"]))
        & (published["encoder"] == registry.parse(chosen["encoder"])[0])
    ]
    by_class = published.loc[published["predicted_class"] != "all", "predicted_class"].astype(int)
    if len(by_class) and by_class.max() + 1 != len(results.about["classes"]):
        return pd.DataFrame()  # other labels of the same texts
    ours = one_line_per_metric(results.summaries)
    ours = ours[(ours["audit"] == "agreement") & (ours["metric"] == "tau")].set_index(
        ["group", "measure"]
    )
    lines = []
    for line in published.itertuples():
        named = line.predicted_class
        group = "all" if named == "all" else results.about["classes"][int(named)]
        if (group, line.measure) not in ours.index:
            continue
        found = ours.loc[(group, line.measure)]
        lines.append(
            {
                "predicted class": group,
                "measure": line.measure,
                "paper": line.paper_mean,
                "later version": line.later_mean,
                "ours": round(float(found["mean"]), 3),
                "low": round(float(found["low"]), 3),
                "high": round(float(found["high"]), 3),
            }
        )
    return pd.DataFrame(lines)
