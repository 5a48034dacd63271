"""The tables, figures and claims of Wen et al. 2022 as items."""

from __future__ import annotations

from attnaudit.papers.item import Item
from attnaudit.papers.wen_2022.information import (
    draw_figure2,
    figure2,
    mean_taus,
    noise_of_seeds,
    seed_noise,
    uniformity,
)
from attnaudit.papers.wen_2022.tables import (
    no_twin,
    raised_counts,
    table1,
    table2,
    table4,
    table5,
    twins,
)
from attnaudit.papers.wen_2022.trained_models import (
    ANSWERING,
    CLASSIFICATION,
    DATASETS,
    FIXED,
    PRESET,
    SEED_NOISE,
    all_models,
    models,
    twin_of,
)

_QUERY = "babi:task=1,train=40,test=16"

ITEMS = (
    Item(
        "table1",
        "Corpus counts, and accuracy of BiLSTM with additive attention",
        DATASETS,
        models,
        table1,
        PRESET,
        published="wen_2022_table1",
    ),
    Item(
        "figure2",
        "Weighted tau of information with attention, nine models; the mean taus of section 5",
        DATASETS,
        all_models,
        figure2,
        PRESET,
        published="wen_2022_mean_tau",
        spread=SEED_NOISE,
        draw=draw_figure2,
        pool=mean_taus,
    ),
    Item(
        "seed_noise",
        "Difference of weighted tau between trainings: mean and largest",
        DATASETS,
        models,
        seed_noise,
        PRESET,
        published="wen_2022_seed_noise",
        pool=noise_of_seeds,
    ),
    Item(
        "table2",
        "Loss of weighted tau with attention held (the base's, or uniform) and encoder held",
        DATASETS,
        lambda plan: models(plan, interventions=FIXED),
        table2,
        PRESET,
        published="wen_2022_table2",
        spread=SEED_NOISE,
    ),
    Item(
        "table3",
        "Adversarial twins: accuracy, TVD, JSD",
        CLASSIFICATION,
        lambda plan: models(plan, interventions=[twin_of(plan)]),
        twins,
        PRESET,
        published="wen_2022_table3",
    ),
    Item(
        "table4",
        "Loss of weighted tau in adversarial twins",
        CLASSIFICATION,
        lambda plan: models(plan, interventions=[twin_of(plan)]),
        table4,
        PRESET,
        published="wen_2022_table4",
        spread=SEED_NOISE,
    ),
    Item(
        "table5",
        "Models whose weighted tau Gumbel-softmax raises or leaves as it is",
        DATASETS,
        lambda plan: all_models(plan, ("softmax", "gumbel_softmax:temperature=0.8")),
        table5,
        PRESET,
        published="wen_2022_table5",
        pool=raised_counts,
    ),
    Item(
        "uniformity",
        "Attention that is spread out has a lower weighted tau (finding iii)",
        DATASETS,
        all_models,
        uniformity,
        PRESET,
        compares_encoders=True,
    ),
    Item(
        "claim_no_twin",
        "No twin is found for question answering and inference",
        (*ANSWERING, "snli"),
        lambda plan: models(plan, interventions=[twin_of(plan)]),
        no_twin,
        PRESET,
        fast_dataset=_QUERY,
    ),
)
