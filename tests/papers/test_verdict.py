"""The rule of the verdicts, on made-up numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from attnaudit.papers.comparison import as_frame, compare, not_run
from attnaudit.papers.item import Item, Number, Plan
from attnaudit.papers.verdict import FEWEST, judge, judge_claim, spread_of
from attnaudit.statistics.seeds import over_trainings

NAN = math.nan


def test_the_interval_over_trainings_is_that_of_a_t_test() -> None:
    values = np.array([0.31, 0.36, 0.33, 0.40])
    mean, low, high = over_trainings(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (mean, low, high) == pytest.approx((values.mean(), expected.low, expected.high))
    # NaN is counted out of the mean, and one value has no interval.
    assert over_trainings(np.array([0.2, NAN]))[0] == 0.2
    assert math.isnan(over_trainings(np.array([0.2, NAN]))[1])
    assert all(map(math.isnan, over_trainings(np.array([NAN]))))


@pytest.mark.parametrize(
    ("published", "trainings", "spread", "verdict"),
    [
        (0.35, 3, 0.0, "reproduced"),
        (0.37, 3, 0.0, "differs"),
        (0.37, 3, 0.02, "reproduced"),  # only because of its own spread
        (0.27, 3, 0.02, "differs"),
        (0.29, 3, 0.02, "reproduced"),
        (0.35, 2, 1.0, "no verdict"),
        (NAN, 5, 0.0, ""),
    ],
)
def test_a_number_is_judged_by_the_stated_rule(
    published: float, trainings: int, spread: float, verdict: str
) -> None:
    found, why = judge(published, 0.30, 0.36, trainings, spread)
    assert found.value == verdict
    assert bool(why) == (verdict == "no verdict")


@pytest.mark.parametrize(
    ("low", "high", "trainings", "verdict"),
    [
        (0.1, 0.2, 3, "reproduced"),
        (-0.3, -0.1, 3, "differs"),
        (-0.1, 0.2, 3, "no verdict"),
        (0.1, 0.2, FEWEST - 1, "no verdict"),
    ],
)
def test_a_claim_needs_the_whole_interval(
    low: float, high: float, trainings: int, verdict: str
) -> None:
    assert judge_claim((0.0, math.inf), low, high, trainings)[0].value == verdict


def test_the_spread_is_what_was_published() -> None:
    two_versions = spread_of(0.17, -0.02, 0.14, 1000, stated=0.0, digits=2)
    assert two_versions == pytest.approx(0.19 + 0.005)
    assert spread_of(0.8, NAN, NAN, 0, stated=0.05, digits=2) == pytest.approx(0.055)
    error = spread_of(0.36, NAN, 0.12, 900, stated=0.0, digits=2)
    assert error == pytest.approx(0.12 / 30 + 0.005)  # of the mean, not of the texts
    assert spread_of(0.365, NAN, NAN, 0, stated=0.0, digits=3) == pytest.approx(0.0005)


def item(**changes: Any) -> Item:
    plain = {
        "name": "table2",
        "shows": "",
        "datasets": ("sst",),
        "tables": lambda plan: [],
        "numbers": lambda cells: [],
        "preset": "jain_wallace",
        "published": "jain_wallace_2019_table2",
    }
    return Item(**{**plain, **changes})  # type: ignore[arg-type]


def taus(*values: float, **changes: str) -> pd.DataFrame:
    keys = {
        "encoder": "bilstm",
        "scorer": "additive",
        "projection": "softmax",
        "predicted_class": "0",
        "measure": "gradient",
        **changes,
    }
    numbers = [Number("tau", value, keys, 0.1, 0.2, 0.0, 0.6, 1725) for value in values]
    return as_frame([("sst", seed, number) for seed, number in enumerate(numbers)])


def test_both_versions_of_a_number_stand_next_to_ours() -> None:
    line = compare(item(), taus(0.33, 0.35, 0.34), "sst").iloc[0]
    assert (line["published"], line["published_other"]) == (0.34, 0.40)
    assert line["spread"] == pytest.approx(0.065)
    assert (line["verdict"], line["trainings"]) == ("reproduced", 3)
    assert (line["floor"], line["ceiling"]) == (0.0, 0.6)
    assert compare(item(), taus(0.53, 0.55, 0.54), "sst").iloc[0]["verdict"] == "differs"
    assert compare(item(), taus(0.34, 0.35), "sst").iloc[0]["verdict"] == "no verdict"


@pytest.mark.parametrize(
    "changed",
    [
        {"encoder": "cnn"},
        {"scorer": "dot"},
        {"projection": "sparsemax"},
        {"measure": "gradient_norm"},
        {"predicted_class": "2"},
        {"setting": "frozen"},  # of something that the table does not have
    ],
)
def test_a_number_of_something_else_has_nothing_published(changed: dict[str, str]) -> None:
    line = compare(item(), taus(0.33, 0.35, 0.34, **changed), "sst").iloc[0]
    assert math.isnan(line["published"])
    assert line["verdict"] == ""


def test_another_corpus_has_nothing_published() -> None:
    assert compare(item(), taus(0.33, 0.35, 0.34), None)["published"].isna().all()


def test_what_cannot_be_compared_says_why() -> None:
    other = item(impossible={"": "the published numbers are of another text"})
    line = compare(other, taus(0.33, 0.35, 0.34), "sst").iloc[0]
    assert (line["verdict"], line["why"]) == (
        "not possible here",
        "the published numbers are of another text",
    )
    missing = not_run(item(), "mimic:task=anemia", "the corpus is not in the data folder")
    assert len(missing) == 18
    assert set(missing["verdict"]) == {"not possible here"}
    assert list(missing.columns) == list(compare(item(), taus(0.3), "sst").columns)


def test_an_undefined_number_is_stored_and_counted() -> None:
    line = compare(item(), taus(0.33, NAN, 0.35, 0.34), "sst").iloc[0]
    assert line["trainings"] == 3
    line = compare(item(), taus(NAN, NAN, NAN), "sst").iloc[0]
    assert math.isnan(line["ours"])
    assert line["verdict"] == "no verdict"


def test_a_plan_knows_queries() -> None:
    assert Plan("babi_files:task=2").has_query
    assert not Plan("sst").has_query
    assert Plan("sst", fast=True).few([1, 2, 3, 4]) == [1, 4]
    assert Plan("sst").few([1, 2, 3, 4]) == [1, 2, 3, 4]
