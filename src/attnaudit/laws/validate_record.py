"""What a model gives must be a distribution of attention and finite logits, or nothing computed from it means anything."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError


def check_record(record: Record) -> None:
    """Refuse attention that is no distribution, by example, before anything is computed from it."""
    wrong = {
        "NaN or infinite attention": (~torch.isfinite(record.alpha) & record.mask)
        .flatten(1)
        .any(-1),
        "NaN or infinite logits": (~torch.isfinite(record.logits)).any(-1),
        "negative attention": (record.alpha < 0).flatten(1).any(-1),
        "attention outside its mask": ((record.alpha > 0) & ~record.mask).flatten(1).any(-1),
        "attention that does not sum to 1": _off_simplex(record),
    }
    for what, where in wrong.items():
        if where.any():
            names = [record.batch.example_id[at] for at in where.nonzero()[:3, 0].tolist()]
            raise InputError(
                f"The model gives {what} for {int(where.sum())} of {len(record.batch)} examples, such as {', '.join(names)}. "
                "Nothing can be audited there: look at those texts, or run `attnaudit check`."
            )


def _off_simplex(record: Record) -> Tensor:
    """(B,) some row with items is further than rounding from the simplex; half precision allowed for."""
    off = (record.alpha.sum(-1) - 1).abs() > 1e-2
    return (off & record.mask.any(-1)).any(-1)
