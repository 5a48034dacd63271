"""The tables, figures and claims of Jain & Wallace 2019 as items."""

from __future__ import annotations

from attnaudit.papers.item import Item
from attnaudit.papers.jain_wallace_2019.claims import NOISE, by_class, by_length, difference, trend
from attnaudit.papers.jain_wallace_2019.figures import (
    OF_FIRST,
    drawn_of_first,
    figure1,
    heatmaps,
    summary_of,
)
from attnaudit.papers.jain_wallace_2019.tables import table1, table2
from attnaudit.papers.jain_wallace_2019.trained_models import DATASETS, PRESET, models
from attnaudit.report.figures.furthest_histogram import furthest_histogram
from attnaudit.report.figures.furthest_violins import furthest_violins
from attnaudit.report.figures.permutation_violins import permutation_violins
from attnaudit.report.figures.tau_histograms import tau_histograms

_BILSTM = {"encoder": "bilstm", "scorer": "additive"}
_ALL = ("bilstm", "average", "cnn")
_OTHER_TEXT = {"": "the published numbers are of another text"}

ITEMS = (
    Item(
        "table1",
        "Corpus counts and test performance (F1, or accuracy) of the BiLSTM",
        DATASETS,
        models,
        table1,
        PRESET,
        published="jain_wallace_2019_table1",
    ),
    Item(
        "table2",
        "tau of attention with gradients and leave-one-out, by class; both published versions",
        DATASETS,
        lambda plan: models(plan, ("bilstm", "average")),
        table2,
        PRESET,
        published="jain_wallace_2019_table2",
    ),
    Item(
        "table2_all",
        "Table 2 for every encoder with both scorers, which the paper has online only",
        DATASETS,
        lambda plan: models(plan, _ALL, ("additive", "dot")),
        table2,
        PRESET,
        published="jain_wallace_2019_table2",
    ),
    Item(
        "figure1",
        "A heatmap next to other attention with the same prediction: tau, median change",
        ("imdb", "sst"),
        models,
        figure1,
        PRESET,
        published="jain_wallace_2019_figure1",
        draw=heatmaps,
        pictured=OF_FIRST,
        impossible=_OTHER_TEXT,
    ),
    Item(
        "figure2",
        "Histograms of tau with gradients, by class",
        DATASETS,
        lambda plan: models(plan, ("bilstm", "average")),
        table2,
        PRESET,
        draw=drawn_of_first(tau_histograms),
        pictured=OF_FIRST,
    ),
    Item(
        "figure3",
        "Median change of the output under shuffled attention, against the largest weight",
        DATASETS,
        models,
        summary_of("permutation", "tvd_median"),
        PRESET,
        draw=drawn_of_first(permutation_violins),
        pictured=OF_FIRST,
    ),
    Item(
        "figure4",
        "Histograms of the furthest attention with the same prediction (epsilon-max JSD)",
        DATASETS,
        models,
        summary_of("furthest", "jsd"),
        PRESET,
        draw=drawn_of_first(furthest_histogram),
        pictured=f"{OF_FIRST}, ε = .01 (questions .05)",
    ),
    Item(
        "figure5",
        "Furthest attention against the largest weight",
        DATASETS,
        models,
        summary_of("furthest", "jsd"),
        PRESET,
        draw=drawn_of_first(furthest_violins),
        pictured=f"{OF_FIRST}, ε = .01 (questions .05)",
    ),
    Item(
        "appendix_c",
        "Heatmap pairs for every corpus, with the change of the output",
        DATASETS,
        models,
        figure1,
        PRESET,
        published="jain_wallace_2019_appendix_c",
        draw=heatmaps,
        pictured=OF_FIRST,
        impossible=_OTHER_TEXT,
    ),
    Item(
        "claim_cnn",
        f"CNN encoders are comparable: tau differs from the BiLSTM's by at most {NOISE}",
        DATASETS,
        lambda plan: models(plan, ("bilstm", "cnn")),
        difference({**_BILSTM, "encoder": "cnn"}, _BILSTM, (-NOISE, NOISE)),
        PRESET,
        compares_encoders=True,
    ),
    Item(
        "claim_dot",
        f"Scaled dot attention is comparable: tau differs from additive's by at most {NOISE}",
        DATASETS,
        lambda plan: models(plan, ("bilstm",), ("additive", "dot")),
        difference({**_BILSTM, "scorer": "dot"}, _BILSTM, (-NOISE, NOISE)),
        PRESET,
    ),
    Item(
        "claim_average",
        "Average encoders have much higher tau than the BiLSTM",
        DATASETS,
        lambda plan: models(plan, ("bilstm", "average")),
        difference({**_BILSTM, "encoder": "average"}, _BILSTM, (NOISE, 2.0)),
        PRESET,
        compares_encoders=True,
    ),
    Item(
        "claim_diabetes",
        "Diabetes: positives are sensitive to other attention, negatives are not",
        ("mimic:task=diabetes",),
        models,
        by_class,
        PRESET,
    ),
    Item(
        "claim_trend",
        "Peaky attention leaves less room for other attention, but only weakly so (figure 5)",
        DATASETS,
        models,
        trend,
        PRESET,
    ),
    Item(
        "claim_length",
        "Whether tau is significant depends on the length of the text",
        DATASETS,
        models,
        by_length,
        PRESET,
    ),
)
