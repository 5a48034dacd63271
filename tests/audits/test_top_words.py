"""The top words between the random and the best words, against reading every set by hand."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.special import expit

from attnaudit import audit
from attnaudit.audits.top_words import KINDS, RANDOM_SETS, top_words
from attnaudit.core import randomness
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.models.glass import KINDS as GLASS
from attnaudit.models.glass import Glass, Kind, glass_batch
from audit_cases import Case, case, every_case, no_ties
from deletion_cases import odds_by_hand, read_alone

RANKINGS = "attention+made/2"


def by_hand(chosen: Case, index: int, share: int) -> dict[str, dict[tuple[int, ...], float]]:
    """Kind -> set of k words -> log-odds without, or with only, these words."""
    words = (chosen.record.content & chosen.record.mask.any(1))[index].nonzero()[:, 0].tolist()
    k = min(math.ceil(share * len(words) / 100), len(words) - 1)
    return {
        kind: {
            each: odds_by_hand(
                chosen,
                index,
                read_alone(
                    chosen,
                    index,
                    list(each) if kind == KINDS[0] else [n for n in words if n not in each],
                ),
            )
            for each in combinations(words, k)
        }
        for kind in KINDS
        if k
    }


@every_case
def test_all_values_equal_reading_every_set_by_hand(name: str) -> None:
    chosen, share = case(name), 40
    record, scores = chosen.record, no_ties(3, case(name))
    found = top_words(chosen.model, record, scores, 0, share=share, rankings=RANKINGS)
    for index in range(len(record.batch)):
        sets = by_hand(chosen, index, share)
        if not sets:
            assert all(values[index].isnan() for values in found.values())
            continue
        assert found["", "searched_exactly"][index] == 1
        whole = odds_by_hand(chosen, index, record.logits[index].numpy())
        for suffix in ("", "_p"):
            for measure, end in (("attention", ""), ("random", ""), ("", "_best"), ("", "_worst")):
                without, only = (found[measure, f"{kind}{end}{suffix}"][index] for kind in KINDS)
                assert found[measure, f"contrast{end}{suffix}"][index] == without - only
        for kind, odds in sets.items():
            k = len(next(iter(odds)))
            for suffix in ("", "_p"):
                drop = {
                    each: whole - value if not suffix else expit(whole) - expit(value)
                    for each, value in odds.items()
                }
                sign = 1 if kind == "comprehensiveness" else -1
                expected = {
                    ("random", kind + suffix): np.mean(list(drop.values())),
                    ("", f"{kind}_best{suffix}"): sign * max(sign * v for v in drop.values()),
                    ("", f"{kind}_worst{suffix}"): sign * min(sign * v for v in drop.values()),
                }
                for measure, score in (
                    ("attention", record.alpha[index].mean(0)),
                    ("made/2", scores["made/2"][index]),
                ):
                    words = sorted({n for each in drop for n in each}, key=lambda n: -score[n])
                    expected[measure, kind + suffix] = drop[tuple(sorted(words[:k]))]
                for key, value in expected.items():
                    assert float(found[key][index]) == pytest.approx(value, abs=1e-9), key


@every_case
def test_the_beam_stays_within_the_exact_limits_and_is_close_to_them(name: str) -> None:
    chosen, scores = case(name), no_ties(3, case(name))
    options = {"share": 40, "rankings": RANKINGS}
    exact = top_words(chosen.model, chosen.record, scores, 0, **options)
    beam = top_words(chosen.model, chosen.record, scores, 0, exhaustive=1, **options)
    several = ~beam["", "searched_exactly"].isnan()
    assert (beam["", "searched_exactly"][several] == 0).all()
    for kind, sign in zip(KINDS, (1, -1), strict=True):
        best, worst = (exact["", f"{kind}_{end}"][several] * sign for end in ("best", "worst"))
        found = {end: beam["", f"{kind}_{end}"][several] * sign for end in ("best", "worst")}
        assert (found["best"] <= best + 1e-9).all()
        assert (found["worst"] >= worst - 1e-9).all()
        for measure in ("attention", "made/2"):
            value = beam[measure, kind][several] * sign
            torch.testing.assert_close(value, exact[measure, kind][several] * sign)
            assert (value <= found["best"] + 1e-12).all()
            assert (value >= found["worst"] - 1e-12).all()
        width = best - worst
        known = width > 1e-9
        assert ((best - found["best"])[known] / width[known]).mean() < 0.05
        assert ((found["worst"] - worst)[known] / width[known]).mean() < 0.05


def test_the_random_floor_of_long_texts_is_over_ten_sets_per_example() -> None:
    chosen, scores = case("two classes"), no_ties(3, case("two classes"))
    found = top_words(chosen.model, chosen.record, scores, 7, share=40, exhaustive=1)
    index, record = 3, chosen.record  # nine words, four of them chosen
    words = record.content[index].nonzero()[:, 0].tolist()
    odds = []
    for draw in range(RANDOM_SETS):
        keys = randomness.keys(7, f"top_words/{draw}", record.batch.example_id)
        numbers = randomness.uniform(keys, record.content.shape[1])[index]
        chosen_words = sorted(words, key=lambda n, numbers=numbers: float(numbers[n]))[:4]
        odds.append(odds_by_hand(chosen, index, read_alone(chosen, index, chosen_words)))
    whole = odds_by_hand(chosen, index, record.logits[index].numpy())
    assert float(found["random", "comprehensiveness"][index]) == pytest.approx(
        whole - np.mean(odds), abs=1e-9
    )


@pytest.mark.parametrize("kind", GLASS)
def test_the_deciding_word_is_the_best_word_of_a_glass_model(kind: Kind) -> None:
    """Attention is at the ceiling of oracle and inert, and at the floor of shifted."""
    results = audit(
        Glass(kind, dtype=torch.float64),
        glass_batch(),
        audits=["top_words"],
        measures=["leave_one_out"],
        show_progress=False,
    )
    lines = results.summary().set_index(["metric", "measure"])["relative"]
    for metric in ("comprehensiveness", "comprehensiveness_p", "sufficiency", "sufficiency_p"):
        expected = 0.0 if kind == "shifted" else 1.0
        assert lines[metric, "attention"] == pytest.approx(expected, abs=0.12)


def test_only_some_texts_are_read_if_there_are_many() -> None:
    model, batch = Glass("oracle"), glass_batch(60)
    halves = [batch.rows(torch.arange(30)), batch.rows(torch.arange(30, 60))]
    results = audit(
        model,
        halves,
        audits=["top_words:texts=15"],
        measures=["leave_one_out"],
        show_progress=False,
    )
    frame = results.frame().assign(
        key=lambda each: each["measure"].astype(str) + each["metric"].astype(str)
    )
    values = frame.pivot(index="example_id", columns="key", values="value")
    read = values.notna().all(axis=1)
    assert 6 < read.sum() < 26
    assert values[~read].isna().all(axis=None)


def test_options_and_unknown_scores() -> None:
    model = Glass("oracle")
    record = model.read(glass_batch(3))
    score = record.alpha[:, 0].clone()
    score[1, 0] = torch.nan
    found = top_words(model, record, {"mine": score}, 0, rankings="mine")
    assert found["mine", "sufficiency_p"].isnan().tolist() == [False, True, False]
    assert not found["", "sufficiency_best"].isnan().any()
    with pytest.raises(NotApplicable, match="none of the rankings"):
        top_words(model, record, {}, 0)
    with pytest.raises(InputError, match="share must be above 0 and below 100"):
        top_words(model, record, {"attention": score}, 0, share=100)
