"""What counts as a twin in the claim that there is none."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from attnaudit.papers.wen_2022.tables import no_twin


@pytest.mark.parametrize(
    ("jsd", "tvd", "is_twin"),
    [
        (0.6, 0.01, True),  # other attention, the same predictions
        (0.6, 0.47, False),  # it does not predict what the base predicts
        (0.01, 0.01, False),  # its attention is that of the base
    ],
)
def test_a_twin_has_other_attention_and_the_same_predictions(
    jsd: float, tvd: float, is_twin: bool
) -> None:
    summary = pd.DataFrame(
        {"kind": ["seed", "twin"], "jsd": [0.02, jsd], "tvd": [0.03, tvd], "accuracy": [1.0, 0.9]}
    ).assign(jsd_low=0.0, jsd_high=1.0, tvd_low=0.0, tvd_high=1.0)
    cells = SimpleNamespace(
        runs=["base"], findings=lambda intervention, run: SimpleNamespace(summary=summary)
    )
    number = next(iter(no_twin(cells)))
    assert (number.value > 0) == is_twin
    assert number.claim is not None
    assert number.claim[1] == 0.0
