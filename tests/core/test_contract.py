"""Batches lose tokens and repeat rows without mixing anything up; alternatives can be asked one or many at a time."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest
import torch
from torch import Tensor

from attnaudit.audits import counterfactual
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.item_deletion import leave_out, leave_out_by_reading
from attnaudit.models import Architecture, build
from attnaudit.models.glass import KINDS, Glass, glass_batch


def three() -> Batch:
    return Batch(
        example_id=("a", "b", "c"),
        tokens=torch.tensor([[5, 6, 7, 8], [9, 10, 11, 0], [12, 0, 0, 0]]),
        mask=torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0], [1, 0, 0, 0]]).bool(),
        query=torch.tensor([[1, 2], [3, 4], [5, 6]]),
        query_mask=torch.ones(3, 2, dtype=torch.bool),
        segments=torch.tensor([[1, 1, 2, 2], [1, 2, 3, 0], [4, 0, 0, 0]]),
        classes=torch.tensor([[True, False], [True, True], [False, True]]),
        labels=torch.tensor([0, 1, 1]),
        evidence=torch.tensor([[0, 1, 0, 1], [0, 0, 1, 0], [1, 0, 0, 0]]).bool(),
    )


def test_a_batch_is_as_long_as_its_names() -> None:
    assert len(three()) == 3


def test_without_closes_the_gaps_and_narrows_the_batch() -> None:
    drop = torch.tensor([[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]).bool()
    shorter = three().without(drop)
    assert shorter.tokens.tolist() == [[6, 8], [9, 11], [12, 0]]
    assert shorter.mask.tolist() == [[True, True], [True, True], [True, False]]
    assert shorter.segments is not None
    assert shorter.segments.tolist() == [[1, 2], [1, 3], [4, 0]]
    assert shorter.evidence is not None
    assert shorter.evidence.tolist() == [[True, True], [False, True], [True, False]]


def test_without_leaves_everything_that_is_not_per_token() -> None:
    batch = three()
    shorter = batch.without(torch.ones(3, 4, dtype=torch.bool))
    for name in ("example_id", "query", "query_mask", "classes", "labels"):
        assert getattr(shorter, name) is getattr(batch, name), name


def test_without_everything_leaves_one_column_of_padding() -> None:
    empty = three().without(torch.ones(3, 4, dtype=torch.bool))
    assert empty.tokens.tolist() == [[0]] * 3
    assert not empty.mask.any()


def test_without_nothing_trims_padding_only() -> None:
    batch = three().rows(torch.tensor([1, 2]))
    trimmed = batch.without(torch.zeros(2, 4, dtype=torch.bool))
    assert trimmed.tokens.tolist() == [[9, 10, 11], [12, 0, 0]]


def test_dropping_padding_changes_nothing() -> None:
    batch = three()
    assert batch.without(~batch.mask).tokens.tolist() == batch.tokens.tolist()


def test_without_hides_what_stood_in_the_padding() -> None:
    batch = three()
    dirty = replace(batch, tokens=batch.tokens.masked_fill(~batch.mask, 99))
    drop = torch.zeros(3, 4, dtype=torch.bool)
    assert dirty.without(drop).tokens.tolist() == batch.tokens.tolist()


def test_without_closes_gaps_of_a_mask_with_holes() -> None:
    batch = Batch(("a",), torch.tensor([[5, 6, 7, 8]]), torch.tensor([[False, True, False, True]]))
    shorter = batch.without(torch.tensor([[False, False, False, False]]))
    assert shorter.tokens.tolist() == [[6, 8]]
    assert shorter.mask.tolist() == [[True, True]]


def test_without_leaves_the_original_as_it_was() -> None:
    batch, before = three(), three()
    batch.without(torch.ones(3, 4, dtype=torch.bool))
    assert torch.equal(batch.tokens, before.tokens)
    with pytest.raises(FrozenInstanceError):
        batch.tokens = before.tokens  # type: ignore[misc]


def test_rows_may_repeat_and_take_everything_along() -> None:
    batch = three()
    picked = batch.rows(torch.tensor([2, 0, 2]))
    assert picked.example_id == ("c", "a", "c")
    assert picked.tokens.tolist() == [[12, 0, 0, 0], [5, 6, 7, 8], [12, 0, 0, 0]]
    for name in ("mask", "query", "query_mask", "segments", "classes", "labels", "evidence"):
        expected = [getattr(batch, name)[at].tolist() for at in (2, 0, 2)]
        assert getattr(picked, name).tolist() == expected, name


def test_rows_and_without_keep_what_is_absent_absent() -> None:
    batch = Batch(("a",), torch.tensor([[5, 6]]), torch.ones(1, 2, dtype=torch.bool))
    for other in (
        batch.rows(torch.tensor([0])),
        batch.without(torch.tensor([[True, False]])),
        batch.to("cpu"),
    ):
        assert (
            other.query is other.segments is other.classes is other.labels is other.evidence is None
        )


def test_no_examples_are_a_batch_too() -> None:
    empty = three().rows(torch.tensor([], dtype=torch.int64))
    assert len(empty) == 0
    assert len(empty.without(torch.zeros(0, 4, dtype=torch.bool))) == 0


def test_a_record_predicts_among_the_candidates() -> None:
    batch = three()
    logits = torch.tensor([[0.0, 5.0], [0.0, 1.0], [7.0, 0.0]])
    mask = batch.mask[:, None]
    record = Record(
        batch,
        torch.zeros(3, 4, 1),
        None,
        mask / mask.sum(-1, keepdim=True),
        mask,
        batch.mask,
        batch.tokens,
        logits,
    )
    assert record.predicted.tolist() == [0, 1, 1]
    torch.testing.assert_close(
        record.probs,
        torch.tensor([[1.0, 0.0], [1 - 0.7310586, 0.7310586], [0.0, 1.0]]),
        atol=1e-6,
        rtol=0,
    )
    assert record.length.tolist() == [4, 3, 1]


# What if alpha were ...? --------------------------------------------------------------------------------------------------


def models() -> list[tuple[AttentionModel, Batch]]:
    small = Architecture(encoder="bilstm:hidden=3", embedding=4)
    attentive = build(small, words=30, classes=3, with_query=False).double().eval()
    with torch.no_grad():
        for parameter in attentive.parameters():
            parameter.normal_(0, 0.7, generator=torch.Generator().manual_seed(parameter.numel()))
    batch = glass_batch(4, shortest=3, longest=6)
    few = replace(batch, tokens=batch.tokens % 30)
    return [*((Glass(kind, dtype=torch.float64), batch) for kind in KINDS), (attentive, few)]


def some_alpha(mask: Tensor, count: int) -> Tensor:
    weight = torch.rand(
        (mask.shape[0], count, *mask.shape[1:]), generator=torch.Generator().manual_seed(0)
    ).double()
    weight = weight * mask[:, None]
    return weight / weight.sum(-1, keepdim=True)


@pytest.mark.parametrize("which", range(4))
def test_many_alternatives_at_once_equal_one_at_a_time(which: int) -> None:
    model, batch = models()[which]
    record = model.read(batch)
    alpha = some_alpha(record.mask, 5)
    together = model.decode(record, alpha)
    assert together.shape == (4, 5, record.logits.shape[1])
    for k in range(5):
        torch.testing.assert_close(
            together[:, k], model.decode(record, alpha[:, k]), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("which", range(4))
def test_the_readout_is_what_each_item_alone_would_give(which: int) -> None:
    model, batch = models()[which]
    record = model.read(batch)
    assert record.readout is not None
    for example, item in record.mask[:, 0].nonzero().tolist():
        alone = torch.zeros_like(record.alpha)
        alone[:, :, item] = 1
        expected = model.decode(record, alone)[example]
        torch.testing.assert_close(record.readout[example, item], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("which", range(4))
def test_logits_under_alternatives_are_the_same_with_and_without_a_readout(which: int) -> None:
    model, batch = models()[which]
    record = model.read(batch)
    alpha = some_alpha(record.mask, 5)
    through_readout = counterfactual.logits_under(model, record, alpha)
    through_model = counterfactual.logits_under(model, replace(record, readout=None), alpha)
    torch.testing.assert_close(through_readout, through_model, rtol=0, atol=1e-12)


def test_a_bounded_part_at_a_time_gives_the_same_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = models()[0]
    record = replace(model.read(batch), readout=None)
    alpha = some_alpha(record.mask, 7)
    whole = counterfactual.logits_under(model, record, alpha)
    monkeypatch.setattr(counterfactual, "_ENTRIES", 3 * alpha[:, :1].numel())
    assert torch.equal(counterfactual.logits_under(model, record, alpha), whole)


def test_shuffled_attention_keeps_its_weights_and_its_mask() -> None:
    record = Glass("oracle", dtype=torch.float64).read(glass_batch(6))
    mask = record.mask.clone()
    mask[0, 0, 2] = False  # a hole
    alpha = record.alpha * mask
    shuffled = counterfactual.permuted(alpha, mask, 40, seed=1)
    assert shuffled.shape == (6, 40, 1, alpha.shape[-1])
    for at in range(6):
        real = mask[at, 0]
        assert (shuffled[at, :, 0][:, ~real] == 0).all()
        for k in range(40):
            assert sorted(shuffled[at, k, 0, real].tolist()) == sorted(alpha[at, 0, real].tolist())


def test_every_shuffle_is_about_equally_frequent() -> None:
    alpha = torch.tensor([[[0.1, 0.2, 0.7]]])
    shuffled = counterfactual.permuted(alpha, torch.ones(1, 1, 3, dtype=torch.bool), 6000, seed=0)[
        0, :, 0
    ]
    _, counts = shuffled.unique(dim=0, return_counts=True)
    assert len(counts) == 6
    assert (counts - 1000).abs().max() < 150  # five standard deviations


def test_a_shuffle_does_not_depend_on_the_batch_or_its_padding() -> None:
    record = Glass("oracle").read(glass_batch(6))
    together = counterfactual.permuted(record.alpha, record.mask, 5, seed=3)
    for at in range(6):
        length = int(record.mask[at].sum())
        alone = counterfactual.permuted(
            record.alpha[at : at + 1, :, :length], record.mask[at : at + 1, :, :length], 5, seed=3
        )
        assert torch.equal(alone[0], together[at, :, :, :length])


def test_an_item_taken_out_leaves_the_others_in_proportion() -> None:
    alpha = torch.tensor([[[0.5, 0.2, 0.3]]]).double()
    mask = torch.ones(1, 1, 3, dtype=torch.bool)
    out = counterfactual.without_item(alpha, mask, torch.tensor([[[True, False, False]]]))
    torch.testing.assert_close(out, torch.tensor([[[0.0, 0.4, 0.6]]]).double())


def test_leaving_out_reads_the_shorter_text_and_is_nan_where_nothing_counts() -> None:
    model, batch = models()[3]
    record = model.read(batch)
    logits = leave_out(model, record)
    assert torch.equal(logits.isnan(), ~record.content[..., None].expand_as(logits))
    for example, item in record.content.nonzero().tolist():
        real = batch.mask[example].clone()
        real[item] = False
        tokens = batch.tokens[example][real][None]
        alone = model.read(Batch(("x",), tokens, torch.ones_like(tokens, dtype=torch.bool)))
        torch.testing.assert_close(logits[example, item], alone.logits[0], rtol=0, atol=1e-12)


def test_the_only_word_cannot_be_left_out() -> None:
    batch = Batch(("a",), torch.tensor([[1]]), torch.tensor([[True]]))
    model = Glass("oracle")
    assert leave_out_by_reading(model, model.read(batch)).isnan().all()


def test_a_models_own_leave_out_is_preferred() -> None:
    class Own(Glass):
        def leave_out(self, record: Record) -> Tensor:
            return torch.full((1, 1, 2), 7.0)

    model = Own("oracle")
    assert leave_out(model, model.read(glass_batch(2))).tolist() == [[[7.0, 7.0]]]
