"""How much the prediction changes under alternative attention: what two audits share."""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.counterfactual import flipped, words_of
from attnaudit.audits.declaration import NO_CEILING, NOT_NEGATIVE, SHARE, Metric, Values
from attnaudit.core import masking
from attnaudit.core.contract import Record
from attnaudit.core.sorting import sort_in_place
from attnaudit.measures.log_odds import log_odds


def change_metrics(over: str) -> dict[str, Metric]:
    """The metrics of `changes` and `reach`; `over` names the alternatives, such as shuffles."""
    odds = "change of the log-odds of the predicted class, without sign,"
    return {
        "tvd_median": Metric(
            f"median change of the prediction over the {over}", 0.0, "tvd_reach", SHARE
        ),
        "tvd_mean": Metric(
            f"mean change of the prediction over the {over}", 0.0, "tvd_reach", SHARE
        ),
        "tvd_mean_error": Metric(
            f"standard error of tvd_mean from drawing the {over}", 0.0, NO_CEILING, NOT_NEGATIVE
        ),
        "tvd_reach": Metric(
            "the largest change any attention to the words could cause (1 with more than two "
            "classes)",
            0.0,
            1.0,
        ),
        "log_odds_median": Metric(f"median {odds} over the {over}", 0.0, NO_CEILING, NOT_NEGATIVE),
        "log_odds_mean": Metric(f"mean {odds} over the {over}", 0.0, NO_CEILING, NOT_NEGATIVE),
        "flipped": Metric(f"share of {over} that change the decision", 0.0, 1.0),
    }


def changes(
    logits: Tensor, record: Record, decoded: Tensor | None = None, complete: Tensor | None = None
) -> Values:
    """Change of the prediction over K alternatives (B,), from their logits (B,K,C).

    NaN for a text without words, whose attention cannot be changed.

    Parameters
    ----------
    decoded : Tensor, (B,K) bool, optional
        The alternatives that belong to each example, if not all do.
    complete : Tensor, (B,) bool, optional
        The examples whose alternatives are all there are, so that nothing was left to chance.
    """
    if decoded is None:
        decoded = torch.ones_like(logits[..., 0], dtype=torch.bool)
    if complete is None:
        complete = torch.zeros_like(decoded[:, 0])
    candidates = record.batch.classes
    logits = logits.mT.contiguous().mT  # classes apart in memory, see many_probabilities
    tvd = _change(logits, record)
    before = log_odds(record.logits.double()[:, None], record)
    odds = (log_odds(logits.double(), record) - before).abs()
    if logits.shape[-1] < 2 or candidates is not None:  # a single candidate has no odds
        several = logits.shape[-1] > 1 if candidates is None else candidates.sum(-1) > 1
        odds = odds.where(torch.as_tensor(several, device=odds.device).view(-1, 1), torch.nan)
    count, mean = decoded.sum(-1), masking.mean(tvd, decoded)
    squares = masking.total((tvd - mean[:, None]).square(), decoded)
    error = (squares / (count - 1) / count).sqrt()  # NaN with one draw
    has_words = words_of(record).any(-1).any(-1)
    values = {
        "tvd_median": _median(tvd, decoded),
        "tvd_mean": mean,
        "tvd_mean_error": error.masked_fill(complete, 0.0),
        "log_odds_median": _median(odds, decoded),
        "log_odds_mean": masking.mean(odds, decoded),
        "flipped": masking.mean(flipped(logits, record).double(), decoded),
    }
    return {("", name): value.where(has_words, torch.nan) for name, value in values.items()}


def reach(record: Record) -> Tensor:
    """The largest TVD any attention to the words could cause (B,); NaN without a readout.

    With two classes, that of all the words' weight on one of them, marks held. With more, a mixture
    of words can cause more than any one of them: 1. NaN for a text without words.
    """
    unknown = torch.full_like(record.logits[:, 0], torch.nan)
    if record.readout is None:
        return unknown
    words = words_of(record)[:, 0]
    if record.logits.shape[1] > 2:
        return torch.ones_like(unknown).where(words.any(-1), unknown)
    on_marks = masking.fill(record.alpha[:, 0], record.mask[:, 0] & ~words).to(record.readout.dtype)
    marks = on_marks[:, None] @ record.readout
    of_words = (1 - on_marks.sum(-1))[:, None, None] * record.readout
    change = _change(marks + of_words, record)
    return masking.fill(change, words, -1.0).amax(-1).where(words.any(-1), torch.nan)


def _change(logits: Tensor, record: Record) -> Tensor:
    """The TVD (B,K) of the predictions with logits (B,K,C) from that of the record."""
    # As many copies of the record's: the last bit may depend on the place in a vector of numbers.
    before, after = (
        masking.many_probabilities(of, record.batch.classes)
        for of in (record.logits[:, None].expand_as(logits), logits)
    )
    return statistics.tvd(after, before)


def _median(values: Tensor, mask: Tensor) -> Tensor:
    """The median (B,) of values (B,K) within mask: the mean of the two middle ones.

    NaN if the mask is empty, or if a value within it is NaN.
    """
    count = mask.sum(-1, keepdim=True)
    ordered = sort_in_place(masking.fill(values.detach(), mask, torch.inf))
    middle = [ordered.gather(-1, place.clamp_min(0)) for place in ((count - 1) // 2, count // 2)]
    unknown = (values.isnan() & mask).any(-1) | (count[:, 0] == 0)
    return ((middle[0] + middle[1]) / 2)[:, 0].masked_fill(unknown, torch.nan)
