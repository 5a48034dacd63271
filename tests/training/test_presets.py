"""Presets: the settings of each paper."""

from __future__ import annotations

import pytest
import torch

from attnaudit.core import registry
from attnaudit.data import random_batch
from attnaudit.models import build
from attnaudit.papers.wen_2022.trained_models import ENCODERS
from attnaudit.training.experiment import make_experiment
from attnaudit.training.presets import PRESETS, preset_dataset, preset_options


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("dataset", ["babi:task=1", "sst"])
def test_every_preset_makes_an_experiment_whose_model_can_be_built(
    preset: str, dataset: str
) -> None:
    experiment = make_experiment(dataset, preset=preset)
    experiment.architecture.check()
    model = build(
        experiment.architecture, words=20, classes=2, with_query=dataset.startswith("babi")
    )
    batch = random_batch(words=20, with_query=dataset.startswith("babi"), seed=0)
    batch = type(batch)(**{**vars(batch), "segments": torch.zeros_like(batch.tokens)})
    assert model.eval().read(batch).logits.shape == (6, 2)
    own = make_experiment(dataset, preset=preset, embedding=7, epochs=3)
    assert (own.architecture.embedding, own.recipe.epochs) == (7, 3)


def test_presets_differ_where_paper_and_code_differ() -> None:
    paper, code = (
        make_experiment("sst", preset=f"jain_wallace:fidelity={each}").recipe
        for each in ("paper", "code")
    )
    assert (paper.optimiser, paper.attention_weight_decay) == ("adam", 1e-5)
    assert (code.optimiser, code.attention_weight_decay) == ("amsgrad", 0.0)
    flan = make_experiment("babi", preset="serrano_smith:flat=true,encoder=conv").architecture
    assert (flan.model, flan.encoder) == ("attentive", "cnn:kernels=3,filters=100")
    assert make_experiment("sst", preset="meister:encoder=transformer").recipe.learning_rate == 1e-5
    assert make_experiment(
        "sst", preset="meister:faster_attention=true"
    ).recipe.attention_learning_rate == pytest.approx(1e-3)
    encoders = [
        make_experiment("sst", preset=f"wen{options}").architecture.encoder
        for options in ("", ":encoder=cnn", ":encoder=mlp")
    ]
    assert encoders == list(ENCODERS)


def test_a_preset_prepares_its_corpus_and_leaves_what_is_given() -> None:
    assert preset_dataset("jain_wallace", "sst") == "sst:replace_numbers=true"
    assert preset_dataset("jain_wallace:fidelity=code", "sst") == "sst"
    assert (
        preset_dataset("jain_wallace", "sst:replace_numbers=false") == "sst:replace_numbers=false"
    )
    assert preset_dataset("wen", "sst:min_length=3") == "sst:min_length=3"
    name, options = registry.parse(preset_dataset("serrano_smith", "imdb:test_share=0.5"))
    assert name == "imdb"
    assert options == {
        "labels": "stars",
        "tokeniser": "auto",
        "breaks": False,
        "sentences": True,
        "more_than": None,
        "fewer_than": None,
        "test_share": 0.5,
    }


@pytest.mark.parametrize(
    ("dataset", "batch_size", "epochs", "output", "decay"),
    [
        ("sst", 32, 8, "linear", 0.0),
        ("snli", 128, 25, "tanh", 1e-5),
        ("cnn_qa", 90, 25, "tanh", 1e-5),
        ("babi", 50, 100, "tanh", 1e-5),
    ],
)
def test_jain_and_wallace_train_each_task_in_its_own_way(
    dataset: str, batch_size: int, epochs: int, output: str, decay: float
) -> None:
    paper = preset_options("jain_wallace", dataset)
    assert (paper["batch_size"], paper["epochs"], paper["output"]) == (batch_size, epochs, "linear")
    assert paper["attention_weight_decay"] == 1e-5
    released = preset_options("jain_wallace:fidelity=code", dataset)
    assert (released["output"], released["attention_weight_decay"]) == (output, decay)
