"""Small models are trained and audited with one thread, unless another number is chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from attnaudit.core.tasks import Workers
from attnaudit.core.thread_limits import threads_of_small_models
from attnaudit.training import run, runner

DATASET = "keyword:train=40,dev=16,test=24,length=10,jitter=2"


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As torch starts on a machine with two cores."""
    monkeypatch.delenv("OMP_NUM_THREADS")
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_one_thread_unless_chosen_or_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads_of_small_models(None) == 1
    assert threads_of_small_models(3) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert threads_of_small_models(None) is None
    assert threads_of_small_models(3) == 3


@pytest.mark.parametrize(("chosen", "expected"), [(None, 1), (2, 2)])
def test_a_run_trains_and_audits_so(
    two_threads: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    chosen: int | None,
    expected: int,
) -> None:
    seen = []
    for name in ("fit", "audit_run"):
        original = getattr(runner, name)

        def counted(*given: object, original: object = original, **options: object) -> object:
            seen.append(torch.get_num_threads())
            return original(*given, **options)  # type: ignore[operator]

        monkeypatch.setattr(runner, name, counted)
    how = {"workers": Workers(threads=chosen), "show_progress": False}
    run(DATASET, epochs=1, audits=["agreement"], measures=["random"], out=tmp_path, **how)
    assert seen == [expected, expected]
    assert torch.get_num_threads() == 2  # as before
