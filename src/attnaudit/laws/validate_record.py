"""Reject records without proper attention or finite logits: nothing computed from them is valid."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError


def check_record(record: Record) -> None:
    """Reject attention rows that are not probability distributions, and logits that are not finite.

    The error names the first examples concerned.
    """
    wrong = {
        "NaN or infinite attention": (~torch.isfinite(record.alpha) & record.mask)
        .flatten(1)
        .any(-1),
        "NaN or infinite logits": (~torch.isfinite(record.logits)).any(-1),
        "negative attention": (record.alpha < 0).flatten(1).any(-1),
        "attention outside its mask": ((record.alpha > 0) & ~record.mask).flatten(1).any(-1),
        "attention that does not sum to 1": _off_simplex(record),
    }
    for problem, examples in wrong.items():
        if examples.any():
            ids = [record.batch.example_id[index] for index in examples.nonzero()[:3, 0].tolist()]
            raise InputError(
                f"The model gives {problem} for {int(examples.sum())} of {len(record.batch)} "
                f"examples, such as {', '.join(ids)}. "
                "They cannot be audited: look at those texts, or run `attnaudit check`."
            )


def _off_simplex(record: Record) -> Tensor:
    """Is any row with items off the simplex, beyond rounding in half precision? (B,)"""
    off = (record.alpha.sum(-1) - 1).abs() > 1e-2
    return (off & record.mask.any(-1)).any(-1)
