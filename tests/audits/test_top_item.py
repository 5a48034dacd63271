"""Removal of the top item against plain removals."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from attnaudit.audits import AUDITS
from attnaudit.audits.declaration import Values
from attnaudit.audits.top_item import top_item
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.models import Architecture, build
from audit_cases import EXAMPLES, LENGTHS, Case, case, every_case, jsd, same


def removed(alpha: np.ndarray, row: int, item: int) -> np.ndarray:
    left = alpha.copy()
    left[row, item] = 0
    left[row] /= left[row].sum()
    return left


def drawn_items(chosen: Case, values: Values) -> np.ndarray:
    """The item (B,R) drawn at random, found by its weight: the top weight minus `delta_alpha`.

    -1 where there is none.
    """
    weight = chosen.alpha.max(-1) - values["", "delta_alpha"].numpy()
    drawn = np.full(weight.shape, -1)
    for index, row in np.argwhere(~np.isnan(weight)):
        close = np.flatnonzero(
            chosen.mask[index, row]
            & (np.abs(chosen.alpha[index, row] - weight[index, row]) < 1e-12)
        )
        assert len(close) == 1
        drawn[index, row] = close[0]
    return drawn


@pytest.mark.parametrize("fidelity", ["corrected", "code"])
@every_case
def test_top_item_equals_removing_the_top_and_the_drawn_item(name: str, fidelity: str) -> None:
    chosen = case(name)
    values = top_item(chosen.model, chosen.record, {}, 3, fidelity=fidelity)
    drawn = drawn_items(chosen, values)
    for index in range(EXAMPLES):
        for row in range(chosen.alpha.shape[1]):
            if chosen.mask[index, row].sum() < 2:
                assert all(value[index, row].isnan() for value in values.values())
                continue
            before = chosen.probs(index, chosen.alpha[index])
            ends = [
                chosen.probs(index, removed(chosen.alpha[index], row, item))
                for item in (int(chosen.alpha[index, row].argmax()), int(drawn[index, row]))
            ]
            js = [jsd(end, before) for end in ends]
            top, other = (float(end.argmax() != before.argmax()) for end in ends)
            expected = {
                "delta_js": js[0] - js[1],
                "js_reach": js[0],
                "flips_top": top,
                "flips_random": other,
                "flips_both": float(top and other),
                "flips_only_top": float(top and not other),
                "flips_only_random": float(other and not top),
                "flips_neither": float(not top and not other),
            }
            for metric, value in expected.items():
                same(values["", metric][index, row], value, 1e-9)
    cells = sum(
        values["", f"flips_{cell}"] for cell in ("both", "only_top", "only_random", "neither")
    )
    defined = chosen.record.mask.sum(-1) > 1
    same(cells[defined], np.ones(int(defined.sum())))
    assert values["", "flips_top"].nan_to_num(0).any()


@pytest.mark.parametrize("name", ["two classes", "two rows"])
def test_the_random_item_is_any_but_the_top_one_equally_often(name: str) -> None:
    chosen = case(name)
    index, rows = LENGTHS.index(7), chosen.alpha.shape[1]
    seen = [Counter() for _ in range(rows)]
    together = 0
    for seed in range(300):
        drawn = drawn_items(chosen, top_item(chosen.model, chosen.record, {}, seed))
        together += drawn[index, 0] == drawn[index, -1]
        for row in range(rows):
            seen[row][int(drawn[index, row])] += 1
    for row in range(rows):
        real = set(np.flatnonzero(chosen.mask[index, row]).tolist())
        assert set(seen[row]) == real - {int(chosen.alpha[index, row].argmax())}
        assert chisquare(list(seen[row].values())).pvalue > 1e-3
    assert rows == 1 or together < 150  # each row has a draw of its own


def test_the_released_draw_is_never_the_first_position_and_can_be_the_top() -> None:
    chosen = case("two classes")
    seen: dict[int, Counter] = {index: Counter() for index in range(EXAMPLES)}
    for seed in range(250):
        drawn = drawn_items(
            chosen, top_item(chosen.model, chosen.record, {}, seed, fidelity="code")
        )
        for index in range(EXAMPLES):
            seen[index][int(drawn[index, 0])] += 1
    for index in range(EXAMPLES):
        if LENGTHS[index] < 2:
            continue
        real = np.flatnonzero(chosen.mask[index, 0]).tolist()
        assert set(seen[index]) == set(real[1:])
        if len(real) > 2:
            assert chisquare(list(seen[index].values())).pvalue > 1e-4
    tops = [
        int(chosen.alpha[index, 0].argmax()) in seen[index]
        for index in range(EXAMPLES)
        if LENGTHS[index] > 1
    ]
    assert any(tops)


def test_an_unknown_fidelity_of_top_item_is_rejected() -> None:
    chosen = case("two classes")
    with pytest.raises(
        InputError, match="no fidelity 'paper' of the audit top_item; choose from: corrected, code"
    ):
        top_item(chosen.model, chosen.record, {}, 0, fidelity="paper")


def test_removing_an_item_with_all_the_weight_is_nan() -> None:
    chosen = case("two classes")
    alpha = torch.zeros_like(chosen.record.alpha)
    alpha[:, :, 1] = 1  # the first word
    record = replace(chosen.record, alpha=alpha, logits=chosen.model.decode(chosen.record, alpha))
    values = top_item(chosen.model, record, {}, 0)
    for metric in ("delta_js", "js_reach", "flips_top", "flips_both", "flips_neither"):
        assert values["", metric].isnan().all()
    assert values["", "flips_random"].isnan().all()  # a floor of the same examples
    long = record.mask.sum(-1) > 1
    same(values["", "delta_alpha"][long], np.ones(int(long.sum())))


def _batch(count: int = 24) -> Batch:
    draw = np.random.default_rng(0)
    texts = [[1, *draw.integers(5, 60, 12).tolist(), 2] for _ in range(count)]
    tokens = torch.tensor(texts)
    return Batch(tuple(map(str, range(count))), tokens, tokens > 0)


def test_top_item_and_its_floor_are_over_the_same_examples() -> None:
    parts = Architecture(encoder="bilstm:hidden=8", embedding=12, projection="sparsemax")
    model = build(parts, words=60, classes=2, with_query=False, seed=1).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)
        record = model.read(_batch())
        found = AUDITS["top_item"](model, record, {}, 0)
    assert (
        record.alpha == 1
    ).any()  # with all weight on it, nothing is left when the top item goes
    assert torch.equal(found["", "flips_top"].isnan(), found["", "flips_random"].isnan())
    assert found["", "flips_top"].isnan().any()
