"""Are the most important words necessary, and are they sufficient? (DeYoung et al. 2020)

The curves over shares of words follow Samek et al. (2016).
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import torch
from torch import Tensor

from attnaudit.audits.declaration import DIFFERENCE, Declaration, Metric, Values, declares
from attnaudit.audits.deletions import read_without, share_of, whole_log_odds
from attnaudit.audits.per_row import mean_score_over_rows
from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.option_limits import ParsedBy, limits

SHARES = "1+5+10+20+50"
METRICS = ("comprehensiveness", "sufficiency")
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
        shortens_texts=True,
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
    # Words are erased for all rows at once, so they are ranked by the mean over rows.
    ranked = {name: mean_score_over_rows(scores[name]) for name in names}
    real = record.content & record.mask.any(1)
    tops = {name: _top_words(record, score, real, seed, listed) for name, score in ranked.items()}
    # All in one call, which reads equal texts once.
    erased = torch.stack([part for top in tops.values() for part in (top, real & ~top)])
    drops = _drops(model, record, erased.flatten(0, 1), token).view(len(names), 2, len(listed), -1)
    values: Values = {}
    for name, of_ranking in zip(names, drops, strict=True):
        unknown = (ranked[name].isnan() & real).any(-1)
        of_ranking = of_ranking.masked_fill(unknown, torch.nan)
        for index, share in enumerate(listed):
            for metric, of_shares in zip(METRICS, of_ranking, strict=True):
                values[name, f"{metric}_{share}"] = of_shares[index]
        for metric, of_shares in zip(METRICS, of_ranking, strict=True):
            values[name, metric] = of_shares.nanmean(0)
    return values


def _top_words(record: Record, score: Tensor, real: Tensor, seed: int, shares: list[str]) -> Tensor:
    """The top words (S,B,N) by score (B,N), for each of S shares of the words real (B,N)."""
    keys = randomness.keys(seed, "erasure", record.batch.example_id)
    tie_break = randomness.uniform(keys, score.shape[1]).to(score.device)
    order = masking.descending(score.nan_to_num(-torch.inf), real, tie_break)
    rank = order.argsort(-1)  # (B,N) of each item, from 0
    count = real.sum(-1)
    return torch.stack([real & (rank < share_of(share, count)[:, None]) for share in shares])


def _drops(model: AttentionModel, record: Record, items: Tensor, token: int | None) -> Tensor:
    """p(ŷ) minus p(ŷ) without each of K sets of items (K,B,N): (K,B)."""
    rows = torch.arange(items.shape[1], device=items.device).repeat(len(items))
    read = read_without(model, record, rows, items.flatten(0, 1), token=token)
    return whole_log_odds(record).sigmoid() - read.log_odds.view(items.shape[:2]).sigmoid()
