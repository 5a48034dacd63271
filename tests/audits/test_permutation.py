"""Shuffled attention against shuffles decoded one by one, and against all orders."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit.audits.counterfactual import permuted
from attnaudit.audits.permutation import permutation
from attnaudit.audits.prediction_changes import reach
from attnaudit.core.contract import Batch, Record
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from audit_cases import (
    EXAMPLES,
    LENGTHS,
    audit_model,
    batching_models,
    case,
    every_case,
    same,
    split_batch,
    tvd,
)
from cancelling_heads import CancellingHeads, one_text


def log_odds(p: np.ndarray, index: int) -> float:
    return float(np.log(p[index]) - np.log(np.delete(p, index).sum()))


def orders_of(chosen: object, index: int) -> list[np.ndarray] | None:
    """Every attention (R,N) with the same weights in other places; None if they are many."""
    alpha, mask = chosen.alpha[index], chosen.mask[index]  # type: ignore[attr-defined]
    if math.prod(math.factorial(int(row.sum())) for row in mask) > 120:
        return None
    rows = []
    for weights, real in zip(alpha, mask, strict=True):
        places = np.flatnonzero(real)
        orders = []
        for order in itertools.permutations(weights[real]):
            moved = np.zeros_like(weights)
            moved[places] = order
            orders.append(moved)
        rows.append(orders)
    return [np.stack(each) for each in itertools.product(*rows)]


@pytest.mark.parametrize("shuffles", [4, 31])
@every_case
def test_permutation_equals_shuffles_decoded_one_by_one(name: str, shuffles: int) -> None:
    chosen = case(name)
    values = permutation(chosen.model, chosen.record, {}, 7, shuffles=shuffles)
    ids = chosen.record.batch.example_id
    sampled = permuted(chosen.record.alpha, chosen.record.mask, shuffles, 7, ids).numpy()
    listed = 0
    for index in range(EXAMPLES):
        orders = orders_of(chosen, index)
        listed += orders is not None
        before = chosen.probs(index, chosen.alpha[index])
        own = int(before.argmax())
        after = [chosen.probs(index, each) for each in (orders or sampled[index])]
        moved = [tvd(each, before) for each in after]
        odds = [abs(log_odds(each, own) - log_odds(before, own)) for each in after]
        same(values["", "tvd_median"][index], np.median(moved))
        same(values["", "tvd_mean"][index], np.mean(moved))
        same(values["", "flipped"][index], np.mean([each.argmax() != own for each in after]))
        same(values["", "log_odds_median"][index], np.median(odds), 1e-8)
        same(values["", "log_odds_mean"][index], np.mean(odds), 1e-8)
        error = 0 if orders else np.std(moved, ddof=1) / math.sqrt(shuffles)
        same(values["", "tvd_mean_error"][index], error)
        same(values["", "max_attention"][index], chosen.alpha[index].max(-1))
    assert values["", "tvd_median"].max() > 0.05
    assert 3 <= listed < EXAMPLES


def test_rows_are_shuffled_independently() -> None:
    """Two heads with the same weights and opposite values: shuffled alike, they would cancel."""
    model = CancellingHeads()
    record = model.read(one_text(9))
    many = permutation(model, record, {}, 0, shuffles=4000)
    assert many["", "tvd_mean"] > 0.2
    # Each head's logit has the variance of a random permutation; they are independent.
    value, alpha = record.batch.tokens[0].double(), record.alpha[0, 0]
    spread = (value - value.mean()).square().sum() * (alpha - 1 / 9).square().sum() / 8
    shuffled = permuted(record.alpha, record.mask, 4000, 0, ["text"])
    logit = model.decode(record, shuffled)[0, :, 0]
    assert logit.square().mean() == pytest.approx(2 * 16 * float(spread), rel=0.1)


def test_all_orders_of_two_short_rows_are_decoded() -> None:
    model = CancellingHeads()
    record = model.read(one_text(3))
    value, weights = record.batch.tokens[0].tolist(), record.alpha[0, 0].tolist()
    logits = [
        4 * sum((x - y) * v for x, y, v in zip(first, second, value, strict=True))
        for first in itertools.permutations(weights)
        for second in itertools.permutations(weights)
    ]
    moved = [abs(1 / (1 + math.exp(-logit)) - 0.5) for logit in logits]
    for seed in range(3):
        values = permutation(model, record, {}, seed, shuffles=2)
        same(values["", "tvd_mean"], [np.mean(moved)])
        same(values["", "tvd_median"], [np.median(moved)])
        same(values["", "log_odds_mean"], [np.mean(np.abs(logits))])
        assert values["", "tvd_mean_error"].tolist() == [0]


@pytest.mark.parametrize("seed", range(8))
def test_the_median_of_two_items_is_over_both_orders_whatever_the_seed(seed: int) -> None:
    """Half of the change when swapped: sampled, it would be nothing or all, alike in every text."""
    model = build(
        Architecture(encoder="none", embedding=4), words=60, classes=2, with_query=False, seed=0
    ).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)
    draw = np.random.default_rng(0)
    tokens = torch.tensor([[1, *draw.integers(5, 60, 2).tolist(), 2] for _ in range(12)])
    record = model.read(Batch(tuple(map(str, range(12))), tokens, tokens > 0))
    both = record.alpha.clone()
    both[..., 1:3] = both[..., 1:3].flip(-1)
    swapped = model.decode(record, both).softmax(-1)
    change = (swapped - record.probs).abs().sum(-1).double() / 2
    values = permutation(model, record, {}, seed)
    torch.testing.assert_close(values["", "tvd_median"], change / 2)
    assert values["", "tvd_median"].max() > 0.1


@pytest.mark.parametrize("name", ["float64", "two rows"])
def test_values_do_not_depend_on_the_batches(name: str) -> None:
    _, batch = batching_models()[name]
    audits = ["permutation:shuffles=20", "random_attention:draws=20"]
    order = list(range(EXAMPLES))
    means = [
        audit_model(name, split_batch(batch, some, size), audits=audits, measures=[])
        .frame()
        .set_index(["audit", "metric", "row", "example_id"])["value"]
        .sort_index()
        for some, size in ((order, EXAMPLES), (order[::-1], 5))
    ]
    np.testing.assert_allclose(means[0], means[1], atol=1e-9)


class Linear:
    """Items with fixed logits; the first and the last are marks."""

    def __init__(self, alpha: Tensor, readout: Tensor) -> None:
        self.alpha, self.readout = alpha, readout

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        items = self.alpha.shape[-1]
        content = torch.ones(1, items, dtype=torch.bool)
        content[:, [0, -1]] = False
        return Record(
            batch=batch,
            embeddings=torch.zeros(1, items, 1),
            hidden=None,
            alpha=self.alpha,
            mask=torch.ones(1, 1, items, dtype=torch.bool),
            content=content,
            item_of_token=torch.arange(items)[None],
            logits=(self.alpha @ self.readout)[:, 0],
            readout=self.readout,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return (
            alpha[..., 0, :] @ self.readout if alpha.dim() == 3 else alpha[:, :, 0] @ self.readout
        )


def marked_case() -> tuple[Linear, Record]:
    draw = torch.Generator().manual_seed(3)
    alpha = torch.tensor([[[0.5, 0.02, 0.1, 0.25, 0.03, 0.1]]], dtype=torch.float64)
    readout = 5 * torch.randn(1, 6, 2, generator=draw, dtype=torch.float64)
    model = Linear(alpha, readout)
    return model, model.read(one_text(6))


def test_weights_on_marks_are_held() -> None:
    model, record = marked_case()
    values = permutation(model, record, {}, 0)
    moved = []
    for order in itertools.permutations(record.alpha[0, 0, 1:5].tolist()):
        alpha = torch.tensor([[[0.5, *order, 0.1]]], dtype=torch.float64)
        moved.append(tvd(model.decode(record, alpha).softmax(-1).numpy(), record.probs.numpy()))
    same(values["", "tvd_median"], [np.median(moved)])
    same(values["", "tvd_mean"], [np.mean(moved)])
    assert values["", "max_attention"].tolist() == [[0.5]]  # marks included
    most = max(
        tvd(
            model.decode(record, torch.tensor([[[0.5, *(0.4 * np.eye(4)[word]), 0.1]]]))
            .softmax(-1)
            .numpy(),
            record.probs.numpy(),
        )
        for word in range(4)
    )
    same(values["", "tvd_reach"], [most])


def test_a_text_without_words_has_no_shuffle() -> None:
    model, record = marked_case()
    values = permutation(model, replace(record, content=torch.zeros(1, 6) > 0), {}, 0)
    for metric in ("tvd_median", "tvd_mean", "flipped", "log_odds_median", "tvd_reach"):
        assert values["", metric].isnan().all()


def test_a_single_candidate_class_has_no_log_odds() -> None:
    batch = replace(glass_batch(2), classes=torch.tensor([[True, True], [True, False]]))
    record = Glass("oracle").read(batch)
    values = permutation(Glass("oracle"), record, {}, 0, shuffles=3)
    assert values["", "log_odds_mean"].isnan().tolist() == [False, True]


def test_long_texts_and_many_rows_fit_into_little_memory() -> None:
    """N = 2,000, R = 12, 200 shuffles: 4.8 million entries together, never all at once."""
    sizes: list[int] = []

    class Many:
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            return CancellingHeads().read(batch)

        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            sizes.append(alpha.numel())
            return alpha[..., 0, :2]

    record = Many().read(one_text(2000))
    wide = replace(
        record,
        alpha=record.alpha[:, :1].expand(-1, 12, -1),
        mask=record.mask[:, :1].expand(-1, 12, -1),
    )
    permutation(Many(), wide, {}, 0, shuffles=200)
    assert sum(sizes) == 200 * 12 * 2000
    assert max(sizes) <= 2**22


@every_case
def test_a_single_item_does_not_change(name: str) -> None:
    values = permutation(case(name).model, case(name).record, {}, 0)
    alone = LENGTHS.index(1)
    same(values["", "tvd_median"][alone], 0)
    same(values["", "tvd_mean"][alone], 0)
    same(values["", "log_odds_median"][alone], 0)
    assert values["", "flipped"][alone] == 0


@every_case
def test_tvd_reach_is_the_largest_change_by_all_weight_on_one_item(name: str) -> None:
    chosen = case(name)
    reach = permutation(chosen.model, chosen.record, {}, 0)["", "tvd_reach"]
    if chosen.record.readout is None:
        assert reach.isnan().all()
        return
    if chosen.record.logits.shape[1] > 2:  # a mixture of items can go further than any one of them
        assert (reach == 1).all()
        return
    for index in range(EXAMPLES):
        before = chosen.probs(index, chosen.alpha[index])
        items = np.flatnonzero(chosen.mask[index, 0])
        one_hot = np.eye(chosen.alpha.shape[2])[:, None]
        same(reach[index], max(tvd(chosen.probs(index, one_hot[item]), before) for item in items))


def _batch(count: int = 24) -> Batch:
    draw = np.random.default_rng(0)
    texts = [[1, *draw.integers(5, 60, 12).tolist(), 2] for _ in range(count)]
    tokens = torch.tensor(texts)
    return Batch(tuple(map(str, range(count))), tokens, tokens > 0)


def test_tvd_reach_is_1_with_three_classes() -> None:
    model = build(
        Architecture(encoder="none", embedding=4), words=60, classes=3, with_query=False, seed=0
    ).eval()
    record = model.read(_batch(1))
    assert reach(record).tolist() == [1.0]
