"""Mutual information against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from attnaudit.audits.corpus.information import adjusted, by_chance, contingency, plug_in


def test_information_equals_scikit_learns_and_the_correction_removes_its_bias() -> None:
    draw = np.random.default_rng(0)
    x, y = draw.integers(0, 30, 300), draw.integers(0, 5, 300)
    table = contingency(x, y)
    assert plug_in(table) == pytest.approx(mutual_info_score(x, y))
    # Independent labels: the plug-in says 0.2, the truth is 0.
    assert plug_in(table) > 0.12
    shuffled = [plug_in(contingency(x, draw.permutation(y))) for _ in range(400)]
    assert by_chance(table) == pytest.approx(np.mean(shuffled), abs=4 * np.std(shuffled) / 20)
    assert adjusted(table) == pytest.approx(plug_in(table) - by_chance(table))
    assert by_chance(np.pad(table, 1)) == pytest.approx(
        by_chance(table)
    )  # labels that do not occur
    same = contingency(y, y)
    shares = np.bincount(y) / 300
    assert plug_in(same) == pytest.approx(-(shares * np.log(shares)).sum())


def test_halves_of_independent_labels_have_no_information() -> None:
    """Labels that have nothing to do with each other: halves of them have as little."""
    from attnaudit.audits.corpus.information import adjusted, contingency

    draw = np.random.default_rng(0)
    x, y = draw.integers(0, 50, 1000), draw.integers(0, 5, 1000)
    halves = [draw.permutation(1000)[:500] for _ in range(50)]
    assert abs(np.mean([adjusted(contingency(x[h], y[h])) for h in halves])) < 0.03
