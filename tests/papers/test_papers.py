"""What published numbers are found by: the corpus of a dataset choice, and samples of it."""

from __future__ import annotations

import pytest

from attnaudit.core import registry
from attnaudit.data.corpus_info import corpus_of
from attnaudit.data.sampling import sampled


def test_a_corpus_is_known_whatever_its_options() -> None:
    assert corpus_of("sst:replace_numbers=true") == "sst"
    assert corpus_of("babi") == corpus_of("babi_files:size=1k") == "babi:task=1"
    assert corpus_of("babi:task=3,train=10") == "babi:task=3"
    assert corpus_of("mimic:task=anemia,seed=3") == "mimic:task=anemia"


def test_a_choice_renders_and_parses_back() -> None:
    options = {"a": 1, "b": None, "c": True, "d": "x+y", "e": 0.25}
    assert registry.parse(registry.render("name", options)) == ("name", options)
    assert registry.render("name", {}) == "name"


def test_a_sample_keeps_the_shares_and_grows_into_the_larger_one() -> None:
    from attnaudit.data.corpora.keyword import keyword

    examples = [
        each
        for each in keyword(train=10, dev=0, test=300).test
        if each.label or int(each.example_id[5:]) % 3 == 0
    ]
    positive = sum(each.label for each in examples) / len(examples)
    small, large = sampled(examples, 40, 5), sampled(examples, 80, 5)
    assert len(small) == 40
    assert sum(each.label for each in small) == pytest.approx(40 * positive, abs=1)
    assert {each.example_id for each in small} <= {each.example_id for each in large}
    assert [each.example_id for each in small] != [
        each.example_id for each in sampled(examples, 40, 6)
    ]
    order = {each.example_id: at for at, each in enumerate(examples)}
    assert [order[each.example_id] for each in small] == sorted(
        order[each.example_id] for each in small
    )
    assert sampled(examples, None, 0) is examples
    assert sampled(examples, 10_000, 0) is examples
