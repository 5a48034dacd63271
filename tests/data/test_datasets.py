"""Datasets by name: options, the data folder and errors."""

from __future__ import annotations

import inspect

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data import DATASETS, load
from attnaudit.data.corpora.keyword import keyword


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("babi:task=7", "babi: task must be 1, 2 or 3, got 7. Write for example babi:task=2."),
        ("babi:task=true", "babi: task must be 1, 2 or 3, got True."),
        ("babi:train=-5", "babi: train must be a whole number of at least 1, got -5."),
        ("babi:test=many", "babi: test must be a whole number of at least 0, got 'many'."),
        ("babi:dev_share=1", "babi: dev_share must be at least 0 and below 1, got 1."),
        ("babi:dev_share=no", "babi: dev_share must be at least 0 and below 1, got 'no'."),
        ("keyword:evidence=0", "keyword: evidence must be a whole number of at least 1, got 0."),
        ("keyword:length=9.5", "keyword: length must be a whole number of at least 1, got 9.5."),
        ("keyword:test=-1", "keyword: test must be a whole number of at least 0, got -1."),
        (
            "keyword:length=8,jitter=5",
            "keyword: 1 evidence words and 3 distractors do not fit into the shortest text "
            "of 3 tokens",
        ),
        (
            "babi:tsk=1",
            "The dataset 'babi' has no option 'tsk'. "
            "Choose from: task, train, dev_share, test, seed.",
        ),
        ("kyword", "There is no dataset 'kyword'. Did you mean 'keyword'? Choose from: "),
    ],
)
def test_bad_choices_are_rejected_with_an_input_error(choice: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        load(choice)
    assert str(error.value).startswith(message)


def test_the_shortest_text_may_be_full() -> None:
    made = keyword(evidence=1, distractors=2, length=5, jitter=2, train=50, dev=0, test=0)
    assert min(len(example.tokens) for example in made.train) == 3


def test_load_gives_the_seed_unless_the_choice_has_its_own() -> None:
    short = "keyword:train=10,dev=2,test=2"
    assert load(short, seed=4) == keyword(train=10, dev=2, test=2, seed=4)
    assert load(f"{short},seed=9", seed=4) == keyword(train=10, dev=2, test=2, seed=9)


def test_load_takes_a_function_from_elsewhere() -> None:
    made = load("attnaudit.data.corpora.keyword:keyword:train=10,dev=0,test=0", seed=2)
    assert made == keyword(train=10, dev=0, test=0, seed=2)


def test_options_of_datasets_are_keyword_only() -> None:
    for name, dataset in DATASETS.items():
        for at, parameter in enumerate(inspect.signature(dataset).parameters.values()):
            is_place = at == 0 and parameter.name == "place"
            assert is_place or parameter.kind is inspect.Parameter.KEYWORD_ONLY, (
                name,
                parameter.name,
            )
