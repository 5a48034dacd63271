"""Both sides of every row of the benchmark give the same numbers, here on a few simulated texts."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from benchmarks.reference import attention_tests as released
from benchmarks.speed import rows as benchmark
from benchmarks.speed import setting
from benchmarks.speed.__main__ import as_dict, line
from benchmarks.speed.machine import Machine
from benchmarks.speed.row import measured

MACHINE = Machine(operations=1e11, functions=1e9, bytes=1e10, draws=1e9, sorts=1e9)
LIBRARIES = "libraries"  # takes seconds: a transformer of six layers, and all sizes of batches


@pytest.fixture(autouse=True)
def _few_texts_and_small_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTNAUDIT_DATA", raising=False)
    monkeypatch.setattr(setting, "EMBEDDING", 8)
    monkeypatch.setattr(setting, "fit", lambda *args, **options: None)
    monkeypatch.setattr(released, "furthest", partial(released.furthest, steps=50))
    monkeypatch.setitem(benchmark.TEXTS, "sst", (6, 6))
    monkeypatch.setitem(benchmark.TRAINING, "sst", (12, 12))


@pytest.mark.parametrize("work", [work for work in benchmark.WORK if work != LIBRARIES])
def test_both_sides_agree(work: str) -> None:
    device = torch.device("cpu")
    for row in benchmark.rows(work, ["sst"], device, quick=True):
        outcome = measured(row, MACHINE, device, 1, cores=False)
        assert outcome.equal, f"{row.name}: {outcome.difference}"
        assert outcome.limit is not None
        assert outcome.limit > 0
        assert row.name in line(outcome)
        assert as_dict(outcome)["ratio"] == outcome.ratio


def test_rows_whose_aim_may_be_out_of_reach_run_their_essential_parts() -> None:
    for work in ("gradient", "permutation", "furthest-6", "battery", "training"):
        row = next(benchmark.rows(work, ["sst"], torch.device("cpu"), quick=True))
        assert row.essential is not None, work
        outcome = measured(row, MACHINE, torch.device("cpu"), 1, cores=False)
        assert outcome.essential is not None
        assert outcome.best_ratio == outcome.theirs.least / outcome.essential.least
        assert as_dict(outcome)["best_ratio"] == outcome.best_ratio
        assert f"{outcome.best_ratio:7.1f}" in line(outcome)
