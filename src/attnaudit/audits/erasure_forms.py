"""Does it matter how words are erased: deleted, replaced, or emptied?"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.counterfactual import flipped
from attnaudit.audits.declaration import DIFFERENCE, Declaration, Metric, Values, declares
from attnaudit.audits.deletions import ranks, share_of, whole_log_odds, words_of
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.option_limits import Number, limits
from attnaudit.core.prediction import logits_of
from attnaudit.measures.log_odds import log_odds_of

FORMS = ("delete", "replace", "zero")


@limits(share=Number(above=0, below=100))
@declares(
    Declaration(
        question="Does it matter how words are erased: deleted, replaced, or emptied?",
        metrics={
            "drop_delete": Metric(
                "drop of p(ŷ) with the top words deleted and the gaps closed", 0.0, 1.0, DIFFERENCE
            ),
            "drop_replace": Metric(
                "drop of p(ŷ) with a mask or unknown token in their place", 0.0, 1.0, DIFFERENCE
            ),
            "drop_zero": Metric(
                "drop of p(ŷ) with their embeddings set to 0", 0.0, 1.0, DIFFERENCE
            ),
            "disagreement": Metric("the largest of these drops minus the smallest", 0.0, 1.0),
            "flip_disagreement": Metric(
                "one form of erasure flips the decision and another does not", 0.0, 1.0
            ),
        },
        detects=("shifted",),
        blind={
            "inert": "the words are the right ones, although attention cannot change the prediction"
        },
    )
)
def erasure_forms(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    share: float = 20.0,
    token: int | None = None,
    of: str = "attention",
) -> Values:
    """Erase the top words in three ways and compare what the model makes of it: three passes.

    Parameters
    ----------
    share : float, default 20
        Share of the words that is erased, in per cent: ⌈share·N⌉ of N words, less than N.
    token : int, optional
        Id of the token put in for replace; by default the model's `replacement_token`.
    of : str, default "attention"
        The measure whose top words are erased, by the mean over rows. Ties are broken at random.

    Returns
    -------
    dict of Tensor (B,)
        `drop_delete`, `drop_replace`, `drop_zero`: p(ŷ) minus p(ŷ) after it; `disagreement`, the
        largest minus the smallest of those known; `flip_disagreement`. NaN with fewer than two
        words; `drop_replace` also without a token, `drop_zero` if the model reads no embeddings.
    """
    if of not in scores:
        raise NotApplicable(f"the measure {of!r}, whose top words are erased, was not computed")
    rank, unknown = ranks(record, scores[of], seed)
    words = words_of(record)
    count = words.sum(-1)
    top = words & (rank < torch.minimum(share_of(share, count), count - 1)[:, None])
    item = record.item_of_token
    erased = top.gather(1, item.clamp_min(0)) & (item >= 0)
    token = getattr(model, "replacement_token", None) if token is None else token
    undefined = unknown | (count < 2)
    drops, flips = [], []
    for form in FORMS:
        logits = _logits(model, record, erased, form, token)
        odds = log_odds_of(logits.double(), record.predicted, record.batch.classes)
        unread = undefined | logits.isnan().any(-1)
        drop = whole_log_odds(record).sigmoid() - odds.sigmoid()
        drops.append(drop.masked_fill(unread, torch.nan))
        flip = flipped(logits[:, None], record)[:, 0].double()
        flips.append(flip.masked_fill(unread, torch.nan))
    values: Values = {("", f"drop_{form}"): drop for form, drop in zip(FORMS, drops, strict=True)}
    values["", "disagreement"] = _range(torch.stack(drops))
    values["", "flip_disagreement"] = _range(torch.stack(flips))
    return values


def _logits(
    model: AttentionModel, record: Record, erased: Tensor, form: str, token: int | None
) -> Tensor:
    """The logits (B,C) with the tokens in erased (B,T) erased; NaN if the form is not available."""
    if form == "delete":
        # Also for batches that leave out words in another way.
        return logits_of(model, Batch.without(record.batch, erased))
    if form == "replace" and token is not None:
        return logits_of(model, record.batch.replaced(erased, token))
    if form == "zero":
        try:
            emptied = record.embeddings.masked_fill(erased[..., None], 0.0)
            return model.read(record.batch, emptied).logits
        except NotApplicable:
            pass
    return torch.full_like(record.logits, torch.nan)


def _range(values: Tensor) -> Tensor:
    """The largest minus the smallest of the known values (F,B); NaN with fewer than two."""
    known = ~values.isnan()
    most = values.masked_fill(~known, -torch.inf).amax(0)
    least = values.masked_fill(~known, torch.inf).amin(0)
    return (most - least).masked_fill(known.sum(0) < 2, torch.nan)
