"""More faults that were once there, each with the smallest example that showed it."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

import attnaudit
from attnaudit import audit, statistics
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.audits import AUDITS
from attnaudit.audits.corpus.information import adjusted, plug_in
from attnaudit.audits.corpus.mutual_information import _informed, _interval, _tau
from attnaudit.audits.declaration import Declaration, Metric
from attnaudit.cli.check_target import find_target
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.huggingface.labels import class_numbers
from attnaudit.models.readout import with_readout
from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.gate import met
from attnaudit.results.summary import summarise
from attnaudit.training.comparisons import divergence
from attnaudit.training.comparisons.correlations import Across
from attnaudit.training.comparisons.runs import side_by_side
from attnaudit.training.objectives.deceptive import mass_on
from attnaudit.training.runner import check_device
from tiny_transformers import TEXTS, tiny


def test_marks_are_neither_ranked_nor_removed() -> None:
    """[CLS] and [SEP] hold much of the attention, and are no words."""
    model: Any = attnaudit.from_huggingface(*tiny("bert"))
    (batch,) = model.batches(TEXTS)
    with torch.no_grad():
        record = model.read(batch)
        attention = record.alpha.mean(1)
        found = AUDITS["flip_fraction"](model, record, {"attention": attention}, 0)[
            "attention", "removed"
        ]
        for at in range(3):
            words = record.content[at].nonzero()[:, 0]
            order = words[attention[at, words].argsort(descending=True)]
            expected = 1.0
            for gone in range(1, len(order) + 1):
                kept = record.alpha.clone()
                kept[at][:, order[:gone]] = 0
                kept = kept / kept.sum(-1, keepdim=True)
                if model.decode(record, kept)[at].argmax() != record.predicted[at]:
                    expected = gone / len(order)
                    break
            assert found[at] == pytest.approx(expected)
        assert (~record.content & record.mask.any(1)).any()
        found = AUDITS["top_item"](model, record, {}, 0)["", "js_reach"]
        for at, row in product(range(3), range(4)):
            other = record.alpha.clone()
            other[at, row, attended_most(record, at, row)] = 0
            other = other / other.sum(-1, keepdim=True)
            moved = model.decode(record, other)[at].softmax(-1)
            assert found[at, row] == pytest.approx(float(statistics.jsd(moved, record.probs[at])))
        special = record.alpha.argmax(-1) != torch.tensor(
            [[attended_most(record, at, row) for row in range(4)] for at in range(3)]
        )
        assert special.any()  # in some row a mark is attended most


def attended_most(record: Record, at: int, row: int) -> int:
    """The word, of those that are words."""
    return int(record.alpha[at, row].masked_fill(~record.content[at], -1).argmax())


class Sharp:
    """Attention is a softmax of fixed scores, as sharp as you like."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        scores = torch.sin(batch.tokens.float() * 1.7)
        alpha = (self.scale * scores).softmax(-1)[:, None]
        hidden = scores[..., None].repeat(1, 1, 2) if embeddings is None else embeddings
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        mask = torch.ones_like(batch.tokens, dtype=torch.bool)
        return Record(
            batch, hidden, hidden, alpha, mask[:, None], mask, place, (alpha @ hidden)[:, 0]
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]  # type: ignore[index]
        return (alpha @ hidden).squeeze(-2)


@pytest.mark.parametrize("scale", [3, 12, 25])
def test_small_weights_keep_their_order_however_sharp_the_attention(scale: float) -> None:
    def own(model: Any, record: Record, seed: int) -> Tensor:
        return torch.sin(record.batch.tokens.float() * 1.7)

    tokens = torch.stack(
        [torch.randperm(60, generator=torch.Generator().manual_seed(at))[:20] for at in range(9)]
    )
    batch = Batch(tuple(map(str, range(9))), tokens, torch.ones_like(tokens, dtype=torch.bool))
    results = audit(Sharp(scale), batch, audits=["agreement"], measures=[own], show_progress=False)
    assert results.mean("agreement", "tau", "own") == pytest.approx(1.0)


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


@pytest.mark.parametrize("information", [plug_in, adjusted])
def test_an_interval_of_information_holds_its_own_estimate(information: Any) -> None:
    """Ranks with many clusters look informative in half of the texts and are not: the halves' own tau is another number."""
    draw = np.random.default_rng(0)
    for seed in range(6):
        outputs = draw.integers(0, 5, 600)
        # Clusters in other numbers from rank to rank, as the automatic choice gives.
        labels = np.stack(
            [
                np.where(
                    draw.random(600) < 0.5 / (rank + 1),
                    outputs,
                    draw.integers(0, (50, 200)[rank % 2], 600),
                )
                for rank in range(15)
            ]
        )
        weights = np.sort(draw.random((600, 15)))[:, ::-1]
        low, high = _interval(labels, outputs, weights, seed, information)
        assert low <= _tau(_informed(labels, outputs, information), weights.mean(0)) <= high


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


def test_labels_are_read_as_one_column() -> None:
    stars = ["1", "2", "3", "4", "5"]
    assert class_numbers([0, 1, 2, 3, 4], stars, 0) == [0, 1, 2, 3, 4]
    assert class_numbers([1, 2, 3, 4, 5], stars, 0) == [0, 1, 2, 3, 4]
    assert class_numbers(["BAD", " good "], ["Bad", "Good"], 0) == [0, 1]
    assert class_numbers(["0", 1.0], ["Bad", "Good"], 0) == [0, 1]
    for wrong in ([0.9, 1], ["bad", 1], [math.nan], [2], [-1]):
        with pytest.raises(InputError, match="no class of the model"):
            class_numbers(wrong, ["Bad", "Good"], 0)


