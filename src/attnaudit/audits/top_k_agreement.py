"""Do attention and the measures name the same most important words? (Neely & Schouten 2020, table 2)"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.declaration import CORRELATION, SHARE, Declaration, Metric, Values, declares
from attnaudit.audits.per_row import by_row
from attnaudit.audits.reference_measures import BETWEEN, between, compared
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import Fidelity, ParsedBy, limits

LISTS = ("average", "all", "non_zero")


def _metrics(kind: str, meaning: str, scale: tuple[float, float]) -> dict[str, Metric]:
    return {
        f"{kind}_{each}": Metric(
            f"{meaning}, k {each}", f"{kind}_{each}@random", f"{kind}_{each}@{BETWEEN}", scale
        )
        for each in (*LISTS, "fixed")
    }


def _lists(k: int | str) -> list[str]:
    """What each list is as long as."""
    listed = str(k).split("+")
    for each in listed:
        if each not in LISTS and not (each.isdecimal() and int(each) > 0):
            raise InputError(
                f"top_k_agreement: k is {', '.join(LISTS)} or a number, several joined by +; got {each!r}."
            )
    if sum(each.isdecimal() for each in listed) > 1:
        raise InputError(f"top_k_agreement takes one number for k at a time, got {k!r}.")
    return listed


@limits(
    k=ParsedBy(_lists),
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
    """Top-k Kendall (Fagin et al. 2003) and overlap of attention with every measure (B,R), for several k at once.

    average: the mean length of the texts; all: every word, plain tau-b; non_zero: the fewest non-zeros of the two, which is all of them
    under softmax; or a number, `fixed`. Floor: random scores. Ceiling: the witnesses with each other. fidelity=code: as released by
    Neely & Schouten, where disjoint lists score up to +1: look at its floor before its values. of: as in agreement.
    """
    wanted = {f"{each}": _k_of(each, record, mean_length) for each in _lists(k)}
    values: Values = {}
    for each, count in wanted.items():
        name_of_k = "fixed" if each.isdigit() else each
        for first, second, told in compared(scores, of):
            # Of the witnesses too as many as attention has: a ceiling is over lists of the same length.
            least = (scores[of], scores[first], scores[second])
            chosen = count if count is not None else _fewest(record, *least)
            # k of each row and example, passed along as a third score.
            compare: dict[str, Callable[..., Tensor]] = {
                "tau": partial(_tau, fidelity=fidelity),
                "overlap": _overlap,
            }
            for metric, function in compare.items():
                values[told, f"{metric}_{name_of_k}"] = by_row(
                    record, function, scores[first], scores[second], chosen
                )
        for metric in ("tau", "overlap"):
            each_metric = f"{metric}_{name_of_k}"
            values[BETWEEN, each_metric] = between(values, scores, each_metric, record)
    return values


def _k_of(each: str, record: Record, mean_length: int | None) -> Tensor | None:
    """(B,R,N), the same for all items of a row; None where it depends on the scores."""
    if each == "non_zero":
        return None
    if each == "all":
        count = (
            (record.content[:, None] & record.mask).sum(-1).clamp_min(1)
        )  # of nothing: NaN all the same
    elif each == "average":
        if mean_length is None:
            raise InputError(
                "k=average needs mean_length, which audit() works out over all the data."
            )
        count = torch.full(record.mask.shape[:2], max(mean_length, 1), device=record.mask.device)
    else:
        count = torch.full(record.mask.shape[:2], int(each), device=record.mask.device)
    return count[..., None].expand_as(record.mask)


def _fewest(record: Record, *scores: Tensor) -> Tensor:
    """Non-zeros of whichever has fewest, at least 1."""
    real = record.content[:, None] & record.mask

    def count(score: Tensor) -> Tensor:
        rows = score if score.dim() == 3 else score[:, None]
        return ((rows != 0) & real).sum(-1)

    least = count(scores[0])
    for each in scores[1:]:
        least = torch.minimum(least, count(each))
    return least.clamp_min(1)[..., None].expand_as(record.mask)


def _tau(x: Tensor, y: Tensor, k: Tensor, mask: Tensor, *, fidelity: str) -> Tensor:
    return statistics.top_k_kendall(x, y, k[:, 0], mask, fidelity=fidelity)


def _overlap(x: Tensor, y: Tensor, k: Tensor, mask: Tensor) -> Tensor:
    return statistics.overlap_at_k(x, y, k[:, 0], mask)
