"""The weighted tau over ranks and its interval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attnaudit.audits.corpus.information import adjusted, plug_in
from attnaudit.audits.corpus.rank_correlation import information_by_rank, tau_interval, weighted_tau


@pytest.mark.parametrize("information", [plug_in, adjusted])
def test_the_interval_contains_the_estimate(information: Any) -> None:
    """Ranks with many clusters look more informative in half of the texts than in all."""
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
        low, high = tau_interval(labels, outputs, weights, seed, information)
        assert (
            low
            <= weighted_tau(information_by_rank(labels, outputs, information), weights.mean(0))
            <= high
        )


def test_ranks_that_are_nearly_tied_may_be_in_either_order() -> None:
    """The information falls a little from rank to rank, so the true tau is 1.

    Of 300 texts the order cannot be seen; the halves alone gave intervals that missed half of the
    time.
    """
    draw = np.random.default_rng(1)
    shares = np.array([[0.52], [0.51], [0.5], [0.49]])
    weights = np.tile([0.4, 0.3, 0.2, 0.1], (300, 1))
    covered = far = 0
    for seed in range(20):
        outputs = draw.integers(0, 3, 300)
        kept = draw.random((4, 300)) < shares
        labels = np.where(kept, outputs, draw.integers(0, 3, (4, 300)))
        _, high = tau_interval(labels, outputs, weights, seed, plug_in)
        covered += high >= 1 - 1e-9
        informed = information_by_rank(labels, outputs, plug_in)
        far += weighted_tau(informed, weights.mean(0)) < 0.5
    assert far > 6
    assert covered >= 18
