"""Does the prediction fall without the most important words, and stand with them alone? (DeYoung et al. 2020; Samek et al. 2016)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.declaration import DIFFERENCE, Declaration, Metric, Values, declares
from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.option_limits import ParsedBy, limits

SHARES = "1+5+10+20+50"
RANKINGS = "attention+gradient+leave_one_out+random"
_TOKENS_AT_ONCE = 2**15
_LISTED = tuple(SHARES.split("+"))


def _each(name: str, meaning: str) -> dict[str, Metric]:
    return {
        f"{name}_{share}": Metric(
            f"{meaning}, {share} % of the words",
            f"{name}_{share}@random",
            f"{name}_{share}@leave_one_out",
            DIFFERENCE,
        )
        for share in _LISTED
    }


def _fractions(shares: str) -> dict[str, float]:
    found = {}
    for each in str(shares).split("+"):
        try:
            found[each] = float(each) / 100
        except ValueError:
            found[each] = -1.0
        if not 0 < found[each] <= 1:
            raise InputError(
                f"erasure: shares are per cent above 0 and at most 100, joined by +; got {each!r}."
            )
    return found


def _form(form: str, token: int | None = None) -> None:
    if form not in ("delete", "replace"):
        raise _wrong_form(form, token)


def _wrong_form(form: str, token: int | None) -> InputError:
    return InputError(
        f"erasure: form is delete, or replace with token=NUMBER of the word put in; got form={form}, token={token}."
    )


@limits(shares=ParsedBy(_fractions), form=ParsedBy(_form))
@declares(
    Declaration(
        question="Does the prediction fall without the most important words, and stand with them alone?",
        metrics={
            "comprehensiveness": Metric(
                "fall of the predicted probability without the top words, mean over the shares (AOPC)",
                "comprehensiveness@random",
                "comprehensiveness@leave_one_out",
                DIFFERENCE,
            ),
            "sufficiency": Metric(
                "fall of the predicted probability with the top words alone, mean over the shares; less is better",
                "sufficiency@random",
                "sufficiency@leave_one_out",
                DIFFERENCE,
            ),
            **_each("comprehensiveness", "fall without the top words"),
            **_each("sufficiency", "fall with the top words alone; less is better"),
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
    """p(ŷ) with all words minus p(ŷ) without the top share (comprehensiveness) or with it alone (sufficiency): (B,).

    The top share is ⌈share·N⌉ words, ties in random order; the text is read again, attention computed anew. form: `delete` takes the
    words out and closes the gap; `replace` puts `token` (of <unk>, or a mask token) in their place. NaN where nothing would be left.
    """
    fractions = _fractions(shares)
    if (form == "replace") != (token is not None):
        raise _wrong_form(form, token)
    names = [name for name in str(rankings).split("+") if name in scores]
    if not names:
        raise NotApplicable(f"none of the rankings {rankings} was computed")
    values: Values = {}
    for name in names:
        # Words are erased for all rows at once, so the rows' mean ranks them.
        score = scores[name] if scores[name].dim() == 2 else scores[name].mean(1)
        falls = _falls(model, record, score, seed, fractions, token)
        values |= {(name, metric): fall for metric, fall in falls.items()}
    return values


def _falls(
    model: AttentionModel,
    record: Record,
    score: Tensor,
    seed: int,
    fractions: dict[str, float],
    token: int | None,
) -> dict[str, Tensor]:
    real = record.content & record.mask.any(1)
    keys = randomness.keys(seed, "erasure", record.batch.example_id)
    tie_break = randomness.uniform(keys, score.shape[1]).to(score.device)
    order = masking.descending(score.nan_to_num(-torch.inf), real, tie_break)
    place = order.argsort(-1)  # (B,N) of each item in the ranking
    count = real.sum(-1)
    falls: dict[str, Tensor] = {}
    for share, fraction in fractions.items():
        top = real & (place < (fraction * count.double()).ceil().long()[:, None])
        falls[f"comprehensiveness_{share}"] = _fall(model, record, top, token)
        falls[f"sufficiency_{share}"] = _fall(model, record, real & ~top, token)
    for name in ("comprehensiveness", "sufficiency"):
        falls[name] = torch.stack([falls[f"{name}_{share}"] for share in fractions]).nanmean(0)
    unknown = (score.isnan() & real).any(-1)
    return {name: fall.masked_fill(unknown, torch.nan) for name, fall in falls.items()}


def _fall(model: AttentionModel, record: Record, items: Tensor, token: int | None) -> Tensor:
    """(B,) p(ŷ) minus what is left of it without the items (B,N)."""
    inside = record.item_of_token >= 0
    gone = items.gather(1, record.item_of_token.clamp_min(0)) & inside
    nothing_left = ~(record.content & ~items).any(-1)
    parts = torch.arange(len(record.batch)).split(
        max(1, _TOKENS_AT_ONCE // record.batch.tokens.shape[1])
    )
    predicted = record.predicted[:, None]
    left = torch.cat([_probs(model, record.batch, part, gone, token) for part in parts])
    fall = (record.probs.double() - left.double()).gather(1, predicted)[:, 0]
    return fall if token is not None else fall.masked_fill(nothing_left, torch.nan)


def _probs(
    model: AttentionModel, batch: Batch, rows: Tensor, gone: Tensor, token: int | None
) -> Tensor:
    part, gone = batch.rows(rows), gone[rows]
    return model.read(part.without(gone) if token is None else part.replaced(gone, token)).probs
