"""Published numbers: read as printed, found by corpus, and shown next to ours."""

from __future__ import annotations

import pandas as pd
import pytest

from attnaudit.core import registry
from attnaudit.data import DATASETS
from attnaudit.data.corpus_info import corpus_of
from attnaudit.data.sampling import sampled
from attnaudit.papers import jain_wallace, meister, wen
from attnaudit.papers.published import table
from attnaudit.results.results import Results
from attnaudit.results.value_columns import ValueColumns


def test_a_corpus_is_known_whatever_its_options() -> None:
    assert corpus_of("sst:replace_numbers=true") == "sst"
    assert corpus_of("babi") == corpus_of("babi_files:size=1k") == "babi:task=1"
    assert corpus_of("babi:task=3,train=10") == "babi:task=3"
    assert corpus_of("mimic:task=anemia,seed=3") == "mimic:task=anemia"


@pytest.mark.parametrize(
    "name", ["jain_wallace_table2", "meister_table1", "meister_table6", "neely_schouten_table2"]
)
def test_every_published_corpus_is_one_we_read(name: str) -> None:
    for dataset in table(name)["dataset"].unique():
        assert registry.parse(dataset)[0] in DATASETS


def test_numbers_are_those_printed() -> None:
    """One of each table, read off the papers once more."""
    jw = table("jain_wallace_table2").set_index(
        ["dataset", "predicted_class", "measure", "encoder"]
    )
    assert tuple(jw.loc[("imdb", "0", "gradient", "bilstm"), ["paper_mean", "later_mean"]]) == (
        0.37,
        0.44,
    )
    assert len(jw) == 63
    one = table("meister_table1").set_index(["dataset", "encoder", "projection"])
    assert one.loc[("sst", "bilstm", "softmax"), "mean"] == 0.93
    six = table("meister_table6").set_index(["dataset", "encoder", "projection", "measure"])
    assert six.loc[("sst", "bilstm", "sparsemax", "hidden_gradient"), "mean"] == 0.97
    two = table("neely_schouten_table2").set_index(
        ["dataset", "k", "projection", "scorer", "predicted_class", "measure"]
    )
    assert (
        two.loc[("imdb", "non_zero", "sparsemax", "additive", "1", "leave_one_out"), "mean"] == 0.91
    )


def _results(dataset: str, **changed: str) -> Results:
    chosen = {
        "dataset": dataset,
        "model": "attentive",
        "encoder": "bilstm:hidden=128",
        "scorer": "additive",
        "projection": "softmax",
        "variant": "ordinary",
        **changed,
    }
    lines = [
        {
            "audit": "agreement",
            "measure": "gradient",
            "metric": "tau",
            "row": 0,
            "group": group,
            "mean": 0.5,
            "low": 0.4,
            "high": 0.6,
        }
        for group in ("all", "bad", "good")
    ]
    about = {"run": {"choices": chosen}, "classes": ["bad", "good"]}
    return Results(
        ValueColumns.from_long(pd.DataFrame()), pd.DataFrame(lines), pd.DataFrame(), about
    )


def test_ours_is_next_to_the_published_class_by_class() -> None:
    found = jain_wallace.next_to_published(_results("sst:tokeniser=regex")).set_index(
        "predicted class"
    )
    assert list(found.loc["bad", ["paper", "later version", "ours"]]) == [0.40, 0.34, 0.5]
    assert list(found.loc["good", ["paper", "later version", "ours"]]) == [0.38, 0.36, 0.5]
    assert list(jain_wallace.next_to_published(_results("babi:task=2"))["predicted class"]) == [
        "all"
    ]
    # Three classes were published and these results have two.
    assert len(jain_wallace.next_to_published(_results("snli"))) == 0


@pytest.mark.parametrize(
    "changed", [{"projection": "sparsemax"}, {"variant": "uniform"}, {"encoder": "cnn"}]
)
def test_another_model_has_nothing_published_next_to_it(changed: dict[str, str]) -> None:
    assert len(jain_wallace.next_to_published(_results("sst", **changed))) == 0


def test_lines_of_the_other_papers_know_the_corpus_too() -> None:
    assert "0.316" in (wen.next_to_published("sst:replace_numbers=true") or "")
    assert wen.next_to_published("keyword") is None
    chosen = _results("imdb:labels=sentiment").about["run"]["choices"]
    assert "0.9;" in (meister.next_to_published(chosen, 0.88) or "")
    assert "-0.020" in (meister.next_to_published(chosen, 0.88) or "")


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
