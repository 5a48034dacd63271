"""The tables, figures and claims of Meister et al. 2021 as items."""

from __future__ import annotations

from attnaudit.papers.item import Item
from attnaudit.papers.meister_2021.figures import draw_by_model, draw_over_lam, entropies, tau_with
from attnaudit.papers.meister_2021.tables import (
    appendix_a,
    contextualisation,
    table1,
    table2,
    table3,
    table5,
)
from attnaudit.papers.meister_2021.trained_models import (
    DATASETS,
    INPUTS,
    PRESET,
    STATES,
    TWINS,
    appendix_a_models,
    models,
    spectrum,
    with_influence,
)

_TABLE6 = "meister_2021_table6"

ITEMS = (
    Item(
        "table1",
        "Entropy of the inputs behind each hidden state",
        DATASETS,
        lambda plan: with_influence(models(plan)),
        table1,
        PRESET,
        published="meister_2021_table1",
    ),
    Item(
        "table2",
        "tau-b of lam of sparsegen with the entropy of the importance of inputs",
        DATASETS,
        spectrum,
        table2,
        PRESET,
        published="meister_2021_table2",
    ),
    Item(
        "table3",
        "Corpus sizes and test accuracy",
        DATASETS,
        lambda plan: models(plan, ("softmax",)),
        table3,
        PRESET,
        published="meister_2021_table3",
    ),
    Item(
        "table5",
        "JSD and accuracy of adversarial twins, frozen and free",
        DATASETS,
        lambda plan: models(plan, ("softmax",), TWINS),
        table5,
        PRESET,
        published="meister_2021_table5",
    ),
    Item(
        "table6",
        "tau of attention with the importance of inputs and of hidden states",
        DATASETS,
        models,
        tau_with(*INPUTS, *STATES),
        PRESET,
        published=_TABLE6,
    ),
    Item(
        "figure1",
        "tau with gradients of inputs and of hidden states, by model",
        DATASETS,
        models,
        tau_with("gradient_norm", "hidden_gradient"),
        PRESET,
        published=_TABLE6,
        draw=draw_by_model,
    ),
    Item(
        "figure2",
        "Entropy of attention and of the importance of inputs, from softmax to sparsemax",
        DATASETS,
        spectrum,
        entropies,
        PRESET,
        draw=draw_by_model,
    ),
    Item(
        "figure3",
        "tau of attention with gradient_norm and leave_one_out against lam of sparsegen",
        ("imdb", "sst", "newsgroups"),
        spectrum,
        tau_with(*INPUTS),
        PRESET,
        published=_TABLE6,
        draw=draw_over_lam,
    ),
    Item(
        "figure4",
        "tau with leaving out inputs and hidden states, by model",
        DATASETS,
        models,
        tau_with("leave_one_out", "hidden_leave_one_out"),
        PRESET,
        published=_TABLE6,
        draw=draw_by_model,
    ),
    Item(
        "contextualisation",
        "Sparser attention comes with states of more inputs: tau of lam with their entropy",
        DATASETS,
        lambda plan: with_influence(spectrum(plan)),
        contextualisation,
        PRESET,
    ),
    Item(
        "appendix_a",
        "Influence on a state's length and on all its numbers rank inputs nearly identically",
        DATASETS,
        appendix_a_models,
        appendix_a,
        PRESET,
        # A gradient for every number of every state: short texts, to be fast.
        fast_dataset="keyword:train=40,dev=16,test=12,length=4,jitter=1,distractors=1",
    ),
)
