"""How far can attention move as the tolerance ε for the prediction grows? (Jain & Wallace 2019)"""

from __future__ import annotations

import math

from torch import Tensor

from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.audits.furthest import alternative
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.option_limits import ParsedBy, limits

EPSILONS = "0.001+0.002+0.005+0.01+0.02+0.05+0.1"


def _split(epsilons: str) -> list[str]:
    return [epsilon for epsilon in str(epsilons).split("+") if epsilon]


def _epsilons(text: str) -> dict[str, float]:
    epsilons = {}
    for word in _split(text):
        try:
            epsilons[word] = float(word)
        except ValueError:
            epsilons[word] = -1.0
        if not 0 <= epsilons[word] <= 1:
            raise InputError(
                f"epsilon_curve: epsilons are numbers from 0 to 1 joined by +; got {word!r}."
            )
    return epsilons


@limits(epsilons=ParsedBy(_epsilons))
@declares(
    Declaration(
        question="How far can attention move as the tolerance for the prediction grows?",
        metrics={
            f"{kind}_{epsilon}": Metric(f"{meaning}, ε = {epsilon}; nats", 0.0, math.log(2))
            for epsilon in _split(EPSILONS)
            for kind, meaning in {
                "jsd": "JSD of the furthest attention with the same prediction",
                "upper": "no attention with the same prediction is further",
            }.items()
        },
        detects=("inert",),
        blind={"shifted": "the attention is determined as closely as Oracle's"},
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
    """The audit `furthest` for several ε.

    Parameters
    ----------
    epsilons : str
        Tolerances for the TVD of the prediction, joined by +.
    search : bool, default False
        Also run without a readout or with more than two classes, where every ε takes a gradient
        search.

    Returns
    -------
    dict of Tensor (B,)
        `jsd_ε` (found) and `upper_ε` (certified) for each ε.
    """
    if not search and (record.readout is None or record.logits.shape[1] > 2):
        raise NotApplicable(
            "without a readout, or with more than two classes, every ε takes a search of its own; "
            "epsilon_curve:search=true does it"
        )
    values: Values = {}
    for name, epsilon in _epsilons(epsilons).items():
        _, jsd, upper, _ = alternative(model, record, seed, epsilon=epsilon)
        values["", f"jsd_{name}"], values["", f"upper_{name}"] = jsd, upper
    return values
