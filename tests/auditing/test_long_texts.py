"""What the whole default audit of one text of 20,000 words may cost.

Nothing is held for every pair of words. It takes one to some minutes per encoder.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from attnaudit import audit, data
from attnaudit.audits import DEFAULT_AUDITS
from attnaudit.data import Vocabulary, batches_of
from attnaudit.measures import DEFAULT_MEASURES
from attnaudit.models import Architecture, build

STATUS = Path("/proc/self/status")
WORDS = 20_000


def peak() -> int:
    """The largest resident memory in MB since it was reset."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize("encoder", ["average:hidden=8", "bilstm:hidden=8"])
def test_one_text_takes_no_memory_for_pairs_of_words(encoder: str) -> None:
    text = data.load(f"keyword:length={WORDS},jitter=0,train=2,dev=0,test=1").test
    vocabulary = Vocabulary.build(text)
    torch.manual_seed(0)
    model = build(
        Architecture(encoder=encoder, embedding=8),
        words=len(vocabulary),
        classes=2,
        with_query=False,
    ).eval()
    Path("/proc/self/clear_refs").write_text("5")
    start = peak()  # of a new process about 490 MB; other tests may have left more
    results = audit(model, batches_of(text, vocabulary, 2), show_progress=False)
    # So under 1.5 GB in a new process; a table of all pairs of words has 3,200 MB in int64.
    assert peak() - start < 1000
    assert set(results.about["audits"]) == set(DEFAULT_AUDITS)
    assert set(results.about["measures"]) == set(DEFAULT_MEASURES)
    assert results.mean("agreement", "tau", "leave_one_out") == pytest.approx(0, abs=1)
    assert results.mean("furthest", "exact") == 1
    assert not math.isnan(results.mean("top_words", "contrast_best"))
