"""Value zeroing where the attended sum is all there is, against a plain loop."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine

from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rounding import of_largest_score
from attnaudit.measures.value_zeroing import of_angles, value_zeroing
from attnaudit.models.glass import Glass, glass_batch
from gradient_cases import case, every_case


@every_case
def test_value_zeroing_is_the_turn_of_the_attended_sum(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, record = case(name)
    found = value_zeroing(model, record, 0)
    alpha, hidden = record.alpha.numpy(), record.hidden.numpy()  # type: ignore[union-attr]
    assert found.shape == alpha.shape
    undefined = 0
    for index, row, item in np.ndindex(*alpha.shape):
        if not record.content[index, item]:
            assert found[index, row, item].isnan()
            continue
        parts = alpha[index, row][:, None] * hidden[index]
        whole, rest = parts.sum(0), np.delete(parts, item, 0).sum(0)
        if not rest.any() or not whole.any():
            assert found[index, row, item].isnan()
            undefined += 1
        else:
            assert float(found[index, row, item]) == pytest.approx(cosine(whole, rest), abs=1e-12)
    assert undefined or name == "pairs"  # a text of one item: without it, nothing is left
    assert (found.nan_to_num() > 1e-4).any()
    # The package has the function under the module's name.
    monkeypatch.setattr(sys.modules[value_zeroing.__module__], "NUMBERS_AT_ONCE", 1)
    np.testing.assert_array_equal(value_zeroing(model, record, 0), found)


def test_value_zeroing_needs_states_or_layers() -> None:
    model = Glass("oracle")
    record = replace(model.read(glass_batch(2)), hidden=None)
    with pytest.raises(NotApplicable, match="neither its layers nor the hidden states"):
        value_zeroing(model, record, 0)


def test_equal_states_turn_nothing() -> None:
    """In the inert model all states are equal: a shorter sum has the same direction."""
    model = Glass("inert")
    record = model.read(glass_batch(5))
    found = value_zeroing(model, record, 0)[:, 0]
    np.testing.assert_allclose(found[record.content], 0, atol=1e-12)


def test_distances_tie_by_their_angles() -> None:
    """Angles known to 1e-7 make the largest distances uncertain by far more than the smallest."""
    record = Glass("oracle", dtype=torch.float32).read(glass_batch(1))
    angle = torch.tensor([[0.5, 0.5 + 1e-6, 1e-4, 1.2e-4, 0.0, 1e-7]], dtype=torch.float64)
    scores = angle.square() / 2
    tied = of_angles(scores, torch.ones_like(scores, dtype=torch.bool), record)[0]
    assert tied[0] == tied[1] == scores[0, 0]
    assert tied[2] == scores[0, 2]
    assert tied[3] == scores[0, 3]
    assert tied[4] == tied[5] == 0
    assert (
        of_largest_score(scores, torch.ones_like(scores, dtype=torch.bool), record)[0, 2:]
        .unique()
        .numel()
        == 1
    )  # the default would tie all the small ones
