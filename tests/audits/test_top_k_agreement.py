"""Top-k agreement of each example on its own."""

from __future__ import annotations

import pytest
import torch

from attnaudit import statistics
from attnaudit.core.errors import InputError
from bilstm_cases import TEXT_LENGTHS, bilstm_case, counted_items, first_row, run_audit


@pytest.mark.parametrize("projection", ["softmax", "sparsemax"])
@pytest.mark.parametrize("fidelity", ["corrected", "code"])
def test_values_equal_those_of_each_example_alone(projection: str, fidelity: str) -> None:
    _, record, scores = bilstm_case(projection)
    found = run_audit(
        "top_k_agreement",
        projection,
        k="average+all+non_zero+non_zero_of_attention+2",
        fidelity=fidelity,
        mean_length=4,
    )
    for index in range(len(TEXT_LENGTHS)):
        items = counted_items(record, index)
        x, y = (
            first_row(scores["attention"], index)[items],
            first_row(scores["gradient"], index)[items],
        )
        fewest = max(min(int((x != 0).sum()), int((y != 0).sum())), 1)
        lists = {
            "average": 4,
            "all": len(items),
            "non_zero": fewest,
            "non_zero_of_attention": max(int((x != 0).sum()), 1),
            "fixed": 2,
        }
        for name, k in lists.items():
            alone = torch.ones(1, len(items), dtype=torch.bool)
            tau = statistics.top_k_kendall(x[None], y[None], k, alone, fidelity=fidelity)
            overlap = statistics.overlap_at_k(x[None], y[None], k, alone)
            torch.testing.assert_close(found["gradient", f"tau_{name}"][index], tau, equal_nan=True)
            torch.testing.assert_close(
                found["gradient", f"overlap_{name}"][index], overlap, equal_nan=True
            )


def test_k_all_is_plain_tau_and_the_ceiling_is_of_the_reference_measures() -> None:
    found = run_audit("top_k_agreement", mean_length=4)
    plain = run_audit("agreement")
    torch.testing.assert_close(found["random", "tau_all"], plain["random", "tau"], equal_nan=True)
    torch.testing.assert_close(
        found["between_measures", "tau_all"], plain["gradient|leave_one_out", "tau"], equal_nan=True
    )


def test_the_ceiling_of_non_zero_is_over_lists_as_long_as_attentions() -> None:
    _, record, scores = bilstm_case("sparsemax")
    found = run_audit("top_k_agreement", "sparsemax", k="non_zero")[
        "between_measures", "tau_non_zero"
    ]
    shorter = 0
    for index in range(len(TEXT_LENGTHS)):
        items = counted_items(record, index)
        x, y, alpha = (
            first_row(scores[name], index)[items]
            for name in ("gradient", "leave_one_out", "attention")
        )
        fewest = max(min(int((each != 0).sum()) for each in (x, y, alpha)), 1)
        shorter += fewest < min(int((x != 0).sum()), int((y != 0).sum()))
        expected = statistics.top_k_kendall(
            x[None], y[None], fewest, torch.ones(1, len(items), dtype=torch.bool)
        )
        torch.testing.assert_close(found[index], expected, equal_nan=True)
    assert shorter  # or the length of attention's list would make no difference


@pytest.mark.parametrize("k", ["0", "none", "2+x", "-3"])
def test_an_invalid_k_is_rejected(k: str) -> None:
    with pytest.raises(
        InputError, match="k is average, all, non_zero, non_zero_of_attention or a number"
    ):
        run_audit("top_k_agreement", k=k, mean_length=4)
