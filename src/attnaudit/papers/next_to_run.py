"""Published numbers under the card of one run: only where the run is theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from attnaudit.core import registry
from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.conditions import corpus_of_paper, is_model
from attnaudit.papers.published import published
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric

_MEISTER = {
    "bilstm": {"encoder": "bilstm:hidden=128", "scorer": "additive"},
    "transformer": {"encoder": "transformer:hidden=128,widening=1", "scorer": "dot"},
}


def taus(results: Results) -> pd.DataFrame:
    """Our mean tau next to both versions of Jain & Wallace's table 2, by class and measure.

    Empty if nothing was published for this dataset and model.
    """
    choices = results.about.get("run", {}).get("choices", {})
    corpus = corpus_of_paper(choices.get("dataset", ""), "jain_wallace") if choices else None
    if corpus is None:
        return pd.DataFrame()
    hidden = 30 if corpus.startswith("babi") else 128
    encoders = {"bilstm": f"bilstm:hidden={hidden}", "average": "average"}
    name = registry.parse(str(choices["encoder"]))[0]
    expected = {"encoder": encoders.get(name, ""), "scorer": "additive", "projection": "softmax"}
    if name not in encoders or not is_model(choices, **expected):
        return pd.DataFrame()
    table = published("jain_wallace_2019_table2")
    table = table[
        (table["dataset"] == corpus) & (table["encoder"] == name) & (table["metric"] == "tau")
    ]
    classes = results.about["classes"]
    by_class = table.loc[table["predicted_class"] != "all", "predicted_class"].astype(int)
    if len(by_class) and by_class.max() + 1 != len(classes):
        return pd.DataFrame()  # the same texts with other labels
    ours = one_line_per_metric(results.summaries)
    ours = ours[(ours["audit"] == "agreement") & (ours["metric"] == "tau")]
    ours = ours.set_index(["group", "measure"])
    lines = []
    for line in table.itertuples():
        number = line.predicted_class
        group = "all" if number == "all" else classes[int(number)]
        if (group, line.measure) not in ours.index:
            continue
        mean = ours.loc[(group, line.measure)]
        lines.append(
            {
                "predicted class": group,
                "measure": line.measure,
                "paper": line.other,
                "later version": line.value,
                **{
                    key: round(float(mean[column]), 3)
                    for key, column in (("ours", "mean"), ("low", "low"), ("high", "high"))
                },
            }
        )
    return pd.DataFrame(lines)


def accuracy(choices: Mapping[str, Any], reached: float) -> str | None:
    """Our accuracy next to that of Meister et al., in words; None for another dataset or model."""
    name = registry.parse(str(choices["encoder"]))[0]
    corpus = corpus_of_paper(str(choices["dataset"]), "meister")
    if name not in _MEISTER or not is_model(choices, **_MEISTER[name], projection="softmax"):
        return None
    table = published("meister_2021_table3")
    lines = table[(table["dataset"] == corpus) & (table["encoder"] == name)]
    if not len(lines):
        return None
    printed = float(lines["value"].iloc[0])
    return (
        f"Published accuracy (Meister et al. 2021, table 3): {printed}; ours {reached:.3f}, "
        f"a difference of {reached - printed:+.3f}."
    )


def twin(choices: Mapping[str, Any]) -> str | None:
    """The twin of Wen et al. next to which ours stands; None for another dataset or model.

    Their code halves the two-class TVD, so their lam is half of ours. The paper does not say
    whether the TVD of the table is halved too.
    """
    dataset = str(choices["dataset"])
    expected = {"encoder": "bilstm:hidden=128", "scorer": "additive", "projection": "softmax"}
    if corpus_of_paper(dataset, "wen") is None or not is_model(choices, **expected):
        return None
    table = published("wen_2022_table3")
    numbers = table[table["dataset"] == corpus_of(dataset)].set_index("metric")["value"]
    if not len(numbers):
        return None
    return (
        f"Published (Wen et al. 2022, table 3): JSD {numbers['jsd']:g} at TVD {numbers['tvd']:g}, "
        f"accuracy {numbers['accuracy']:g}, lam {numbers['lam']:g} of a halved TVD, which is "
        f"{2 * numbers['lam']:g} here."
    )
