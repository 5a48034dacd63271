"""Do other trainings of the model attend to the same words? (Wiegreffe & Pinter 2019)"""

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
from attnaudit.audits.per_row import per_row
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError, NotApplicable


@declares(
    Declaration(
        question="Do other trainings that decide the same attend to the same words?",
        metrics={
            "jsd": Metric(
                "JSD to the attention of another training with the same decision, in nats",
                0.0,
                "jsd_any",
                DIVERGENCE,
            ),
            "jsd_share": Metric("jsd as a share of the furthest any attention could be", 0.0, 1.0),
            "tau": Metric(
                "Kendall's tau-b with the attention of another training", 0.0, 1.0, CORRELATION
            ),
            "tvd": Metric("change of the prediction between trainings", 0.0, 1.0),
            "same_decision": Metric("share of the other trainings that decide the same", 0.0, 1.0),
            "jsd_any": Metric(
                "the furthest any attention could be, whatever the prediction", 0.0, math.log(2)
            ),
        },
        blind={
            "inert": "every training may attend to the same words and none may need to",
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
    """Compare the attention with that of other trainings, where they make the same decision.

    Parameters
    ----------
    other_models : sequence of AttentionModel
        They must read the same batches into items of the same shape.

    Returns
    -------
    dict of Tensor (B,)
        Means over the other models: `jsd`, `jsd_share` and `tau` over those with the same decision
        (NaN if there is none), `tvd` and `same_decision` over all; and `jsd_any`, as in furthest.
    """
    if not other_models:
        raise NotApplicable(
            "no other training of the model was given (other_models, or --other-seeds)"
        )
    per_model: dict[str, list[Tensor]] = {"jsd": [], "tau": [], "tvd": [], "same_decision": []}
    for other in other_models:
        theirs = other.read(record.batch)
        if theirs.alpha.shape != record.alpha.shape:
            raise InputError(
                "other_models must attend to the same items: expected attention of shape "
                f"{tuple(record.alpha.shape)}, got {tuple(theirs.alpha.shape)}."
            )
        same = theirs.predicted == record.predicted
        jsd = statistics.jsd(record.alpha, theirs.alpha, record.mask)
        jsd = masking.mean(jsd, record.mask.any(-1)).masked_fill(~same, torch.nan)
        tau = per_row(record, _tau, record.alpha, theirs.alpha).nanmean(-1)
        tau = tau.masked_fill(~same, torch.nan)
        per_model["jsd"].append(jsd)
        per_model["tau"].append(tau)
        per_model["tvd"].append(statistics.tvd(record.probs, theirs.probs))
        per_model["same_decision"].append(same.double())
    values: Values = {
        ("", name): torch.stack(parts).nanmean(0) for name, parts in per_model.items()
    }
    largest = unconstrained(record)
    values["", "jsd_any"] = largest
    values["", "jsd_share"] = values["", "jsd"] / largest.where(largest > 0, torch.nan)
    return values


def _tau(x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
    return statistics.kendall(x, y, mask)[0]
