"""More faults that were once there, each with the smallest example that showed it."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import torch

import attnaudit
from attnaudit import audit, exact
from attnaudit.audits.declaration import Declaration, Metric
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.gate import met
from attnaudit.results.summary import summarise
from attnaudit.training.comparisons import divergence
from attnaudit.training.comparisons.correlations import Across
from attnaudit.training.comparisons.runs import side_by_side
from attnaudit.training.objectives.deceptive import mass_on
from attnaudit.training.runner import check_device
from tiny_transformers import TEXTS, tiny


def test_the_smallest_set_leaves_what_may_not_go() -> None:
    draw = torch.Generator().manual_seed(3)
    alpha = torch.rand(40, 6, generator=draw, dtype=torch.float64)
    alpha = alpha / alpha.sum(-1, keepdim=True)
    readout = torch.randn(40, 6, 2, generator=draw, dtype=torch.float64)
    mask, free = torch.ones(40, 6, dtype=torch.bool), torch.rand(40, 6, generator=draw) > 0.4
    found = exact.smallest_flip(alpha, readout, mask, removable=free)
    own = (alpha[..., None] * readout).sum(1).argmax(-1)
    for index in range(40):
        best = math.inf
        for chosen in range(1, 64):
            gone = torch.tensor([bool(chosen >> item & 1) for item in range(6)])
            if (gone & ~free[index]).any() or gone.all():
                continue
            logits = (alpha[index, ~gone, None] * readout[index, ~gone]).sum(0)
            if logits.argmax() != own[index]:
                best = min(best, int(gone.sum()))
        assert bool(found.possible[index]) == (best < math.inf)
        if best < math.inf:
            assert int(found.size[index]) == best
            assert not (found.items[index] & ~free[index]).any()


def test_what_is_shown_in_place_of_attention_does_not_answer_for_it() -> None:
    results = audit(Glass("shifted"), glass_batch(), audits=["agreement:of=gradient"],
                    measures=["gradient", "leave_one_out", "random"], show_progress=False)  # fmt: skip
    assert math.isnan(results.mean("agreement", "tau", "leave_one_out"))
    assert results.mean("agreement:of=gradient", "tau", "leave_one_out") == pytest.approx(1.0)
    (held,) = met(results, "agreement/tau@leave_one_out<0.2")  # the gate stays shut
    assert "there is no such number" in held
    assert resolve_audit_name("a", ["a:of=x", "a:b=1", "a:b=2"]) == "a:b=1"
    assert resolve_audit_name("a", ["a:b=1", "a"]) == "a"
    assert resolve_audit_name("a", ["a:of=x", "ab"]) is None


def test_padding_sentences_change_no_number_of_a_text() -> None:
    parts = Architecture(model="hierarchical:site=word", encoder="none", embedding=6)
    models = [
        build(parts, words=30, classes=2, with_query=False, seed=seed).eval().double()
        for seed in (0, 1)
    ]
    tokens = torch.tensor([[1, 5, 6, 7, 8, 9, 10, 2], [1, 11, 12, 13, 2, 0, 0, 0]])
    sentences = torch.tensor([[0, 0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 0, 0, 0, 0, 0]])
    batch = Batch(("a", "b"), tokens, tokens > 0, segments=sentences)
    alone = Batch(("b",), tokens[1:, :5], tokens[1:, :5] > 0, segments=sentences[1:, :5])
    with torch.no_grad():
        together, single = (
            divergence(*(model.read(each) for model in models)) for each in (batch, alone)
        )
        for name, values in single.items():
            assert float(together[name][1]) == pytest.approx(float(values[0])), name
        record = models[0].read(batch)
    assert (~record.mask.any(-1)).any()  # some row is padding
    assert mass_on(record, batch.tokens == 11).shape == record.mask.shape[:2]


def test_floor_and_ceiling_are_over_the_examples_that_have_the_value() -> None:
    value, ceiling = (
        torch.tensor([-0.5] * 50 + [0.9] * 50),
        torch.tensor([math.nan] * 50 + [0.9] * 50),
    )
    keys = [("a", "m", "x", 0), ("a", "c", "x", 0), ("a", "random", "x", 0)]
    matrix = torch.stack([value, ceiling, torch.zeros(100)], 1).double()
    declared = {"a": Declaration("?", {"x": Metric("x", "x@random", "x@c")}, detects=(), blind={})}
    lines = summarise(matrix, keys, np.zeros(100, dtype=int), ["one"], declared)
    line = lines[(lines["measure"] == "m") & (lines["group"] == "all")].iloc[0]
    assert line["mean"] == pytest.approx(0.2)
    assert (line["ceiling"], line["relative"]) == (pytest.approx(0.9), pytest.approx(1.0))
    assert line["compared"] == 0.5


def test_the_mean_over_rows_is_read_and_not_the_first_row() -> None:
    (batch,) = (model := attnaudit.from_huggingface(*tiny("bert"))).batches(TEXTS)
    results = audit(
        model, [batch], audits=["agreement"], measures=["gradient", "random"], show_progress=False
    )
    rows = (
        results.summary()
        .query("measure == 'gradient' and metric == 'tau'")
        .set_index("row")["mean"]
    )
    assert results.line("agreement", "tau", "gradient")["row"] == -1  # type: ignore[index]
    assert results.mean("agreement", "tau", "gradient") == pytest.approx(rows.drop(-1).mean())
    assert abs(rows[0] - rows[-1]) > 1e-3


def test_two_runs_with_nothing_in_common_are_said_to_have_nothing() -> None:
    runs = [
        audit(
            Glass("oracle"),
            glass_batch(20),
            audits=[each],
            measures=["random"],
            show_progress=False,
        )
        for each in ("permutation", "furthest")
    ]
    assert "nothing in common" in side_by_side(*runs)


def test_small_things_are_told_right() -> None:
    with pytest.raises(InputError, match="no device 'gpu'"):
        check_device("gpu")
    points = pd.DataFrame(
        {"model": list("abcd"), "runs": [1, 2, 1, 1], "x": [1, 2, 3, 4.0], "y": [1, 2, 3, math.nan]}
    )
    assert "over 3 models (4 runs)" in str(Across("?", "x", "y", points, 1.0, 1.0, 1.0, 0.3))


def test_a_batch_of_uneven_parts_is_rejected() -> None:
    tokens = torch.ones(8, 4, dtype=torch.int64)
    for names, mask in ((tuple("abc"), tokens > 0), (tuple("abcdefgh"), tokens[:, :2] > 0)):
        with pytest.raises(InputError, match="one example_id a text"):
            Batch(names, tokens, mask)


def test_the_same_model_given_as_another_training_is_cautioned_against() -> None:
    results = audit(Glass("oracle"), glass_batch(60), audits=["permutation"], measures=["random"],
                    other_models=[Glass("oracle")], show_progress=False)  # fmt: skip
    assert any("not the same model" in each for each in results.card().cautions)


def test_runs_on_different_data_are_said_to_be() -> None:
    runs = []
    for dataset, count in (("sst", 40), ("keyword", 60)):
        found = audit(
            Glass("oracle"),
            glass_batch(count),
            audits=["permutation"],
            measures=["random"],
            show_progress=False,
        )
        found.about["run"] = {"choices": {"dataset": dataset}}
        runs.append(found)
    told = side_by_side(*runs)
    assert "different data, sst and keyword" in told
    assert "not the difference of the two means" in told
