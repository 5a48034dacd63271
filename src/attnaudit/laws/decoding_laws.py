"""Laws 1, 2, 7 and 8: the attention of a record, and the logits under other attention."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.core.simplex import random_alpha
from attnaudit.core.tolerance import tolerance_of
from attnaudit.laws.differences import difference, largest
from attnaudit.laws.report import Law


def finite(record: Record) -> Law:
    """No NaN or infinity in the attention weights or the logits."""
    real = record.alpha[record.mask]
    bad = (~torch.isfinite(real)).sum() + (~torch.isfinite(record.logits)).sum()
    return Law(
        "finite: no NaN in attention or logits",
        float(bad),
        0.0,
        hint="an empty row or an overflow in the model",
    )


def simplex(record: Record) -> Law:
    """Law 2: each row of attention is a distribution over its mask."""
    has_items = record.mask.any(-1)
    off_simplex = (record.alpha.sum(-1) - 1).abs().masked_fill(~has_items, 0.0).max().item()
    negative = (-record.alpha).clamp_min(0).max().item()
    outside = record.alpha.masked_fill(record.mask, 0.0).abs().max().item()
    stray = (record.content & ~record.mask.any(1)).sum().item()
    return Law(
        "2 simplex: rows are non-negative, sum to 1 and are 0 outside the mask",
        largest(off_simplex, negative, outside, float(stray)),
        tolerance_of(record.alpha),
        hint="padding is attended, or what is returned is scores rather than weights",
    )


def round_trip(model: AttentionModel, record: Record, seed: int) -> Law:
    """Law 1: decoding a record with its own attention gives its logits."""
    back = model.decode(record, record.alpha)
    several = torch.stack(
        [record.alpha, *random_alpha(record.mask, seed, record.alpha.dtype, 2).unbind(1)], 1
    )
    many = model.decode(record, several)
    error = largest(
        difference(back, record.logits),
        difference(many[:, 0], record.logits),
        difference(many[:, 1], model.decode(record, several[:, 1])),
    )
    return Law(
        "1 round trip: decode(record, record.alpha) gives record.logits, one or several at a time",
        error,
        tolerance_of(record.logits),
        control=difference(many[:, 1], record.logits),
        hint="decode does not continue from the same place that read recorded, "
        "or several alternatives are mixed up",
    )


def readout_law(model: AttentionModel, record: Record, readout: Tensor, seed: int) -> Law:
    """Law 7: the readout (B,N,C) gives the logits under any attention."""
    attends = record.mask.any(-1).all(-1)  # an example with an empty row has no attention
    other = random_alpha(record.mask, seed, record.alpha.dtype)
    expected = (other[:, :, 0] @ readout)[attends]
    return Law(
        "7 readout: decode(record, a) equals a @ readout for any a on the simplex",
        difference(model.decode(record, other)[attends], expected),
        tolerance_of(expected),
        control=difference(expected[:, 0], expected[:, 1]),
        hint="the output is not linear in the attended items; leave readout=None",
    )


def leave_out_law(model: AttentionModel, record: Record) -> Law:
    """Law 8: the model's own leave_out equals reading again without each item.

    So does leave_out_some, if it has one; every other item is asked for.
    """
    fast: Callable[[Record], Tensor] = model.leave_out  # type: ignore[attr-defined]
    plain = leave_out_by_reading(model, record)
    answered = torch.isfinite(plain)
    error = difference(fast(record)[answered], plain[answered])
    if (some := getattr(model, "leave_out_some", None)) is not None:
        wanted = record.content.clone()
        wanted[:, ::2] = False
        if (found := some(record, wanted)) is not None:
            compared = answered & wanted[..., None]
            error = largest(error, difference(found[compared], plain[compared]))
    return Law(
        "8 leave_out equals reading again without the item",
        error,
        tolerance_of(plain[answered]),
        control=difference(plain[answered], record.logits[:, None].expand_as(plain)[answered]),
        hint="leave_out must delete the token and close the gap, not blank it",
    )
