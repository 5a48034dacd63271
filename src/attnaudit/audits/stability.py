"""Do other trainings of the model attend to the same words, where they decide the same? (Wiegreffe & Pinter 2019)"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.declaration import (
    CORRELATION,
    DIVERGENCE,
    Declaration,
    Metric,
    Values,
    declares,
)
from attnaudit.audits.furthest import unconstrained
from attnaudit.audits.per_row import by_row
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError, NotApplicable


@declares(
    Declaration(
        question="Do other trainings of the model attend to the same words, where they decide the same?",
        metrics={
            "jsd": Metric(
                "JSD to another training's attention, nats; same decision only",
                0.0,
                "jsd_any",
                DIVERGENCE,
            ),
            "jsd_share": Metric("jsd as a share of the furthest any attention could be", 0.0, 1.0),
            "tau": Metric(
                "Kendall's tau-b with another training's attention", 0.0, 1.0, CORRELATION
            ),
            "tvd": Metric("change of the prediction from one training to another", 0.0, 1.0),
            "same_decision": Metric("share of the other trainings that decide the same", 0.0, 1.0),
            "jsd_any": Metric(
                "the furthest any attention could be, whatever the prediction", 0.0, math.log(2)
            ),
        },
        blind={
            "inert": "every training may attend to the same words and none of them need it",
            "shifted": "every training may attend one word off",
        },
    )
)
def stability(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    other_models: Sequence[AttentionModel] = (),
) -> Values:
    """Mean over the other models (B,). jsd and tau: only of those that decide the same; NaN where none does.

    The other models must read the same batches into items of the same shape.
    """
    if not other_models:
        raise NotApplicable(
            "no other training of the model was given (other_models, or --other-seeds)"
        )
    found: dict[str, list[Tensor]] = {"jsd": [], "tau": [], "tvd": [], "same_decision": []}
    for other in other_models:
        theirs = other.read(record.batch)
        if theirs.alpha.shape != record.alpha.shape:
            raise InputError(
                f"other_models must attend to the same items: got attention of {tuple(theirs.alpha.shape)} "
                f"beside {tuple(record.alpha.shape)}."
            )
        same = theirs.predicted == record.predicted
        apart = masking.mean(
            statistics.jsd(record.alpha, theirs.alpha, record.mask), record.mask.any(-1)
        ).masked_fill(~same, torch.nan)
        tau = (
            by_row(record, _tau, record.alpha, theirs.alpha)
            .nanmean(-1)
            .masked_fill(~same, torch.nan)
        )
        found["jsd"].append(apart)
        found["tau"].append(tau)
        found["tvd"].append(statistics.tvd(record.probs, theirs.probs))
        found["same_decision"].append(same.double())
    values: Values = {("", name): torch.stack(each).nanmean(0) for name, each in found.items()}
    anything = unconstrained(record)
    values["", "jsd_any"] = anything
    values["", "jsd_share"] = values["", "jsd"] / anything.where(anything > 0, torch.nan)
    return values


def _tau(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    return statistics.kendall(x, y, mask)[0]
