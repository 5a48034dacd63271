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
_SAME = 0.95  # a strict tolerance of at least this share of epsilon counts as epsilon
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
            "strict_share": Metric(
                "jsd_share if the log-odds of the predicted class may not fall by more than 4ε",
                0.0,
                1.0,
            ),
            "strict_upper_share": Metric("upper_share under the same condition", 0.0, 1.0),
            "strict_exact": Metric("these two are equal", 0.0, 1.0),
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
        `upper_share` relative to it; NaN with one item. `strict_share`, `strict_upper_share` and
        `strict_exact`: the same with the tolerances of `strict_epsilon`. Without a readout they are
        NaN, except where the two tolerances are the same within 5 %.
    """
    strict = strict_epsilon(record, epsilon)
    (alpha, jsd, upper, is_exact), strict_jsd, strict_upper = _with_strict(
        model, record, seed, epsilon, strict, fidelity
    )
    largest = unconstrained(record)
    logits = model.decode(record, alpha.to(record.alpha.dtype))
    probs = masking.probabilities(logits, record.batch.classes)
    any_or_nan = largest.where(largest > 0, torch.nan)
    strict_exact = (strict_jsd >= strict_upper - 1e-12).double()
    return {
        ("", "jsd"): jsd,
        ("", "upper"): upper,
        ("", "exact"): is_exact.double(),
        ("", "found"): (jsd > 0).double(),
        ("", "tvd"): statistics.tvd(probs, record.probs),
        ("", "jsd_any"): largest,
        ("", "jsd_share"): jsd / any_or_nan,
        ("", "upper_share"): upper / any_or_nan,
        ("", "strict_share"): strict_jsd / any_or_nan,
        ("", "strict_upper_share"): strict_upper / any_or_nan,
        ("", "strict_exact"): strict_exact.where(~strict_jsd.isnan(), torch.nan),
    }


def strict_epsilon(record: Record, epsilon: float) -> Tensor:
    """The tolerance (B,) at which the log-odds of the predicted class fall by at most 4ε.

    At probability p it is p - sigmoid(logit(p) - 4ε), and at most ε: about ε at p = 1/2, and
    about 4ε(1 - p) where the model is sure, which ε alone would excuse.

    Examples
    --------
    >>> from attnaudit.models import Glass, glass_batch
    >>> strict_epsilon(Glass("oracle").read(glass_batch(2)), 0.01)
    tensor([0.0005, 0.0002], dtype=torch.float64)
    """
    logits, classes = record.logits.detach().double(), record.batch.classes
    predicted = masking.argmax(logits, classes)[:, None]
    rivals = torch.ones_like(logits, dtype=torch.bool) if classes is None else classes
    rest = masking.fill(logits, rivals.scatter(1, predicted, False), -torch.inf)
    odds = logits.gather(1, predicted)[:, 0] - rest.logsumexp(-1)
    # 1 - p instead of p: the difference of two numbers near 1 would lose the small ones.
    fallen = torch.sigmoid(4 * epsilon - odds) - torch.sigmoid(-odds)
    return fallen.clamp(0.0, epsilon)


def _with_strict(
    model: AttentionModel,
    record: Record,
    seed: int,
    epsilon: float,
    strict: Tensor,
    fidelity: str,
) -> tuple[Answer, Tensor, Tensor]:
    """The answer within epsilon, and JSD and upper bound (B,) within `strict` (B,).

    Neither of the strict ones is above that within epsilon.
    """
    FIDELITY.check("fidelity", fidelity)
    if fidelity != "corrected" or record.readout is None:
        answer = alternative(model, record, seed, epsilon=epsilon, fidelity=fidelity)
        _, jsd, upper, _ = answer
        same = strict >= _SAME * epsilon
        return answer, jsd.where(same, torch.nan), upper.where(same, torch.nan)
    # Both in one call: much of its cost does not depend on the number of examples.
    both = _exact(record, torch.stack([torch.full_like(strict, epsilon), strict]))
    (alpha, _), (jsd, strict_jsd), (upper, strict_upper), (is_exact, _) = (
        part.chunk(2) for part in (both.alpha, both.jsd, both.upper, both.exact)
    )
    answer = (alpha[:, None], jsd, upper, is_exact)
    _ANSWERS.setdefault(record, {})[id(model), seed, epsilon, fidelity] = answer
    return answer, torch.minimum(strict_jsd, jsd), torch.minimum(strict_upper, upper)


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
        answer = _exact(record, torch.full_like(record.alpha[:, 0, 0], epsilon).double()[None])
        return answer.alpha[:, None], answer.jsd, answer.upper, answer.exact
    settings = gradient_search.SETTINGS[fidelity]
    alpha, jsd = gradient_search.search(model, record, seed, epsilon=epsilon, settings=settings)
    return alpha, jsd, unconstrained(record), torch.zeros_like(jsd, dtype=torch.bool)


def _exact(record: Record, epsilons: Tensor) -> exact.Furthest:
    """The answers for one tolerance after the other, (T,B) -> (T·B,), from the readout."""
    assert record.readout is not None  # whoever calls this has checked it
    times, classes = len(epsilons), record.batch.classes
    return exact.furthest(
        record.alpha[:, 0].double().repeat(times, 1),
        record.readout.double().repeat(times, 1, 1),
        record.mask[:, 0].repeat(times, 1),
        epsilon=epsilons.flatten(),
        classes=None if classes is None else classes.repeat(times, 1),
    )


def unconstrained(record: Record) -> Tensor:
    """The largest JSD any attention could have, mean over rows (B,).

    It is that of all weight on the least attended item.
    """
    alone = masking.fill(one_hot_jsd(record.alpha.double()), record.mask, -1.0).amax(-1)
    return alone.masked_fill(~record.mask.any(-1), torch.nan).nanmean(-1).clamp_max(math.log(2))
