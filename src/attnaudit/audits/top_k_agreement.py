"""Do attention and the measures name the same top words? (Neely & Schouten 2020, table 2)"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.data_options import uses_data_option
from attnaudit.audits.declaration import CORRELATION, SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.per_row import per_row
from attnaudit.audits.reference_measures import BETWEEN, between, compared
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import Fidelity, ParsedBy, limits

LENGTHS = ("average", "all", "non_zero", "non_zero_of_attention")  # what k can be, besides a number


def _metrics(kind: str, meaning: str, scale: tuple[float, float]) -> dict[str, Metric]:
    return {
        f"{kind}_{k}": Metric(
            f"{meaning}, k {k}", f"{kind}_{k}@random", f"{kind}_{k}@{BETWEEN}", scale
        )
        for k in (*LENGTHS, "fixed")
    }


def _split(k: int | str) -> list[str]:
    """The lengths of list asked for: words of `LENGTHS`, and at most one number."""
    lengths = str(k).split("+")
    for length in lengths:
        if length not in LENGTHS and not (length.isdecimal() and int(length) > 0):
            raise InputError(
                f"top_k_agreement: k is {', '.join(LENGTHS)} or a number, several joined by +; "
                f"got {length!r}."
            )
    if sum(length.isdecimal() for length in lengths) > 1:
        raise InputError(f"top_k_agreement takes one number for k at a time, got {k!r}.")
    return lengths


@uses_data_option("mean_length", when=lambda options: "average" in _split(options["k"]))
@limits(
    k=ParsedBy(_split),
    fidelity=Fidelity("the audit top_k_agreement", ("corrected", "code")),
)
@declares(
    Declaration(
        question="Do attention and the measures name the same most important words?",
        metrics={
            **_metrics("tau", "top-k Kendall tau; 1 = the same list, -1 = disjoint", CORRELATION),
            **_metrics("overlap", "share of the k most important words in common", SHARE),
        },
        detects=("shifted",),
        blind={"inert": "the lists are right, although attention cannot change the prediction"},
    )
)
def top_k_agreement(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    k: int | str = "average+all+non_zero",
    fidelity: str = "corrected",
    mean_length: int | None = None,
    of: str = "attention",
) -> Values:
    """Top-k Kendall (Fagin et al. 2003) and overlap of attention with every measure.

    Floor: random scores. Ceiling: the reference measures with each other.

    Parameters
    ----------
    k : int or str
        Several of these, joined by +: average, the mean length of the texts; all, every word, which
        is plain tau-b; non_zero, the fewest non-zeros of the two, which is all words under softmax
        (Neely & Schouten's code); non_zero_of_attention, those of the explanation alone (their
        text); or a number.
    fidelity : {"corrected", "code"}
        code: as released by Neely & Schouten, where disjoint lists score up to +1. Compare its
        values with its floor.
    mean_length : int, optional
        For k=average; computed by `audit()` from all the data if omitted.
    of : str, default "attention"
        As in agreement.

    Returns
    -------
    dict of Tensor (B,R)
        `tau_K` and `overlap_K` for K of average, all, non_zero, non_zero_of_attention and fixed (a
        number).
    """
    compare: dict[str, Callable[..., Tensor]] = {
        "tau": partial(_tau, fidelity=fidelity),
        "overlap": _overlap,
    }
    values: Values = {}
    for length in _split(k):
        if length == "non_zero_of_attention":
            count: Tensor | None = _fewest_non_zeros(record, scores[of])
        else:
            count = _k_of(length, record, mean_length)
        suffix = "fixed" if length.isdigit() else length
        for first, second, pair in compared(scores, of):
            if count is None:
                # The lists of the reference measures are no longer than those of attention, so that
                # the ceiling is over lists of the same length.
                k_of_pair = _fewest_non_zeros(record, scores[of], scores[first], scores[second])
            else:
                k_of_pair = count
            for metric, function in compare.items():
                # k of each row and example goes along as a third score.
                values[pair, f"{metric}_{suffix}"] = per_row(
                    record, function, scores[first], scores[second], k_of_pair
                )
        for metric in compare:
            name = f"{metric}_{suffix}"
            values[BETWEEN, name] = between(values, scores, name, record)
    return values


def _k_of(length: str, record: Record, mean_length: int | None) -> Tensor | None:
    """k (B,R,N), the same for all items of a row; None if it depends on the scores."""
    if length == "non_zero":
        return None
    if length == "all":
        # A row without items has no tau whatever k is.
        count = (record.content[:, None] & record.mask).sum(-1).clamp_min(1)
    elif length == "average":
        if mean_length is None:
            raise InputError(
                "k=average needs mean_length, which audit() computes from all the data."
            )
        count = torch.full(record.mask.shape[:2], max(mean_length, 1), device=record.mask.device)
    else:
        count = torch.full(record.mask.shape[:2], int(length), device=record.mask.device)
    return count[..., None].expand_as(record.mask)


def _fewest_non_zeros(record: Record, *scores: Tensor) -> Tensor:
    """k (B,R,N): the number of non-zero scores of whichever has fewest, at least 1."""
    real = record.content[:, None] & record.mask

    def count(score: Tensor) -> Tensor:
        rows = score if score.dim() == 3 else score[:, None]
        return ((rows != 0) & real).sum(-1)

    fewest = count(scores[0])
    for score in scores[1:]:
        fewest = torch.minimum(fewest, count(score))
    return fewest.clamp_min(1)[..., None].expand_as(record.mask)


def _tau(x: Tensor, y: Tensor, k: Tensor, mask: Tensor, *, fidelity: str) -> Tensor:
    return statistics.top_k_kendall(x, y, k[:, 0], mask, fidelity=fidelity)


def _overlap(x: Tensor, y: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return statistics.overlap_at_k(x, y, k[:, 0], mask)
