"""Audits that fail or kill their process, for tests; found by name in other processes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import torch


def fails_on_one_text(model: Any, record: Any, scores: Any, seed: int) -> dict[str, torch.Tensor]:
    """Every text but number 07 has the value 1."""
    if "07" in record.batch.example_id:
        raise RuntimeError("no memory left")
    return {"one": torch.ones(len(record.batch))}


def kills_on_one_text(model: Any, record: Any, scores: Any, seed: int) -> dict[str, torch.Tensor]:
    """Ends its process at text number 07."""
    if "07" in record.batch.example_id:
        os._exit(9)
    return {"one": torch.ones(len(record.batch))}


def waits_on_one_text(
    model: Any, record: Any, scores: Any, seed: int, *, folder: str = ""
) -> dict[str, torch.Tensor]:
    """The first process that comes to text number 07 says who it is, and waits to be killed."""
    begun = Path(folder, "begun")
    if "07" in record.batch.example_id and not begun.exists():
        begun.write_text(str(os.getpid()))
        time.sleep(120)
    return {"one": torch.ones(len(record.batch))}
