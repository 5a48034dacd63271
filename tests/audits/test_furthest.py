"""The furthest attention with the same prediction, against the exact answer."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext

import numpy as np
import pytest
import torch

from attnaudit import exact
from attnaudit.audits.furthest import furthest, strict_epsilon
from attnaudit.core.errors import InputError
from attnaudit.models import Glass, glass_batch
from audit_cases import EXAMPLES, LINEAR, case, every_case, jsd, same, tvd


@pytest.mark.parametrize(
    ("name", "epsilon"), [("two classes", 0.01), *((name, 0.05) for name in LINEAR)]
)
def test_furthest_is_exact_with_a_readout(name: str, epsilon: float) -> None:
    chosen = case(name)
    values = furthest(chosen.model, chosen.record, {}, 0, epsilon=epsilon)
    readout = chosen.record.readout
    assert readout is not None
    answer = exact.furthest(
        chosen.record.alpha[:, 0],
        readout,
        chosen.record.mask[:, 0],
        epsilon=epsilon,
        classes=chosen.record.batch.classes,
    )
    same(values["", "jsd"], answer.jsd)
    same(values["", "upper"], answer.upper)
    same(values["", "exact"], answer.exact)
    assert (values["", "tvd"] <= epsilon + 1e-9).all()
    for index in range(EXAMPLES):
        moved = tvd(
            chosen.probs(index, answer.alpha[index].numpy()[None]),
            chosen.probs(index, chosen.alpha[index]),
        )
        same(values["", "tvd"][index], moved)
        same(values["", "found"][index], float(answer.jsd[index] > 0))
    if readout.shape[2] == 2:
        assert values["", "exact"].all()


@every_case
def test_jsd_any_is_all_weight_on_the_least_attended_item(
    name: str,
) -> None:
    chosen = case(name)
    values = furthest(chosen.model, chosen.record, {}, 0)
    one_hot = np.eye(chosen.alpha.shape[2])
    for index in range(EXAMPLES):
        most = [
            max(
                jsd(one_hot[item], chosen.alpha[index, row])
                for item in np.flatnonzero(chosen.mask[index, row])
            )
            for row in range(chosen.alpha.shape[1])
        ]
        same(values["", "jsd_any"][index], np.mean(most))
    assert (values["", "jsd"] <= values["", "upper"] + 1e-9).all()
    assert (values["", "upper"] <= values["", "jsd_any"] + 1e-9).all()


@pytest.mark.parametrize(
    ("name", "fidelity"),
    [
        ("two classes", "code"),
        ("two classes", "paper"),
        ("four classes, query, candidates", "code"),
    ],
)
def test_searches_as_published_are_feasible_and_within_the_exact_bound(
    name: str, fidelity: str
) -> None:
    chosen = case(name)
    searched = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.05, fidelity=fidelity)
    best = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.05)
    assert (searched["", "jsd"] <= best["", "upper"] + 1e-9).all()
    assert (searched["", "tvd"] <= 0.05 + 1e-9).all()
    assert (searched["", "jsd"] > 0.1).any()
    assert not searched["", "exact"].any()
    same(searched["", "found"], searched["", "jsd"] > 0)


def test_without_a_readout_the_search_is_feasible_and_its_bound_is_jsd_any() -> None:
    chosen = case("two rows")
    values = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.05)
    assert (values["", "tvd"] <= 0.05 + 1e-9).all()
    assert (values["", "jsd"] > 0.1).any()
    same(values["", "upper"], values["", "jsd_any"])
    assert not values["", "exact"].any()


def test_a_failed_search_counts_as_0_and_as_not_found() -> None:
    chosen = case("two classes")
    values = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.0, fidelity="code")
    same(values["", "jsd"], np.zeros(EXAMPLES))
    same(values["", "found"], np.zeros(EXAMPLES))
    same(values["", "tvd"], np.zeros(EXAMPLES))


def test_an_unknown_fidelity_of_furthest_is_rejected() -> None:
    chosen = case("two classes")
    with pytest.raises(
        InputError,
        match="no fidelity 'x' of the audit furthest; choose from: corrected, code, paper",
    ):
        furthest(chosen.model, chosen.record, {}, 0, fidelity="x")


# Strict sameness


def strict_tolerance(p: np.ndarray, epsilon: float) -> float:
    """p - sigmoid(logit(p) - 4 epsilon) of the largest probability p, at most epsilon."""
    with localcontext() as context:
        context.prec = 50
        most = Decimal(float(p.max()))
        odds = (most / (1 - most)).ln() - 4 * Decimal(epsilon)
        return min(epsilon, float(most - 1 / (1 + (-odds).exp())))


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.2])
@every_case
def test_the_strict_tolerance_lets_the_log_odds_fall_by_4_epsilon(
    name: str, epsilon: float
) -> None:
    chosen = case(name)
    found = strict_epsilon(chosen.record, epsilon)
    for index in range(EXAMPLES):
        p = chosen.probs(index, chosen.alpha[index])
        same(found[index], strict_tolerance(p, epsilon))
    assert (found <= epsilon).all()
    assert (found < 0.9 * epsilon).any()


def test_the_strict_tolerance_of_a_coin_flip_is_epsilon_and_of_a_sure_model_tiny() -> None:
    record = Glass("oracle", dtype=torch.float64).read(glass_batch(3))
    logits = torch.tensor([[0.0, 0.0], [40.0, 0.0], [900.0, 0.0]]).double()
    found = strict_epsilon(replace(record, logits=logits), 0.01)
    assert found[0].item() == pytest.approx(0.01, rel=1e-3)
    assert found[1].item() == pytest.approx(math.exp(-40) * math.expm1(0.04), rel=1e-9)
    assert found[2].item() == 0


@pytest.mark.parametrize("name", LINEAR)
def test_strict_shares_are_exact_with_the_strict_tolerance(name: str) -> None:
    chosen = case(name)
    values = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.05)
    readout = chosen.record.readout
    assert readout is not None
    lower = 0
    for index in range(EXAMPLES):
        one = slice(index, index + 1)
        p = chosen.probs(index, chosen.alpha[index])
        classes = chosen.record.batch.classes
        answer = exact.furthest(
            chosen.record.alpha[one, 0],
            readout[one],
            chosen.record.mask[one, 0],
            epsilon=strict_tolerance(p, 0.05),
            classes=None if classes is None else classes[one],
        )
        most = values["", "jsd_any"][index].item()
        if most == 0:
            assert values["", "strict_share"][index].isnan()
            continue
        share, upper = (values["", f"strict_{name}"][index] for name in ("share", "upper_share"))
        within = 1e-6 if readout.shape[2] == 2 else 5e-3  # boxes are split until close enough
        assert share.item() == pytest.approx(answer.jsd.item() / most, abs=within)
        assert upper.item() == pytest.approx(answer.upper.item() / most, abs=within)
        assert share <= values["", "jsd_share"][index]
        assert upper <= values["", "upper_share"][index]
        lower += share < values["", "jsd_share"][index] - 1e-3
    assert lower > 0
    if readout.shape[2] == 2:
        assert values["", "strict_exact"].all()


def test_without_a_readout_strict_shares_exist_only_where_the_tolerances_agree() -> None:
    chosen = case("two rows")
    logits = chosen.record.logits.clone()
    logits[:2] = -50.0
    logits[0, :2] = 0.0
    logits[1, 0] = 6.0
    record = replace(chosen.record, logits=logits)
    values = furthest(chosen.model, record, {}, 0)
    unsure = strict_epsilon(record, 0.01) >= 0.0095
    assert unsure[0]
    assert not unsure[1]
    for strict, plain in (("strict_share", "jsd_share"), ("strict_upper_share", "upper_share")):
        same(values["", strict][unsure], values["", plain][unsure])
        assert values["", strict][~unsure].isnan().all()
    assert values["", "strict_exact"][~unsure].isnan().all()


def test_a_sure_model_is_not_excused() -> None:
    """The oracle is sure: within epsilon its log-odds may move a long way, strictly not."""
    model = Glass("oracle", strength=14.0, dtype=torch.float64)
    values = furthest(model, model.read(glass_batch()), {}, 0)
    assert values["", "strict_share"].mean() < values["", "jsd_share"].mean() - 0.03
    inert = Glass("inert", strength=14.0, dtype=torch.float64)
    values = furthest(inert, inert.read(glass_batch()), {}, 0)
    assert (values["", "strict_share"] > 1 - 1e-9).all()