class Causal(nn.Module):
    def __init__(self, hidden: float) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(20, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.output = nn.Linear(8, 2)
        self.hidden = hidden

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        x = self.embedding(tokens)
        later = torch.full((tokens.shape[1],) * 2, self.hidden).triu(1)
        return self.output(self.attention(x, x, x, attn_mask=later)[0][:, 2])


def test_a_large_negative_number_hides_as_minus_infinity_does() -> None:
    tokens = torch.randint(1, 20, (4, 6), generator=torch.Generator().manual_seed(1))
    batch = Batch(tuple("abcd"), tokens, torch.ones_like(tokens, dtype=torch.bool))
    records = []
    for hidden in (-math.inf, -1e9):
        model = attnaudit.from_hooks(
            Causal(hidden).eval(), alpha="attention", embedding="embedding", query=2
        )
        with torch.no_grad():
            records.append(model.read(batch))
    assert records[0].mask.sum(-1).unique().tolist() == [3]
    assert torch.equal(records[0].mask, records[1].mask)


def test_what_a_model_offers_is_offered_through_a_readout_too() -> None:
    class Offering(Glass):
        def attended_norms(self, record: Record) -> Tensor:
            return record.alpha * 7

    model: Any = with_readout(Offering("oracle"))
    record = model.read(glass_batch(4))
    assert torch.equal(model.attended_norms(record), record.alpha * 7)


def test_a_text_of_one_word_can_be_audited() -> None:
    for form in ("delete", "mask", "pad"):
        model = attnaudit.from_huggingface(*tiny("bert"), leave_out=form)
        results = audit(model, ["good"], show_progress=False)
        assert {answer.answer for answer in results.card().answers} == {"cannot tell"}


def test_a_given_mean_length_is_used() -> None:
    told = {}
    for each in (
        "top_k_agreement:k=average,mean_length=2",
        "top_k_agreement:k=2",
        "top_k_agreement:k=average",
    ):
        results = audit(
            Glass("shifted"),
            glass_batch(),
            audits=[each],
            measures=["gradient"],
            show_progress=False,
        )
        told[each] = results.mean(
            each, "tau_fixed" if each.endswith("k=2") else "tau_average", "gradient"
        )
    given, fixed, own = told.values()
    assert given == pytest.approx(fixed)
    assert own != pytest.approx(fixed)


@pytest.mark.parametrize(
    ("find", "choice", "said"),
    [
        (
            find_audits,
            "permutation:shuffles=0",
            "shuffles of the audit .* must be 1 or more, got 0",
        ),
        (find_audits, "random_attention:draws=-3", "must be 1 or more"),
        (find_audits, "permutation:shuffles=abc", "takes a whole number, got 'abc'"),
        (find_audits, "permutation:shuffles=1.5", "takes a whole number, got 1.5"),
        (find_audits, "furthest:epsilon=abc", "takes a number, got 'abc'"),
        (find_audits, "furthest:epsilon=true", "takes a number, got True"),
        (find_audits, "dispersion:influence=3", "takes true or false, got 3"),
        (find_measures, "lime:n_samples=abc", "takes a whole number"),
        (find_measures, "integrated_gradients:n_steps=0", "must be 1 or more"),
        (find_measures, "shap:stdevs=abc", "takes a number"),
    ],
)
def test_wrong_values_of_options_are_told_before_any_work(
    find: Any, choice: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        find([choice])


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
    with pytest.raises(InputError, match="max_length is 6400, but the model reads at most"):
        attnaudit.from_huggingface(*tiny("bert"), max_length=6400)
    points = pd.DataFrame(
        {"model": list("abcd"), "runs": [1, 2, 1, 1], "x": [1, 2, 3, 4.0], "y": [1, 2, 3, math.nan]}
    )
    assert "over 3 models (4 runs)" in str(Across("?", "x", "y", points, 1.0, 1.0, 1.0, 0.3))


def test_an_answer_is_drawn_as_the_audit_found_it_and_only_if_it_was_asked(tmp_path: Path) -> None:
    batch = glass_batch(20)
    none = audit(
        Glass("oracle"), batch, audits=["permutation"], measures=["random"], show_progress=False
    )
    assert none.examples["furthest_jsd"].isna().all()
    for epsilon in (0.01, 0.2):
        name = f"furthest:epsilon={epsilon}"
        some = audit(
            Glass("oracle"), batch, audits=[name], measures=["random"], show_progress=False
        )
        found = some.frame().query("metric == 'jsd'").set_index("example_id")["value"]
        drawn = some.examples.set_index("example_id")["furthest_jsd"]
        np.testing.assert_allclose(drawn, found.loc[drawn.index])


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


def test_a_folder_without_its_tokenizer_and_half_precision_on_a_cpu_are_refused(
    tmp_path: Path,
) -> None:
    model, tokenizer = tiny("bert")
    model.float().save_pretrained(tmp_path)
    with pytest.raises(InputError, match="holds no tokenizer"):
        attnaudit.from_huggingface(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="float16 is for CUDA"):
        attnaudit.from_huggingface(tmp_path, dtype="float16")
    kept, batch = find_target(str(tmp_path), 0)
    assert len(batch) == 3
    assert kept.read(batch).alpha.shape[0] == 3
