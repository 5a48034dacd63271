"""Free memory goes back to the system."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from attnaudit.core import heap


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc only")
def test_freed_tensors_between_others_are_given_back() -> None:
    # Below the size from which on glibc maps every block by itself.
    blocks = [torch.ones(2**15) for _ in range(800)]
    kept = blocks[::2]
    before = resident()
    del blocks
    heap.return_free_memory()
    assert before - resident() > 0.5 * 400 * 2**17
    assert all(float(block[0]) == 1.0 for block in kept)


def test_without_such_a_library_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_trim", lambda: None)
    assert not heap.return_free_memory()
