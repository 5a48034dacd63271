"""The furthest attention with the same prediction, against the exact answer."""

from __future__ import annotations

import numpy as np
import pytest

from attnaudit import exact
from attnaudit.audits.furthest import furthest
from attnaudit.core.errors import InputError
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
