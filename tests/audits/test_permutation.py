"""Shuffled attention against shuffles decoded one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnaudit.audits.counterfactual import permuted
from attnaudit.audits.permutation import permutation, reach
from attnaudit.core.contract import Batch
from attnaudit.models import Architecture, build
from audit_cases import EXAMPLES, LENGTHS, case, every_case, same, tvd


@pytest.mark.parametrize("shuffles", [4, 31])
@every_case
def test_permutation_equals_shuffles_decoded_one_by_one(name: str, shuffles: int) -> None:
    chosen = case(name)
    values = permutation(chosen.model, chosen.record, {}, 7, shuffles=shuffles)
    drawn = permuted(chosen.record.alpha, chosen.record.mask, shuffles, 7).numpy()
    for index in range(EXAMPLES):
        before = chosen.probs(index, chosen.alpha[index])
        moved = [tvd(chosen.probs(index, each), before) for each in drawn[index]]
        flips = [chosen.decided(index, each) != int(before.argmax()) for each in drawn[index]]
        same(values["", "tvd_median"][index], np.median(moved))
        same(values["", "tvd_mean"][index], np.mean(moved))
        same(values["", "flipped"][index], np.mean(flips))
        same(values["", "max_attention"][index], chosen.alpha[index].max(-1))
    assert values["", "tvd_median"].max() > 0.05


@every_case
def test_a_single_item_does_not_change(name: str) -> None:
    values = permutation(case(name).model, case(name).record, {}, 0)
    alone = LENGTHS.index(1)
    same(values["", "tvd_median"][alone], 0)
    same(values["", "tvd_mean"][alone], 0)
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
