"""What takes longest is said before long work, and what to leave out to halve it."""

from __future__ import annotations

import time
from typing import Any

import pytest

from attnaudit.auditing import time_estimate
from attnaudit.auditing.battery import Battery
from attnaudit.auditing.jobs.text_examples import TextExample, batches_by
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.models import from_huggingface
from tiny_transformers import TEXTS, tiny


def test_the_slow_audit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(model: Any, record: Any, scores: Any, seed: int) -> dict[str, Any]:
        time.sleep(0.02 * len(record.batch))
        return {"length": record.length.double()}

    monkeypatch.setattr(time_estimate, "_LONG", 0.5)
    model = from_huggingface(*tiny("bert", num_labels=2))
    audits = find_audits(["uniform_attention", slow])
    battery = Battery(model, audits, find_measures(["random"]))
    texts = [TextExample(str(number), TEXTS[number % 3], None, 8) for number in range(100)]
    said = time_estimate.estimate_time(battery, texts, batches_by(model))
    assert said is not None
    assert "for 100 texts. Longest: slow " in said
    assert "Half the time without slow, or with half of the texts." in said
    assert time_estimate.estimate_time(battery, texts[:20], batches_by(model)) is None
