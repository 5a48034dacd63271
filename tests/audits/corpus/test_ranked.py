"""How many ranks are looked at."""

from __future__ import annotations

import numpy as np

from attnaudit.audits.corpus.ranked import ranks


def test_both_rules_for_k_match_counts_by_hand() -> None:
    weights = np.array(
        [
            [0.5, 0.3, 1e-6, 0],
            [0.9, 1e-7, 0, 0],
            [0.4, 0.3, 0.2, 0.1],
            [0.5, 0.5, 0, 0],
            [1, 1e-3, 0, 0],
        ]
    )
    lengths = np.array([3, 2, 4, 2, 2])
    # Rule 2: 100 %, 80 %, 20 %, 20 % of the k-th weights exceed 1e-5.
    assert ranks(weights, lengths, 2) == 2
    # Rule 1: of all weights up to k, 100 %, 90 %, 66 %, 55 % do; 10th percentile of length: 2.
    assert ranks(weights, lengths, 1) == 2
    assert ranks(weights, np.array([3, 4, 4, 4, 4]), 1) == 2
    assert ranks(weights[2:3].repeat(5, 0), np.full(5, 4), 1) == 4
    assert ranks(np.full((5, 4), 1e-9), np.full(5, 4), 2) == 0
