"""How different could attention be with the same prediction? (Jain & Wallace 2019, algorithm 3)"""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from attnaudit import exact, statistics
from attnaudit.audits import gradient_search
from attnaudit.audits.declaration import DIVERGENCE, Declaration, Metric, Values, declares
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.option_limits import Fidelity, Number, limits
from attnaudit.exact.jsd import one_hot_jsd

FIDELITY = Fidelity("the audit furthest", ("corrected", "code", "paper"))
Answer = tuple[Tensor, Tensor, Tensor, Tensor]  # alpha, jsd, upper, exact
# Answers are kept as long as their record: the audit and the example store both need them.
_ANSWERS: WeakKeyDictionary[Record, dict[tuple[object, ...], Answer]] = WeakKeyDictionary()


@limits(
    epsilon=Number(least=0, most=1),
    fidelity=FIDELITY,
)
@declares(
    Declaration(
        question="How different could attention be with the same prediction?",
        metrics={
            "jsd": Metric(
                "JSD of the furthest attention with the same prediction, in nats",
                0.0,
                "jsd_any",
                DIVERGENCE,
            ),
            "upper": Metric(
                "upper bound: no attention with the same prediction is further",
                0.0,
                "jsd_any",
                DIVERGENCE,
            ),
            "jsd_share": Metric("jsd as a share of the furthest any attention could be", 0.0, 1.0),
            "upper_share": Metric("upper as a share of the same", 0.0, 1.0),
            "exact": Metric("jsd equals upper: this is the true maximum", 0.0, 1.0),
            "found": Metric("another attention with the same prediction was found", 0.0, 1.0),
            "tvd": Metric("change of the prediction under that attention", 0.0, 1.0),
            "jsd_any": Metric(
                "the furthest any attention could be, whatever the prediction", 0.0, math.log(2)
            ),
        },
        detects=("inert",),
        blind={"shifted": "the attention is determined as closely as Oracle's"},
    )
)
def furthest(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    epsilon: float = 0.01,
    fidelity: str = "corrected",
) -> Values:
    """The attention furthest from the model's own whose prediction is within ε: the ε-max JSD.

    Parameters
    ----------
    epsilon : float, default 0.01
        Tolerance for the TVD of the prediction.
    fidelity : {"corrected", "code", "paper"}
        corrected: exact with a readout and two classes, a certified interval with more classes, a
        gradient search without a readout. code, paper: the search of Jain & Wallace as released and
        as printed, which can fall short; a failed search counts as 0, as there.

    Returns
    -------
    dict of Tensor (B,)
        `jsd` (found), `upper` (certified), `exact` (whether they agree), `found`, `tvd` (of the
        prediction), `jsd_any`, the largest JSD whatever the prediction, and `jsd_share` and
        `upper_share` relative to it; NaN with one item.
    """
    alpha, jsd, upper, is_exact = alternative(
        model, record, seed, epsilon=epsilon, fidelity=fidelity
    )
    largest = unconstrained(record)
    logits = model.decode(record, alpha.to(record.alpha.dtype))
    probs = masking.probabilities(logits, record.batch.classes)
    return {
        ("", "jsd"): jsd,
        ("", "upper"): upper,
        ("", "exact"): is_exact.double(),
        ("", "found"): (jsd > 0).double(),
        ("", "tvd"): statistics.tvd(probs, record.probs),
        ("", "jsd_any"): largest,
        ("", "jsd_share"): jsd / largest.where(largest > 0, torch.nan),
        ("", "upper_share"): upper / largest.where(largest > 0, torch.nan),
    }


def alternative(
    model: AttentionModel,
    record: Record,
    seed: int,
    *,
    epsilon: float = 0.01,
    fidelity: str = "corrected",
) -> Answer:
    """The furthest attention (B,R,N), its JSD, the upper bound, and whether they are equal (B,).

    Parameters are those of `furthest`.
    """
    FIDELITY.check("fidelity", fidelity)
    answers = _ANSWERS.setdefault(record, {})
    key = (id(model), seed, epsilon, fidelity)
    if key not in answers:
        answers[key] = _answer(model, record, seed, epsilon, fidelity)
    return answers[key]


def _answer(
    model: AttentionModel, record: Record, seed: int, epsilon: float, fidelity: str
) -> Answer:
    if fidelity == "corrected" and record.readout is not None:
        answer = exact.furthest(
            record.alpha[:, 0].double(),
            record.readout.double(),
            record.mask[:, 0],
            epsilon=epsilon,
            classes=record.batch.classes,
        )
        return answer.alpha[:, None], answer.jsd, answer.upper, answer.exact
    settings = gradient_search.SETTINGS[fidelity]
    alpha, jsd = gradient_search.search(model, record, seed, epsilon=epsilon, settings=settings)
    return alpha, jsd, unconstrained(record), torch.zeros_like(jsd, dtype=torch.bool)


def unconstrained(record: Record) -> Tensor:
    """The largest JSD any attention could have, mean over rows (B,).

    It is that of all weight on the least attended item.
    """
    alone = masking.fill(one_hot_jsd(record.alpha.double()), record.mask, -1.0).amax(-1)
    return alone.masked_fill(~record.mask.any(-1), torch.nan).nanmean(-1).clamp_max(math.log(2))
