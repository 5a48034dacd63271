"""How different could the attention have been, with the same prediction? (Jain & Wallace 2019, algorithm 3)"""

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
Answer = tuple[Tensor, Tensor, Tensor, Tensor]
# One answer for each question: the audit asks, and whoever draws its answer asks again.
_ANSWERED: WeakKeyDictionary[Record, dict[tuple[object, ...], Answer]] = WeakKeyDictionary()


@limits(
    epsilon=Number(least=0, most=1),
    fidelity=FIDELITY,
)
@declares(
    Declaration(
        question="How different could the attention have been, with the same prediction?",
        metrics={
            "jsd": Metric(
                "JSD of the furthest attention with the same prediction, nats",
                0.0,
                "jsd_any",
                DIVERGENCE,
            ),
            "upper": Metric(
                "no attention with the same prediction is further than this",
                0.0,
                "jsd_any",
                DIVERGENCE,
            ),
            "jsd_share": Metric("jsd as a share of the furthest any attention could be", 0.0, 1.0),
            "upper_share": Metric("upper as a share of the same", 0.0, 1.0),
            "exact": Metric("jsd and upper are one: this is the true maximum", 0.0, 1.0),
            "found": Metric("some other attention with the same prediction was found", 0.0, 1.0),
            "tvd": Metric("change of the prediction under it", 0.0, 1.0),
            "jsd_any": Metric(
                "the furthest any attention could be, whatever the prediction", 0.0, math.log(2)
            ),
        },
        detects=("inert",),
        blind={"shifted": "the attention is pinned down as firmly as the Oracle's"},
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
    """ε-max JSD: `jsd` (found), `upper` (certified), `exact` (the two agree), `tvd` (what it costs), and `jsd_any`, the ceiling:
    the furthest any attention could be, whatever the prediction. `jsd_share`, `upper_share`: as shares of that; NaN with one item.

    corrected: exact with a readout and two classes, a certified interval with more, a search without a readout. code, paper: the
    search of Jain & Wallace as released and as printed, which can fall short; a failed search counts 0, as there.
    """
    found, jsd, upper, tight = alternative(model, record, seed, epsilon=epsilon, fidelity=fidelity)
    anything = unconstrained(record)
    moved = statistics.tvd(_probs(model, record, found), record.probs)
    return {
        ("", "jsd"): jsd,
        ("", "upper"): upper,
        ("", "exact"): tight.double(),
        ("", "found"): (jsd > 0).double(),
        ("", "tvd"): moved,
        ("", "jsd_any"): anything,
        ("", "jsd_share"): jsd / anything.where(anything > 0, torch.nan),
        ("", "upper_share"): upper / anything.where(anything > 0, torch.nan),
    }


def alternative(
    model: AttentionModel,
    record: Record,
    seed: int,
    *,
    epsilon: float = 0.01,
    fidelity: str = "corrected",
) -> Answer:
    """The attention itself (B,R,N), its JSD, the upper bound and whether they are one, each (B,)."""
    FIDELITY.check("fidelity", fidelity)
    known = _ANSWERED.setdefault(record, {})
    asked = (id(model), seed, epsilon, fidelity)
    if asked not in known:
        known[asked] = _answer(model, record, seed, epsilon, fidelity)
    return known[asked]


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
    found, jsd = gradient_search.search(model, record, seed, epsilon=epsilon, settings=settings)
    return found, jsd, unconstrained(record), torch.zeros_like(jsd, dtype=torch.bool)


def unconstrained(record: Record) -> Tensor:
    """The largest JSD any attention could have, mean over the rows (B,): all weight on the least attended item."""
    alone = masking.fill(one_hot_jsd(record.alpha.double()), record.mask, -1.0).amax(-1)
    return alone.masked_fill(~record.mask.any(-1), torch.nan).nanmean(-1).clamp_max(math.log(2))


def _probs(model: AttentionModel, record: Record, alpha: Tensor) -> Tensor:
    logits = model.decode(record, alpha.to(record.alpha.dtype))
    return masking.probabilities(logits, record.batch.classes)
