"""Do the two top words back each other up, so that leaving out one of them shows nothing?"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.counterfactual import flipped
from attnaudit.audits.declaration import DIFFERENCE, Declaration, Metric, Values, declares
from attnaudit.audits.deletions import (
    log_odds_without_each,
    ranks,
    read_without,
    rounding_of,
    whole_log_odds,
    words_of,
)
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.errors import NotApplicable
from attnaudit.core.item_deletion import leave_out
from attnaudit.measures.log_odds import log_odds_of

SUM_OF_TWO = (-2.0, 2.0)


@declares(
    Declaration(
        question="Do the two most attended words back each other up?",
        metrics={
            "joint": Metric("drop of p(ŷ) without both top words", 0.0, 1.0, DIFFERENCE),
            "single_sum": Metric("drops of p(ŷ) without one of them, summed", 0.0, 1.0, SUM_OF_TWO),
            "single_max": Metric(
                "the larger drop of p(ŷ) without one of them", 0.0, 1.0, DIFFERENCE
            ),
            "backup": Metric(
                "joint minus single_sum; above 0, each stands in for the other",
                0.0,
                1.0,
                SUM_OF_TWO,
            ),
            "backup_log_odds": Metric("the same in log-odds", 0.0, "joint_log_odds"),
            "joint_log_odds": Metric("joint in log-odds", 0.0, "joint_log_odds"),
            "hidden_flip": Metric(
                "without both the decision flips, without either one it does not", 0.0, 1.0
            ),
            "backup_renormalised": Metric(
                "backup of their weights, the other weights renormalised", 0.0, 1.0, SUM_OF_TWO
            ),
            "backup_zeroed": Metric(
                "backup of their weights, the other weights as they are", 0.0, 1.0, SUM_OF_TWO
            ),
        },
        detects=("shifted",),
        blind={
            "inert": "the words are the right ones, although attention cannot change the prediction"
        },
    )
)
def redundancy(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    of: str = "attention",
) -> Values:
    """Delete the two top words together and one by one; one pass besides `leave_one_out`.

    The same is done with their attention weights, in all rows at once.

    Parameters
    ----------
    of : str, default "attention"
        The measure whose two top words are deleted, by the mean over rows. Ties are broken at
        random.

    Returns
    -------
    dict of Tensor (B,)
        `joint`, `single_sum` and `single_max`, drops of p(ŷ); `backup` = joint - single_sum;
        `joint_log_odds` and `backup_log_odds`, the same in log-odds; `hidden_flip`; and `backup` of
        the weights, `backup_renormalised` and `backup_zeroed`. NaN where nothing would be left of
        the text or of the attention; `backup_zeroed` also where `decode` takes no attention that
        sums to less than 1.
    """
    if of not in scores:
        raise NotApplicable(f"the measure {of!r}, whose top words are deleted, was not computed")
    rank, unknown = ranks(record, scores[of], seed)
    words = words_of(record)
    undefined = unknown | (words.sum(-1) < 2)
    top = rank.argsort(-1)[:, :2] if rank.shape[1] > 1 else torch.zeros_like(rank).repeat(1, 2)
    both = words & (rank < 2)
    whole = whole_log_odds(record)
    read = read_without(model, record, torch.arange(len(rank), device=rank.device), both)
    odds = torch.cat(
        [log_odds_without_each(model, record).gather(1, top), read.log_odds[:, None]], 1
    )
    drop = whole.sigmoid()[:, None] - odds.sigmoid()  # of the first, the second, both
    logits = leave_out(model, record)
    single = logits.gather(1, top[..., None].expand(-1, -1, logits.shape[2]))
    hidden = read.flipped & ~flipped(single, record).any(-1)
    values: Values = {
        ("", "joint"): drop[:, 2],
        ("", "single_sum"): drop[:, :2].sum(-1),
        ("", "single_max"): drop[:, :2].amax(-1),
        ("", "backup"): _backup(drop),
        ("", "joint_log_odds"): whole - odds[:, 2],
        ("", "backup_log_odds"): _backup(whole[:, None] - odds),
        ("", "hidden_flip"): torch.where(drop.isnan().any(-1), torch.nan, hidden.double()),
        ("", "backup_renormalised"): _backup(_drops(record, _renormalised(model, record, rank))),
        ("", "backup_zeroed"): _zeroed(model, record, rank),
    }
    return {key: value.masked_fill(undefined, torch.nan) for key, value in values.items()}


def _backup(drops: Tensor) -> Tensor:
    """Of drops (B,3) by the first, the second and both: both minus the sum of the two."""
    return drops[:, 2] - drops[:, :2].sum(-1)


def _removed(record: Record, rank: Tensor) -> Tensor:
    """The first, the second and both top words (B,3,1,N), for all rows."""
    return torch.stack([rank == 0, rank == 1, rank < 2], 1)[:, :, None] & record.mask[:, None]


def _drops(record: Record, logits: Tensor) -> Tensor:
    """Drops of p(ŷ) (B,K) under logits (B,K,C); NaN for NaN."""
    odds = log_odds_of(logits.double(), record.predicted, record.batch.classes)
    odds = odds.masked_fill(logits.isnan().any(-1), torch.nan)
    return whole_log_odds(record).sigmoid()[:, None] - odds.sigmoid()


def _renormalised(model: AttentionModel, record: Record, rank: Tensor) -> Tensor:
    """Logits (B,3,C) with the weights removed and the others renormalised, row by row."""
    kept = record.mask[:, None] & ~_removed(record, rank)
    alpha = record.alpha[:, None].expand(-1, 3, -1, -1)
    # A row with nothing to attend to stays as it is.
    attends = record.mask.any(-1, keepdim=True)[:, None]
    return logits_under(
        model, record, torch.where(attends, masking.renormalise(alpha, kept), alpha)
    )


def _zeroed(model: AttentionModel, record: Record, rank: Tensor) -> Tensor:
    """Backup (B,) with the weights set to 0 and the others left as they are.

    A readout holds only for attention that sums to 1, so this needs `decode`. NaN if half of all
    weights gives the same logits as all of them: then decode renormalises.
    """
    zeroed = masking.fill(record.alpha[:, None].expand(-1, 3, -1, -1), ~_removed(record, rank))
    try:
        logits = model.decode(record, torch.cat([zeroed, record.alpha[:, None] / 2], 1))
    except NotApplicable:
        return torch.full((len(rank),), torch.nan, dtype=torch.float64, device=rank.device)
    halved = log_odds_of(logits[:, 3].double(), record.predicted, record.batch.classes)
    same = (halved - whole_log_odds(record)).abs() <= rounding_of(record)
    return _backup(_drops(record, logits[:, :3])).masked_fill(same, torch.nan)
