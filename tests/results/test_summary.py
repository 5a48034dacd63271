"""Summaries agree with pandas and with another bootstrap; floors, ceilings and rows."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.stats import false_discovery_control

from attnaudit import audit
from attnaudit.audits.declaration import Declaration, Metric
from attnaudit.core.contract import Batch, Record
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.groups import ALL
from attnaudit.results.results import Results
from attnaudit.results.rows import EVERY_ROW
from attnaudit.results.summary import summarise
from attnaudit.results.value_columns import COLUMNS, Key
from attnaudit.results.value_table import Table

DECLARED = {
    "tau_like": Declaration(
        question="?",
        metrics={
            "tau": Metric("", "tau@random", "tau@between"),
            "reach": Metric("", 0.0, 2.0),
            "change": Metric("", -1.0, "reach"),
            "lonely": Metric("", "tau@missing", "nothing"),
        },
    ),
    "plain": Declaration(question="?", metrics={"number": Metric("", 0.25, 0.75)}),
}


def made(
    examples: int = 40, *, rows: int = 1, seed: int = 0
) -> tuple[torch.Tensor, list[Key], np.ndarray]:
    """A matrix with NaN in it, a column of nothing else, and rows of different size."""
    draw = np.random.default_rng(seed)
    keys: list[Key] = []
    for measure in ("gradient", "random"):
        keys += [("tau_like", measure, "tau", row) for row in range(rows)]
    keys += [("tau_like", "between", "tau", 0)]
    keys += [("tau_like", "", metric, row) for metric in ("reach", "change") for row in range(rows)]
    keys += [
        ("tau_like", "", "lonely", 0),
        ("plain", "", "number", 0),
        ("plain", "", "undeclared", 0),
    ]
    matrix = draw.gamma(2.0, size=(examples, len(keys))) * (1 + np.arange(len(keys)))
    matrix[draw.random(matrix.shape) < 0.2] = np.nan
    matrix[:, -1] = np.nan
    return torch.tensor(matrix), keys, draw.integers(0, 3, size=examples)


def long_of(matrix: torch.Tensor, keys: list[Key], predicted: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "example": at,
                "predicted": predicted[at],
                "audit": a,
                "measure": me,
                "metric": m,
                "row": r,
                "value": float(matrix[at, column]),
            }
            for at in range(len(matrix))
            for column, (a, me, m, r) in enumerate(keys)
        ]
    )


def by_key(frame: pd.DataFrame) -> dict[tuple[Any, ...], Any]:
    return {(x.audit, x.measure, x.metric, x.row, x.group): x for x in frame.itertuples()}


CLASSES = ["a", "b", "c", "never predicted"]


@pytest.mark.parametrize("rows", [1, 3])
def test_means_sds_counts_and_nan_shares_are_those_of_pandas_overall_and_by_predicted_class(
    rows: int,
) -> None:
    matrix, keys, predicted = made(rows=rows)
    found = by_key(summarise(matrix, keys, predicted, CLASSES, DECLARED))
    long = long_of(matrix, keys, predicted)
    several = long.groupby(["audit", "measure", "metric"])["row"].transform("nunique") > 1
    over_rows = (
        long[several]
        .groupby(["example", "predicted", "audit", "measure", "metric"], as_index=False)["value"]
        .mean()
        .assign(row=EVERY_ROW)
    )
    long = pd.concat([long, over_rows], ignore_index=True)
    seen = 0
    for group, members in {
        ALL: long,
        **{CLASSES[c]: long[long["predicted"] == c] for c in range(3)},
    }.items():
        for (a, me, m, r), values in members.groupby(["audit", "measure", "metric", "row"])[
            "value"
        ]:
            line = found[a, me, m, r, group]
            np.testing.assert_allclose(line.mean, values.mean(), rtol=1e-10)
            np.testing.assert_allclose(line.sd, values.std(ddof=1), rtol=1e-8)
            assert line.count == len(values)
            assert line.nan_share == pytest.approx(values.isna().mean())
            seen += 1
    assert seen == len(found)
    assert not any(key[4] == "never predicted" for key in found)


def test_the_mean_over_rows_is_added_only_where_there_are_several() -> None:
    matrix, keys, predicted = made(rows=3)
    rows = {key[:3]: set() for key in keys}
    for a, me, m, r, group in by_key(summarise(matrix, keys, predicted, CLASSES, DECLARED)):
        if group == ALL:
            rows[a, me, m].add(r)
    assert rows["tau_like", "gradient", "tau"] == {EVERY_ROW, 0, 1, 2}
    assert rows["tau_like", "between", "tau"] == {0}
    assert rows["plain", "", "number"] == {0}


def test_intervals_are_those_of_another_bootstrap_within_its_noise() -> None:
    matrix, keys, predicted = made(60)
    found = by_key(summarise(matrix, keys, predicted, CLASSES, DECLARED, seed=3))
    draw = np.random.default_rng(99)
    for group, members in {ALL: np.ones(60, bool), "b": predicted == 1}.items():
        part = matrix.numpy()[members]
        picks = draw.integers(len(part), size=(20_000, len(part)))
        for column, key in enumerate(keys[:-1]):
            line, values = found[(*key, group)], part[:, column]
            if (~np.isnan(values)).sum() < 10:
                assert line.interval == "withheld: fewer than 10 values"
                continue
            drawn, count = values[picks], (~np.isnan(values[picks])).sum(1)
            errors = np.nanstd(drawn, 1, ddof=1) / np.sqrt(count)
            t = (np.nanmean(drawn, 1) - line.mean)[errors > 0] / errors[errors > 0]
            error = line.sd / math.sqrt((~np.isnan(values)).sum())
            low, high = line.mean - error * np.quantile(t, [0.975, 0.025])
            # The 2.5 % point of 2000 resamples is known to about 0.1 standard errors, and less
            # well in the longer tail.
            assert abs(line.low - low) < 0.3 * error
            assert abs(line.high - high) < 0.4 * error
            assert line.low <= line.mean <= line.high
            assert line.interval.startswith("studentised bootstrap")
    nothing = found["plain", "", "undeclared", 0, ALL]
    assert all(math.isnan(each) for each in (nothing.mean, nothing.low, nothing.high, nothing.sd))
    assert nothing.nan_share == 1
    assert nothing.interval == "withheld: no value"


def test_one_example_has_a_mean_and_neither_interval_nor_sd() -> None:
    line = summarise(
        torch.tensor([[0.5]]), [("plain", "", "number", 0)], np.array([0]), ["a"], DECLARED
    ).iloc[0]
    assert line["mean"] == 0.5
    assert all(math.isnan(line[name]) for name in ("low", "high", "sd"))


# Floors and ceilings ------------------------------------------------------------------------------


def over_both(
    matrix: torch.Tensor, keys: list[Key], value: Key, bound: Key, members: np.ndarray
) -> float:
    """Mean of the bound over the members that have both; several rows are averaged first."""

    def column(key: Key) -> torch.Tensor:
        places = [
            at
            for at, each in enumerate(keys)
            if each[:3] == key[:3] and key[3] in (each[3], EVERY_ROW)
        ]
        return matrix[torch.from_numpy(members)][:, places].nanmean(1)

    both = column(value).isfinite() & column(bound).isfinite()
    return float(column(bound)[both].mean())


def test_a_bound_that_is_a_metric_is_its_mean_over_the_examples_with_the_value() -> None:
    matrix, keys, predicted = made()
    found = by_key(summarise(matrix, keys, predicted, CLASSES, DECLARED))
    groups = {ALL: predicted >= 0, **{name: predicted == at for at, name in enumerate("abc")}}
    own, change_key = ("tau_like", "gradient", "tau", 0), ("tau_like", "", "change", 0)
    for group, members in groups.items():
        tau, change = found[*own, group], found[*change_key, group]
        floor = over_both(matrix, keys, own, ("tau_like", "random", "tau", 0), members)
        assert tau.floor == pytest.approx(floor)
        ceiling = over_both(matrix, keys, own, ("tau_like", "between", "tau", 0), members)
        assert tau.ceiling == pytest.approx(ceiling)
        assert change.floor == -1
        reach = over_both(matrix, keys, change_key, ("tau_like", "", "reach", 0), members)
        assert change.ceiling == pytest.approx(reach)
        assert found["plain", "", "number", 0, group].floor == 0.25
        assert found["plain", "", "number", 0, group].ceiling == 0.75
    assert (
        found[*own, ALL].floor != found["tau_like", "random", "tau", 0, ALL].mean
    )  # others have no value
    assert len({found[*own, group].floor for group in groups}) == 4


def test_what_is_not_declared_or_was_not_computed_has_no_bounds() -> None:
    matrix, keys, predicted = made()
    found = by_key(summarise(matrix, keys, predicted, CLASSES, DECLARED))
    for metric in ("lonely", "undeclared"):
        audit_ = "tau_like" if metric == "lonely" else "plain"
        assert math.isnan(found[audit_, "", metric, 0, ALL].floor)
        assert math.isnan(found[audit_, "", metric, 0, ALL].ceiling)


def test_in_a_site_of_several_rows_every_row_is_held_against_its_own_bounds() -> None:
    """A bound with a single row serves all of them."""
    matrix, keys, predicted = made(rows=3)
    found = by_key(summarise(matrix, keys, predicted, CLASSES, DECLARED))
    everyone = predicted >= 0
    for row in (EVERY_ROW, 0, 1, 2):
        own, change = ("tau_like", "gradient", "tau", row), ("tau_like", "", "change", row)
        floor = over_both(matrix, keys, own, ("tau_like", "random", "tau", row), everyone)
        assert found[*own, ALL].floor == pytest.approx(floor)
        ceiling = over_both(matrix, keys, own, ("tau_like", "between", "tau", 0), everyone)
        assert found[*own, ALL].ceiling == pytest.approx(ceiling)
        reach = over_both(matrix, keys, change, ("tau_like", "", "reach", row), everyone)
        assert found[*change, ALL].ceiling == pytest.approx(reach)


def test_the_mean_over_rows_is_held_against_the_mean_over_rows() -> None:
    matrix, keys, predicted = made(rows=2)
    found = by_key(summarise(matrix, keys, predicted, CLASSES, DECLARED))
    tau, row = (
        found["tau_like", "gradient", "tau", EVERY_ROW, ALL],
        found["tau_like", "gradient", "tau", 0, ALL],
    )
    key = ("tau_like", "gradient", "tau", EVERY_ROW)
    floor = over_both(matrix, keys, key, ("tau_like", "random", "tau", EVERY_ROW), predicted >= 0)
    assert tau.floor == pytest.approx(floor)
    assert tau.floor != row.floor


def test_an_undeclared_audit_is_summarised_without_bounds() -> None:
    keys: list[Key] = [("mine", "", "number", 0)]
    found = summarise(
        torch.ones(3, 1), keys, np.zeros(3, int), ["a"], {"mine": Declaration("", {})}
    )
    assert found["floor"].isna().all()
    assert (found["mean"] == 1).all()


# The long table -----------------------------------------------------------------------------------


def records() -> list[Record]:
    batch = glass_batch(7)
    pieces = (torch.tensor([5, 2, 6]), torch.tensor([0, 4, 3, 1]))
    return [Glass("oracle").read(batch.rows(piece)) for piece in pieces]


def test_the_long_table_holds_every_value_nan_included_by_name_of_example() -> None:
    table, given = Table(), {}
    draw = np.random.default_rng(0)
    for record in records():
        table.start(record)
        one, two = draw.normal(size=len(record.batch)), draw.normal(size=(len(record.batch), 2))
        one[0] = np.nan
        table.add("first", {"number": torch.tensor(one), ("m", "pair"): torch.tensor(two)})
        for at, name in enumerate(record.batch.example_id):
            given[name, "", "number", 0] = one[at]
            given |= {(name, "m", "pair", row): two[at, row] for row in (0, 1)}
    long = table.columns().long()
    assert tuple(long.columns) == COLUMNS
    assert len(long) == len(given) == 21
    for x in long.itertuples():
        np.testing.assert_equal(x.value, given[x.example_id, x.measure, x.metric, x.row])
    batch = glass_batch(7)
    assert batch.labels is not None
    for at, name in enumerate(batch.example_id):
        lines = long[long["example_id"] == name]
        assert set(lines["label"]) == set(lines["predicted"]) == {int(batch.labels[at])}
        assert set(lines["length"]) == {int(batch.mask[at].sum())}
    assert table.columns().examples["example_id"].tolist() == sorted(batch.example_id)


def test_a_metric_that_a_batch_does_not_give_is_nan_there() -> None:
    table = Table()
    for number, record in enumerate(records()):
        table.start(record)
        size = len(record.batch)
        table.add("x", {"always": torch.zeros(size)})
        if number:
            table.add("x", {"late": torch.ones(size, 2)})
    long = table.columns().long().set_index(["metric", "row", "example_id"])["value"]
    for row in (0, 1):
        assert sorted(long["late", row].isna()[lambda missing: missing].index) == [
            "glass/2",
            "glass/5",
            "glass/6",
        ]
    assert (long["always"] == 0).all()


def test_labels_that_are_not_known_are_minus_1() -> None:
    record = records()[0]
    table = Table()
    table.start(replace(record, batch=replace(record.batch, labels=None)))
    table.add("x", {"number": torch.zeros(3)})
    assert table.columns().long()["label"].tolist() == [-1, -1, -1]


# All of it together -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results() -> Results:
    return audit(Glass("oracle"), glass_batch(24), class_names=["no", "yes"], show_progress=False)


def test_a_results_summary_is_that_of_its_own_values(results: Results) -> None:
    values = results.frame()
    for group, part in {"all": values, "no": values[values["predicted"] == 0]}.items():
        summary = results.summary(group).set_index(["audit", "measure", "metric", "row"])
        expected = part.groupby(["audit", "measure", "metric", "row"], observed=True)["value"]
        assert len(summary) == expected.ngroups
        for key, each in expected:
            np.testing.assert_allclose(summary.loc[key, "mean"], each.mean(), atol=1e-12)
            np.testing.assert_allclose(summary.loc[key, "sd"], each.std(), atol=1e-7)
            assert summary.loc[key, "count"] == len(each)
            assert summary.loc[key, "nan_share"] == pytest.approx(each.isna().mean())


def test_the_declared_floors_and_ceilings_of_the_audits_are_found(results: Results) -> None:
    mean = results.summary().set_index(["audit", "measure", "metric"])["mean"]
    line = results.summary().set_index(["audit", "measure", "metric"])
    expected = {
        ("agreement", "gradient", "tau"): (
            mean["agreement", "random", "tau"],
            mean["agreement", "between_measures", "tau"],
        ),
        ("evidence", "attention", "hit"): (mean["evidence", "", "share"], 1.0),
        ("evidence", "attention", "auprc"): (mean["evidence", "random", "auprc"], 1.0),
        ("evidence", "attention", "mass"): (mean["evidence", "", "share"], 1.0),
        ("permutation", "", "tvd_median"): (0.0, mean["permutation", "", "tvd_reach"]),
        ("flip_fraction", "attention", "removed"): (
            mean["flip_fraction", "random", "removed"],
            mean["flip_fraction", "smallest_set", "removed"],
        ),
        ("top_item", "", "delta_js"): (0.0, mean["top_item", "", "js_reach"]),
        ("top_item", "", "flips_top"): (mean["top_item", "", "flips_random"], 1.0),
        ("furthest", "", "jsd"): (0.0, mean["furthest", "", "jsd_any"]),
        ("uniform_attention", "", "accuracy_drop"): (0.0, mean["uniform_attention", "", "correct"]),
    }
    for key, (floor, ceiling) in expected.items():
        assert line.loc[key, "floor"] == pytest.approx(floor, abs=1e-12)
        assert line.loc[key, "ceiling"] == pytest.approx(ceiling, abs=1e-12)


def test_a_better_ranking_lies_nearer_to_the_ceiling_even_if_lower_is_better() -> None:
    lines = audit(
        Glass("oracle"), glass_batch(60), audits=["flip_fraction"], show_progress=False
    ).summary("1")
    relative = lines[lines["metric"] == "removed"].set_index("measure")["relative"]
    assert relative["random"] == pytest.approx(0)
    assert relative["smallest_set"] == pytest.approx(1)
    assert relative["attention"] > 0.9


def test_floor_and_ceiling_are_over_the_examples_that_have_the_value() -> None:
    value = torch.tensor([-0.5] * 50 + [0.9] * 50)
    ceiling = torch.tensor([math.nan] * 50 + [0.9] * 50)
    keys = [("a", "m", "x", 0), ("a", "c", "x", 0), ("a", "random", "x", 0)]
    matrix = torch.stack([value, ceiling, torch.zeros(100)], 1).double()
    declared = {"a": Declaration("?", {"x": Metric("x", "x@random", "x@c")}, detects=(), blind={})}
    lines = summarise(matrix, keys, np.zeros(100, dtype=int), ["one"], declared)
    line = lines[(lines["measure"] == "m") & (lines["group"] == "all")].iloc[0]
    assert line["mean"] == pytest.approx(0.2)
    assert (line["ceiling"], line["relative"]) == (pytest.approx(0.9), pytest.approx(1.0))
    assert line["compared"] == 0.5


def test_examples_needed_counts_those_without_a_value() -> None:
    results = audit(Glass("oracle"), glass_batch(40), audits=["permutation"], show_progress=False)
    line = results.summaries["metric"] == "tvd_median"
    halved = results.summaries.assign(nan_share=np.where(line, 0.5, results.summaries["nan_share"]))
    before, after = (
        each.examples_needed(0.1).set_index("metric").loc["tvd_median", "needed"]
        for each in (results, replace(results, summaries=halved))
    )
    assert after == 2 * before


@pytest.fixture(scope="module")
def short_texts() -> Results:
    """Texts of 1 to 12 words, so that some numbers are undefined."""
    model = build(
        Architecture(encoder="bilstm:hidden=8", embedding=12),
        words=30,
        classes=2,
        with_query=False,
        seed=1,
    ).eval()
    draw = np.random.default_rng(3)
    texts = [[1, *draw.integers(5, 30, length).tolist(), 2] for length in (1, 2, 3, 7, 12, 5)]
    tokens = torch.tensor([text + [0] * (14 - len(text)) for text in texts])
    batch = Batch(tuple("abcdef"), tokens, tokens > 0)
    measures = ["gradient", "leave_one_out", "random"]
    return audit(
        model, batch, audits=["agreement", "erasure"], measures=measures, show_progress=False
    )


def test_relative_says_where_a_mean_lies_between_floor_and_ceiling(short_texts: Results) -> None:
    # Floor and ceiling are of the same examples as the mean.
    whole = short_texts.summary().query("compared == 1")
    assert len(whole) > 10
    for line in whole.itertuples():
        room = line.ceiling - line.floor
        expected = (line.mean - line.floor) / room if room else math.nan
        assert line.relative == pytest.approx(expected, nan_ok=True)
    needed = short_texts.examples_needed(0.1)
    assert (needed["needed"].dropna() >= 1).all()


def test_p_values_are_judged_as_a_family_as_scipy_does(short_texts: Results) -> None:
    values = short_texts.frame().query("audit == 'agreement' and measure == 'gradient'")
    p = values.query("metric == 'p'").set_index("example_id")["value"]
    family = values.query("metric == 'significant_family'").set_index("example_id")["value"]
    known = p.notna()
    assert known.any()
    assert not known.all()
    expected = (false_discovery_control(p[known]) <= 0.05).astype(float)
    np.testing.assert_array_equal(family[known], expected)
    assert family[~known].isna().all()
