"""The published tables hold what the papers print, and stand only next to what they are of."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from attnaudit.core import registry
from attnaudit.data import DATASETS
from attnaudit.data.published_counts import TABLE_1
from attnaudit.papers import next_to_run
from attnaudit.papers.conditions import corpus_of_paper, is_model
from attnaudit.papers.published import published, source
from attnaudit.results.results import Results
from attnaudit.results.value_columns import ValueColumns

# Of every table: lines, the sum of `value`, and that of `other` and `sd` together, added up from
# the tables as they were transcribed from the papers. A number that is changed shows.
SUMS = {
    "jain_wallace_2019_table2": (189, 84.35, 86.43),
    "meister_2021_table1": (12, 8.48, 1.01),
    "meister_2021_table2": (6, -4.525, 0.0),
    "meister_2021_table5": (36, 16.8, 0.0),
    "meister_2021_table6": (48, 24.19, 5.52),
    "neely_schouten_2020_table1": (16, 5.411, 1.611),
    "neely_schouten_2020_table2": (48, 17.936, 11.316),
    "serrano_smith_2019_table2": (16, 4.002, 0.0),
    "wen_2022_mean_tau": (7, 5.42, 0.0),
    "wen_2022_table2": (22, 8.77, 0.0),
    "wen_2022_table3": (28, 9.293525, 0.0),
    "wen_2022_table4": (7, 0.35, 0.0),
    "wen_2022_table5": (32, 735.0, 0.0),
}


@pytest.mark.parametrize("name", SUMS)
def test_no_number_was_changed(name: str) -> None:
    table = published(name)
    rest = sum(float(table[column].sum()) for column in ("other", "sd") if column in table)
    assert (len(table), float(table["value"].sum()), rest) == pytest.approx(SUMS[name], abs=1e-4)


def test_numbers_are_those_printed() -> None:
    """One of each table, read off the papers once more."""
    for name, keys, value in (
        ("jain_wallace_2019_table1", {"dataset": "babi:task=2", "metric": "accuracy"}, 0.48),
        ("jain_wallace_2019_table1", {"dataset": "snli", "metric": "test_2"}, 3368),
        ("meister_2021_table1", _model("sst", "bilstm", "softmax"), 0.93),
        ("meister_2021_table2", {"dataset": "newsgroups", "encoder": "transformer"}, -0.409),
        ("meister_2021_table3", {"dataset": "imdb", "encoder": "transformer"}, 0.89),
        (
            "meister_2021_table6",
            {**_model("sst", "bilstm", "sparsemax"), "measure": "hidden_gradient"},
            0.97,
        ),
        (
            "neely_schouten_2020_table2",
            {
                "dataset": "imdb",
                "k": "non_zero",
                "scorer": "additive",
                "predicted_class": "1",
                "measure": "leave_one_out",
            },
            0.91,
        ),
        ("serrano_smith_2019_table2", {"dataset": "yelp", "metric": "flips_neither"}, 0.877),
        ("wen_2022_table2", {"dataset": "babi:task=1", "setting": "fix_attention"}, 1.7),
        ("wen_2022_table3", {"dataset": "imdb", "metric": "jsd"}, 0.482),
    ):
        table = published(name)
        for key, wanted in keys.items():
            table = table[table[key] == wanted]
        assert list(table["value"]) == [value], (name, keys)


def _model(dataset: str, encoder: str, projection: str) -> dict[str, str]:
    return {"dataset": dataset, "encoder": encoder, "projection": projection}


def test_counts_are_those_that_data_describe_prints() -> None:
    """Two files hold table 1 of Jain & Wallace; they must agree."""
    table = published("jain_wallace_2019_table1").set_index(["dataset", "metric"])["value"]
    for row in TABLE_1:
        name = registry.render(row.dataset, row.options)
        assert table[name, "vocabulary"] == row.vocabulary
        assert table[name, "mean_length"] == row.mean_length
        for split, counts in (("train", row.train), ("test", row.test)):
            for number, count in enumerate(counts):
                metric = f"{split}_{number}" if len(counts) > 1 else split
                assert table[name, metric] == count


def test_every_table_names_its_source_and_corpora_that_we_read() -> None:
    for name in SUMS:
        assert source(name).split(",")[0].split(" 20")[0] in (
            *("Jain & Wallace", "Meister et al.", "Neely & Schouten"),
            *("Serrano & Smith", "Wen et al."),
        )
        for dataset in published(name)["dataset"].unique():
            known = registry.parse(dataset)[0] in DATASETS
            assert known or dataset in ("all", "imdb_ten_classes")


@pytest.mark.parametrize(
    ("dataset", "preset", "corpus"),
    [
        ("sst", "jain_wallace", "sst"),
        ("sst:replace_numbers=true", "jain_wallace", "sst"),
        ("sst:tokeniser=regex", "meister", "sst"),
        ("sst:min_length=3", "jain_wallace", None),
        ("newsgroups", "jain_wallace", "newsgroups"),
        ("newsgroups:groups=mac+ibm", "jain_wallace", None),
        ("newsgroups:split=bydate", "jain_wallace", None),
        ("imdb", "jain_wallace", "imdb"),
        ("imdb:labels=sentiment", "jain_wallace", "imdb"),
        ("imdb:labels=stars", "jain_wallace", None),
        ("imdb", "neely_schouten", None),  # their code drops reviews of more than 100 words
        ("imdb:fewer_than=101", "neely_schouten", "imdb"),
        ("imdb:fewer_than=101", "jain_wallace", None),
        ("ag_news:classes=World+Sports", "wen", None),
        ("babi_files:task=3", "jain_wallace", "babi:task=3"),
        ("babi_files:task=3,size=1k", "jain_wallace", None),
        ("babi:task=1", "jain_wallace", None),  # simulated
        ("mimic:task=anemia", "wen", "mimic:task=anemia"),
        ("mimic:task=anemia,positive=chronic", "wen", None),
        ("mimic:task=diabetes,splits=released", "jain_wallace", "mimic:task=diabetes"),
        ("mimic:task=diabetes,splits=seeded", "jain_wallace", None),  # other admissions
        ("reviews.csv", "jain_wallace", None),
    ],
)
def test_a_corpus_is_the_papers_only_if_it_is_prepared_so(
    dataset: str, preset: str, corpus: str | None
) -> None:
    assert corpus_of_paper(dataset, preset) == corpus


def test_a_model_is_the_papers_with_all_its_options() -> None:
    run = _choices("sst")
    paper = {"encoder": "bilstm:hidden=128", "scorer": "additive", "projection": "softmax"}
    assert is_model(run, **paper)
    for changed in (
        {"encoder": "bilstm:hidden=64"},
        {"scorer": "dot"},
        {"projection": "sparsemax"},
        {"variant": "imposed:source=uniform"},
        {"model": "hierarchical:site=word"},
    ):
        assert not is_model({**run, **changed}, **paper)


def _choices(dataset: str, **changed: str) -> dict[str, str]:
    return {
        "dataset": dataset,
        "model": "attentive",
        "encoder": "bilstm:hidden=128",
        "scorer": "additive",
        "projection": "softmax",
        "variant": "ordinary",
        **changed,
    }


def _results(dataset: str, **changed: str) -> Results:
    line = {"audit": "agreement", "measure": "gradient", "metric": "tau", "row": 0}
    numbers = {"mean": 0.5, "low": 0.4, "high": 0.6}
    lines = [{**line, "group": group, **numbers} for group in ("all", "bad", "good")]
    about: dict[str, Any] = {
        "run": {"choices": _choices(dataset, **changed)},
        "classes": ["bad", "good"],
    }
    return Results(
        ValueColumns.from_long(pd.DataFrame()), pd.DataFrame(lines), pd.DataFrame(), about
    )


def test_ours_is_next_to_the_published_class_by_class() -> None:
    found = next_to_run.taus(_results("sst:tokeniser=regex")).set_index("predicted class")
    assert list(found.loc["bad", ["paper", "later version", "ours"]]) == [0.40, 0.34, 0.5]
    assert list(found.loc["good", ["paper", "later version", "ours"]]) == [0.38, 0.36, 0.5]
    answered = next_to_run.taus(_results("babi_files:task=2", encoder="bilstm:hidden=30"))
    assert list(answered["predicted class"]) == ["all"]


@pytest.mark.parametrize(
    ("dataset", "changed"),
    [
        ("sst", {"projection": "sparsemax"}),
        ("sst", {"variant": "uniform"}),
        ("sst", {"encoder": "cnn"}),
        ("sst", {"encoder": "bilstm:hidden=16"}),
        ("snli", {}),  # three classes were published and these results have two
        ("newsgroups:groups=mac+ibm", {}),
        ("imdb:labels=stars", {}),
        ("babi:task=2", {"encoder": "bilstm:hidden=30"}),
    ],
)
def test_another_corpus_or_model_has_nothing_next_to_it(
    dataset: str, changed: dict[str, str]
) -> None:
    assert len(next_to_run.taus(_results(dataset, **changed))) == 0


def test_accuracy_and_twin_are_of_one_model_each() -> None:
    assert "-0.020" in (next_to_run.accuracy(_choices("imdb"), 0.88) or "")
    transformer = {"encoder": "transformer:hidden=128,widening=1", "scorer": "dot"}
    assert "0.79;" in (next_to_run.accuracy(_choices("sst", **transformer), 0.79) or "")
    for changed in (
        {"scorer": "dot"},
        {"projection": "sparsemax"},
        {"encoder": "cnn"},
        {"encoder": "transformer", "scorer": "dot"},  # its feed-forward layers are wider
    ):
        assert next_to_run.accuracy(_choices("imdb", **changed), 0.88) is None
    assert next_to_run.accuracy(_choices("imdb:labels=stars"), 0.4) is None
    assert "0.316" in (next_to_run.twin(_choices("sst:replace_numbers=true")) or "")
    for changed in ({"scorer": "dot"}, {"projection": "sparsemax"}, {"encoder": "cnn"}):
        assert next_to_run.twin(_choices("sst", **changed)) is None
    assert next_to_run.twin(_choices("keyword")) is None
    assert next_to_run.twin(_choices("newsgroups:groups=mac+ibm")) is None
