"""The best and the worst order of deletion, against trying every permutation."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import torch
from scipy.special import expit

from attnaudit.audits.erasure_limits import erasure_limits
from attnaudit.audits.order_search import all_deletions, beam_of_orders, extreme_orders
from attnaudit.core.errors import NotApplicable
from attnaudit.models.glass import Glass, glass_batch
from audit_cases import Case, case, every_case, no_ties
from deletion_cases import odds_by_hand, read_alone

RANKINGS = "attention+made/2"


def aopc_by_hand(chosen: Case, index: int) -> dict[tuple[int, ...], float]:
    """The mean drop of p(ŷ) over all steps but the last, of every order of the words."""
    words = (chosen.record.content & chosen.record.mask.any(1))[index].nonzero()[:, 0].tolist()
    whole = expit(odds_by_hand(chosen, index, chosen.record.logits[index].numpy()))
    known: dict[frozenset[int], float] = {}

    def drop(gone: frozenset[int]) -> float:
        if gone not in known:
            logits = read_alone(chosen, index, list(gone))
            known[gone] = whole - expit(odds_by_hand(chosen, index, logits))
        return known[gone]

    return {
        order: float(np.mean([drop(frozenset(order[:step])) for step in range(1, len(order))]))
        for order in permutations(words)
        if len(order) > 1
    }


@every_case
def test_all_values_equal_every_permutation_read_by_hand(name: str) -> None:
    chosen, scores = case(name), no_ties(3, case(name))
    record = chosen.record
    found = erasure_limits(chosen.model, record, scores, 0, rankings=RANKINGS)
    for index in range(len(record.batch)):
        count = int(record.content[index].sum())
        if count == 1:
            assert all(values[index].isnan() for values in found.values())
        if not 2 <= count <= 6:
            continue
        orders = aopc_by_hand(chosen, index)
        best, worst = max(orders.values()), min(orders.values())
        mean = np.mean(list(orders.values()))
        expected = {
            ("", "aopc_best"): best,
            ("", "aopc_worst"): worst,
            ("", "searched_exactly"): 1.0,
            ("random", "aopc"): mean,
            ("random", "aopc_ascending"): mean,
        }
        for measure, score in (
            ("attention", record.alpha[index].mean(0)),
            ("made/2", scores["made/2"][index]),
        ):
            order = tuple(sorted(next(iter(orders)), key=lambda n, score=score: -float(score[n])))
            for suffix, value in (("", orders[order]), ("_ascending", orders[order[::-1]])):
                expected[measure, f"aopc{suffix}"] = value
                expected[measure, f"naopc{suffix}"] = (value - worst) / (best - worst)
        for key, value in expected.items():
            assert float(found[key][index]) == pytest.approx(value, abs=1e-9), key


@every_case
def test_the_beam_is_within_the_exact_limits_and_close_to_them(name: str) -> None:
    chosen, scores = case(name), no_ties(3, case(name))
    exact = erasure_limits(chosen.model, chosen.record, scores, 0, rankings=RANKINGS)
    beam = erasure_limits(chosen.model, chosen.record, scores, 0, rankings=RANKINGS, exhaustive=1)
    known = ~exact["", "aopc_best"].isnan()
    assert (beam["", "searched_exactly"][known] == 0).all()
    room = (exact["", "aopc_best"] - exact["", "aopc_worst"])[known]
    for end, sign in (("best", 1), ("worst", -1)):
        gap = sign * (exact["", f"aopc_{end}"] - beam["", f"aopc_{end}"])[known] / room
        assert (gap >= -1e-9).all()
        assert gap.mean() < 0.02
        assert gap.max() < 0.1
    for measure in ("attention", "made/2"):
        torch.testing.assert_close(beam[measure, "aopc"], exact[measure, "aopc"], equal_nan=True)
        value = beam[measure, "naopc"][known]
        assert (value >= -1e-12).all()
        assert (value <= 1 + 1e-12).all()


def test_extreme_orders_of_any_drops() -> None:
    draw = np.random.default_rng(0)
    for words in (2, 3, 5):
        drops = torch.tensor(draw.normal(size=2**words))
        totals = []
        for order in permutations(range(words)):
            numbers = np.cumsum([2**word for word in order])[:-1]
            totals.append(float(drops[numbers].sum()))
        assert extreme_orders(drops, words) == pytest.approx((max(totals), min(totals)))


@pytest.mark.parametrize("highest", [True, False])
def test_a_beam_as_wide_as_all_sets_is_exact_and_reads_each_set_once_per_step(
    highest: bool,
) -> None:
    draw = np.random.default_rng(1)
    words, whole = 6, 0.7
    odds = torch.tensor(draw.normal(size=2**words))
    number = 2 ** torch.arange(words)
    search = beam_of_orders(
        whole, words, width=100, highest=highest, rounding=1e-9, singles=odds[number]
    )
    asked = next(search)
    sizes = []
    try:
        while True:
            sizes.append(set(asked.sum(-1).tolist()))
            asked = search.send(odds[(asked * number).sum(-1)])
    except StopIteration as stop:
        found = stop.value
    assert sizes == [{2}, {3}, {4}, {5}]
    best, worst = extreme_orders(whole - odds.sigmoid(), words)
    assert found == pytest.approx(best if highest else worst, abs=1e-12)


def test_every_set_is_there_once_and_numbered_by_its_bits() -> None:
    sets = all_deletions(5)
    assert (sets * 2 ** torch.arange(5)).sum(-1).tolist() == list(range(32))


def test_a_text_whose_words_change_nothing_has_no_normalised_value() -> None:
    model = Glass("inert", strength=0.0)
    record = model.read(glass_batch(3))
    found = erasure_limits(model, record, {"attention": record.alpha}, 0)
    assert found["attention", "naopc"].isnan().all()
    assert (found["attention", "aopc"].abs() < 1e-6).all()
    with pytest.raises(NotApplicable, match="none of the rankings"):
        erasure_limits(model, record, {}, 0)
