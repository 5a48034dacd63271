"""Experiments built from flat choices, and what is stored of them."""

from __future__ import annotations

from attnaudit.results.run_names import run_name
from attnaudit.training.experiment import make_experiment


def test_a_part_named_without_options_has_those_that_suit_the_dataset_or_the_preset() -> None:
    def encoder(dataset: str, **given: str) -> str:
        return make_experiment(dataset, **given).architecture.encoder

    assert encoder("babi:task=2", encoder="bilstm") == "bilstm:hidden=30"
    assert encoder("babi_files", encoder="bilstm") == "bilstm:hidden=30"
    assert make_experiment("babi", encoder="bilstm") == make_experiment("babi")
    assert encoder("babi", encoder="bilstm:hidden=7") == "bilstm:hidden=7"
    assert encoder("babi", encoder="bigru") == "bigru"
    assert encoder("sst", encoder="bilstm") == "bilstm"
    transformer = {"preset": "meister:encoder=transformer"}
    assert (
        encoder("sst", encoder="transformer", **transformer)
        == "transformer:hidden=128,layers=2,heads=1,widening=1"
    )
    assert encoder("sst", encoder="transformer:heads=4", **transformer) == (
        "transformer:hidden=128,layers=2,heads=4,widening=1"
    )
    han = make_experiment(
        "imdb", preset="serrano_smith:site=word", model="hierarchical"
    ).architecture
    assert han.model == "hierarchical:site=word"


def test_stored_names_stay_those_of_earlier_versions() -> None:
    """Names of run directories are hashes of the choices: a new key would orphan every old run."""
    experiment = make_experiment("babi:task=1", keep_examples=3, target_score=0.5)
    choices = experiment.choices()
    assert (choices["illustrated"], choices["recipe"]["good_enough"]) == (3, 0.5)
    assert not {"keep_examples", "architecture"} & set(choices)
    assert "target_score" not in choices["recipe"]
    name = run_name(make_experiment("keyword", encoder="average", epochs=1).choices())
    assert name == "keyword-average-additive-softmax-seed_0-520396b1"
