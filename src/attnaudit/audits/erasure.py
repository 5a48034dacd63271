"""Are the most important words necessary, and are they sufficient? (DeYoung et al. 2020)

The curves over shares of words follow Samek et al. (2016).
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import torch
from torch import Tensor

from attnaudit.audits.declaration import DIFFERENCE, Declaration, Metric, Values, declares
from attnaudit.audits.deletions import share_of
from attnaudit.audits.per_row import mean_score_over_rows
from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.memory_budget import texts_at_once
from attnaudit.core.option_limits import ParsedBy, limits

SHARES = "1+5+10+20+50"
RANKINGS = "attention+gradient+leave_one_out+random"


def _per_share(name: str, meaning: str) -> dict[str, Metric]:
    return {
        f"{name}_{share}": Metric(
            f"{meaning}, {share} % of the words",
            f"{name}_{share}@random",
            f"{name}_{share}@leave_one_out",
            DIFFERENCE,
        )
        for share in SHARES.split("+")
    }


def _split(shares: str) -> list[str]:
    """The shares in per cent, as written."""
    names = str(shares).split("+")
    for share in names:
        try:
            within = 0 < Decimal(share) <= 100
        except InvalidOperation:
            within = False
        if not within:
            raise InputError(
                f"erasure: shares are per cent above 0 and at most 100, joined by +; got {share!r}."
            )
    return names


def _form(form: str, token: int | None = None) -> None:
    if form not in ("delete", "replace"):
        raise _wrong_form(form, token)


def _wrong_form(form: str, token: int | None) -> InputError:
    return InputError(
        "erasure: form is delete, or replace with token=NUMBER of the word put in; "
        f"got form={form}, token={token}."
    )


@limits(shares=ParsedBy(_split), form=ParsedBy(_form))
@declares(
    Declaration(
        question="Are the most important words necessary, and are they sufficient?",
        metrics={
            "comprehensiveness": Metric(
                "drop of the predicted probability without the top words, mean over shares (AOPC)",
                "comprehensiveness@random",
                "comprehensiveness@leave_one_out",
                DIFFERENCE,
            ),
            "sufficiency": Metric(
                "drop of the predicted probability with the top words only, mean over shares; "
                "lower is better",
                "sufficiency@random",
                "sufficiency@leave_one_out",
                DIFFERENCE,
            ),
            **_per_share("comprehensiveness", "drop without the top words"),
            **_per_share("sufficiency", "drop with the top words only; lower is better"),
        },
        detects=("shifted",),
        blind={
            "inert": "the words are the right ones, although attention cannot change the prediction"
        },
    )
)
def erasure(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    rankings: str = RANKINGS,
    shares: str = SHARES,
    form: str = "delete",
    token: int | None = None,
) -> Values:
    """Comprehensiveness and sufficiency: erase the top words, or all others, and read again.

    The top words are the first ⌈share·N⌉ of the ranking, ties in random order.

    Parameters
    ----------
    rankings : str
        Measures whose rankings are tested, joined by +; those not computed are skipped.
    shares : str
        Shares of the words in per cent, joined by +.
    form : {"delete", "replace"}
        delete: remove the words and close the gap. replace: put `token` in their place.
    token : int, optional
        Id of the word to put in with form=replace, such as <unk> or a mask token.

    Returns
    -------
    dict of Tensor (B,)
        `comprehensiveness`, p(ŷ) minus p(ŷ) without the top words, and `sufficiency`, p(ŷ) minus
        p(ŷ) with the top words only: per share and as the mean over shares. NaN where nothing would
        be left of the text.
    """
    listed = _split(shares)
    if (form == "replace") != (token is not None):
        raise _wrong_form(form, token)
    names = [name for name in str(rankings).split("+") if name in scores]
    if not names:
        raise NotApplicable(f"none of the rankings {rankings} was computed")
    values: Values = {}
    for name in names:
        # Words are erased for all rows at once, so they are ranked by the mean over rows.
        score = mean_score_over_rows(scores[name])
        drops = _drops(model, record, score, seed, listed, token)
        values |= {(name, metric): drop for metric, drop in drops.items()}
    return values


def _drops(
    model: AttentionModel,
    record: Record,
    score: Tensor,
    seed: int,
    shares: list[str],
    token: int | None,
) -> dict[str, Tensor]:
    real = record.content & record.mask.any(1)
    keys = randomness.keys(seed, "erasure", record.batch.example_id)
    tie_break = randomness.uniform(keys, score.shape[1]).to(score.device)
    order = masking.descending(score.nan_to_num(-torch.inf), real, tie_break)
    rank = order.argsort(-1)  # (B,N) of each item, from 0
    count = real.sum(-1)
    drops: dict[str, Tensor] = {}
    for share in shares:
        top = real & (rank < share_of(share, count)[:, None])
        drops[f"comprehensiveness_{share}"] = _drop(model, record, top, token)
        drops[f"sufficiency_{share}"] = _drop(model, record, real & ~top, token)
    for name in ("comprehensiveness", "sufficiency"):
        drops[name] = torch.stack([drops[f"{name}_{share}"] for share in shares]).nanmean(0)
    unknown = (score.isnan() & real).any(-1)
    return {name: drop.masked_fill(unknown, torch.nan) for name, drop in drops.items()}


def _drop(model: AttentionModel, record: Record, items: Tensor, token: int | None) -> Tensor:
    """p(ŷ) minus p(ŷ) without the items (B,N): (B,)."""
    in_item = record.item_of_token >= 0
    erased = items.gather(1, record.item_of_token.clamp_min(0)) & in_item
    nothing_left = ~(record.content & ~items).any(-1)
    parts = torch.arange(len(record.batch)).split(texts_at_once(record.batch.tokens.shape[1]))
    predicted = record.predicted[:, None]
    left = torch.cat([_probs(model, record.batch, part, erased, token) for part in parts])
    drop = (record.probs.double() - left.double()).gather(1, predicted)[:, 0]
    return drop if token is not None else drop.masked_fill(nothing_left, torch.nan)


def _probs(
    model: AttentionModel, batch: Batch, rows: Tensor, erased: Tensor, token: int | None
) -> Tensor:
    part, erased = batch.rows(rows), erased[rows]
    return model.read(part.without(erased) if token is None else part.replaced(erased, token)).probs
