"""An audit that fails, for tests of what is kept then; found by name in other processes."""

from __future__ import annotations

from typing import Any

import torch


def fails_on_one_text(model: Any, record: Any, scores: Any, seed: int) -> dict[str, torch.Tensor]:
    """Every text but number 07 has the value 1."""
    if "07" in record.batch.example_id:
        raise RuntimeError("no memory left")
    return {"one": torch.ones(len(record.batch))}
