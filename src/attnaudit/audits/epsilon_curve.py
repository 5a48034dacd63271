"""How does the room for other attention grow with what counts as the same prediction? (Jain & Wallace 2019, with ε from 0.001 to 0.1)"""

from __future__ import annotations

import math

from torch import Tensor

from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.audits.furthest import alternative
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.option_limits import ParsedBy, limits

EPSILONS = "0.001+0.002+0.005+0.01+0.02+0.05+0.1"


def _names(epsilons: str) -> list[str]:
    return [each for each in str(epsilons).split("+") if each]


def _epsilons(text: str) -> dict[str, float]:
    found = {}
    for each in _names(text):
        try:
            found[each] = float(each)
        except ValueError:
            found[each] = -1.0
        if not 0 <= found[each] <= 1:
            raise InputError(
                f"epsilon_curve: epsilons are numbers from 0 to 1 joined by +; got {each!r}."
            )
    return found


@limits(epsilons=ParsedBy(_epsilons))
@declares(
    Declaration(
        question="How does the room for other attention grow with what counts as the same prediction?",
        metrics={
            f"{kind}_{each}": Metric(f"{meaning}, ε = {each}; nats", 0.0, math.log(2))
            for each in _names(EPSILONS)
            for kind, meaning in {
                "jsd": "JSD of the furthest attention with the same prediction",
                "upper": "no attention with the same prediction is further",
            }.items()
        },
        detects=("inert",),
        blind={"shifted": "the attention is pinned down as firmly as the Oracle's"},
    )
)
def epsilon_curve(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    epsilons: str = EPSILONS,
    search: bool = False,
) -> Values:
    """ε-max JSD at each ε, found and certified (B,). Without a readout or with more than two classes every ε takes a search
    of its own: only with search=true."""
    if not search and (record.readout is None or record.logits.shape[1] > 2):
        raise NotApplicable(
            "without a readout, or with more than two classes, every ε takes a search of its own; epsilon_curve:search=true does it"
        )
    values: Values = {}
    for each, epsilon in _epsilons(epsilons).items():
        _, jsd, upper, _ = alternative(model, record, seed, epsilon=epsilon)
        values["", f"jsd_{each}"], values["", f"upper_{each}"] = jsd, upper
    return values
