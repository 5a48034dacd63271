"""What counts as a twin in the claim that there is none, and as unchanged in table 5."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
import pytest

from attnaudit.papers.finished_cells import FinishedCells
from attnaudit.papers.item import Number
from attnaudit.papers.wen_2022 import tables
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


@pytest.mark.parametrize(
    ("after", "raised"),
    [(0.95, 1.0), (0.9, 1.0), (0.9 - 1e-15, 1.0), (0.89, 0.0), (math.nan, math.nan)],
)
def test_a_weighted_tau_that_differs_by_rounding_is_unchanged(
    after: float, raised: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {"encoder": "mlp", "scorer": "deep"}
    made = [
        SimpleNamespace(
            details={"choices": {**parts, "projection": projection}},
            part=parts.__getitem__,
            tau=tau,
        )
        for projection, tau in (("softmax", 0.9), ("gumbel_softmax:temperature=0.8", after))
    ]
    monkeypatch.setattr(tables, "tau_of", lambda run: Number("weighted_tau", run.tau))
    gained, kept = tables.table5(FinishedCells("sst", 0, tuple(made)))  # type: ignore[arg-type]
    assert (gained.metric, kept.metric) == ("weighted_tau_gained", "raised")
    assert gained.value == pytest.approx(after - 0.9, abs=1e-12, nan_ok=True)
    assert kept.value == pytest.approx(raised, nan_ok=True)
