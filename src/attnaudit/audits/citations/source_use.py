"""Did the answer come from the sources, and from the one that is cited?"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnaudit.audits.declaration import (
    NO_CEILING,
    SHARE,
    Declaration,
    Metric,
    Values,
    declares,
)
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import Number, limits
from attnaudit.measures.citations.answer_values import (
    closed_book,
    drop_without_each,
    kept_log_prob,
    log_prob,
    single_sources,
)

DOUBLED = math.log(2)  # the least gain: the sources double the probability of the answer's tokens
_ALONE = 0.25  # of the gain, that some source has to bring by itself to say which was used


@declares(
    Declaration(
        question="Did the answer come from the sources, and from the one that is cited?",
        metrics={
            "gain": Metric("rise of the log-probability by the sources", 0.0, NO_CEILING),
            "from_sources": Metric(
                "the sources at least double the probability per token", 0.0, 1.0
            ),
            "open_book": Metric(
                "probability per token with the sources", "closed_book", 1.0, SHARE
            ),
            "closed_book": Metric("probability per token without any source", 0.0, 1.0),
            "known_without": Metric("the sources are not needed", 0.0, 1.0),
            "only_together": Metric(
                "sources were used, but none brings a quarter of what all bring together", 0.0, 1.0
            ),
            "used_cited": Metric("the cited source was used", 0.0, "from_sources", SHARE),
            "used_other": Metric("another source was used", 0.0, "from_sources", SHARE),
            "cited_used": Metric(
                "the cited source was used, of the answers that come from sources; floor: any "
                "source",
                "chance",
                1.0,
                SHARE,
            ),
            "chance": Metric("share of the sources that were used", 0.0, 1.0),
        },
    )
)
@limits(least_gain=Number(least=0), least_share=Number(above=0, most=1))
def source_use(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    least_gain: float = DOUBLED,
    least_share: float = 0.5,
) -> Values:
    """Compare the answer with all sources, without each, with each alone, and with none.

    What a source contributes is the larger of what its removal loses and what it brings alone, so
    that two sources that say the same both count. The cited source is the one with the largest
    score; ties share the credit. If no source brings a quarter of what all bring together, several
    were used that cannot be told apart this way: which one was used is then undefined.

    Parameters
    ----------
    least_gain : float, default ln 2
        Of the log-probability per token, for an answer to come from the sources.
    least_share : float, default 0.5
        Of the largest contribution, for a source to have been used.

    Returns
    -------
    dict of Tensor (B,)
        The four outcomes known_without, only_together, used_cited and used_other sum to 1 for each
        measure; the last two are NaN for an answer whose sources are used only together.
    """
    full, closed = log_prob(record.logits), closed_book(model, record)
    gain = full - closed
    contributed = contributions(model, record)
    from_sources = (gain >= least_gain).double()
    values: Values = {
        ("", "gain"): gain,
        ("", "from_sources"): from_sources,
        ("", "open_book"): full.exp(),
        ("", "closed_book"): closed.exp(),
        ("", "known_without"): 1 - from_sources,
    }
    best = contributed.nan_to_num(-torch.inf).amax(-1, keepdim=True)
    together = (best[:, 0] < _ALONE * gain) & (from_sources == 1)
    values["", "only_together"] = together.double()
    used = (contributed >= least_share * best) & (best > 0)
    unknown = (from_sources == 0) | together
    share = (used & record.content).sum(-1) / record.length.double()
    values["", "chance"] = share.masked_fill(unknown, torch.nan)
    for name, score in scores.items():
        cited = share_of_top(score, record, used.double()).masked_fill(together, torch.nan)
        values[name, "used_cited"] = cited * from_sources
        values[name, "used_other"] = (1 - cited) * from_sources
        values[name, "cited_used"] = cited.masked_fill(unknown, torch.nan)
    return values


def contributions(model: AttentionModel, record: Record) -> Tensor:
    """What each source contributes (B,N), in log-probability per token; NaN for other items."""
    alone = (
        kept_log_prob(model, record, single_sources(record)) - closed_book(model, record)[:, None]
    )
    return torch.maximum(drop_without_each(model, record), alone).masked_fill(
        ~record.content, torch.nan
    )


def share_of_top(score: Tensor, record: Record, values: Tensor) -> Tensor:
    """The mean of values (B,N) over the sources with the largest score (B,).

    NaN where a score is undefined.
    """
    known = score.double().masked_fill(~record.content, -torch.inf)
    unknown = (known.isnan() & record.content).any(-1)
    top = (known == known.amax(-1, keepdim=True)) & record.content
    mean = (values.nan_to_num(0.0) * top).sum(-1) / top.sum(-1)
    return mean.masked_fill(unknown, torch.nan)
