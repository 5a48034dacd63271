"""Does removing the most attended item change more than removing a random one? (Serrano & Smith 2019)"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.counterfactual import flipped, without_item
from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.core import masking, randomness
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.option_limits import Fidelity, limits


@limits(fidelity=Fidelity("the audit top_item", ("corrected", "code")))
@declares(
    Declaration(
        question="Does removing the most attended item change more than removing a random one?",
        metrics={
            "delta_js": Metric(
                "JS divergence of outputs, top item removed minus random item removed",
                0.0,
                "js_reach",
                (-math.log(2), math.log(2)),
            ),
            "js_reach": Metric("JS divergence when the top item is removed", 0.0, math.log(2)),
            "delta_alpha": Metric(
                "weight of the top item minus weight of the random one", 0.0, 1.0
            ),
            "flips_top": Metric(
                "removing the top item flips the decision", "flips_random", 1.0, SHARE
            ),
            "flips_random": Metric("removing a random item flips the decision", 0.0, 1.0),
            "flips_both": Metric("both removals flip", 0.0, 1.0),
            "flips_only_top": Metric("only removing the top item flips", 0.0, 1.0),
            "flips_only_random": Metric("only removing the random item flips", 0.0, 1.0),
            "flips_neither": Metric("neither removal flips", 0.0, 1.0),
        },
        detects=("inert",),
        blind={"shifted": "the top item really decides, under the wrong word"},
    )
)
def top_item(
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
    *,
    fidelity: str = "corrected",
) -> Values:
    """Zero alpha at i* = argmax alpha, or at a random item r, renormalise, decode: ΔJS = JS(p, q_i*) - JS(p, q_r) against
    Δalpha = alpha_i* - alpha_r, and the 2×2 table of decision flips, row by row (B,R).

    corrected: r is any other item. code: r is drawn from positions 1…length-1, which can be i* and is never the first.
    `js_reach`, the ceiling: ΔJS if the random item had changed nothing. NaN with fewer than two items.
    """
    words = (
        record.mask & record.content[:, None]
    )  # what does not count, such as [CLS], is never removed
    top = masking.descending(record.alpha, words, _draws(record, "top_item ties", seed))[..., :1]
    other = _random_item(record, words, top, seed, fidelity)
    removed = [_without(record, item) for item in (top, other)]
    p = record.probs[:, None]
    js, flips = [], []
    for alpha in removed:
        logits = logits_under(model, record, alpha)
        answered = ~logits.isnan().any(-1)
        js.append(statistics.jsd(masking.probabilities(logits, record.batch.classes), p))
        flips.append(torch.where(answered, flipped(logits, record).double(), torch.nan))
    few = words.sum(-1) < 2
    (js_top, js_other), (top_flips, other_flips) = js, flips
    # Compared on the same examples: those for which both have an answer.
    unknown = top_flips.isnan() | other_flips.isnan()
    top_flips, other_flips = (
        each.masked_fill(unknown, torch.nan) for each in (top_flips, other_flips)
    )
    weight = [record.alpha.gather(-1, item)[..., 0] for item in (top, other)]
    values: Values = {
        ("", "delta_js"): js_top - js_other,
        ("", "js_reach"): js_top,
        ("", "delta_alpha"): weight[0] - weight[1],
        ("", "flips_top"): top_flips,
        ("", "flips_random"): other_flips,
        ("", "flips_both"): top_flips * other_flips,
        ("", "flips_only_top"): top_flips * (1 - other_flips),
        ("", "flips_only_random"): (1 - top_flips) * other_flips,
        ("", "flips_neither"): (1 - top_flips) * (1 - other_flips),
    }
    return {key: value.masked_fill(few, torch.nan) for key, value in values.items()}


def _random_item(record: Record, words: Tensor, top: Tensor, seed: int, fidelity: str) -> Tensor:
    """One item a row (B,R,1), by example, whatever the batch."""
    draw = _draws(record, "top_item", seed)
    if fidelity == "corrected":
        allowed = words.scatter(-1, top, False)
    else:
        first = words.to(torch.int8).argmax(-1, keepdim=True)
        allowed = words.scatter(-1, first, False)
    return masking.fill(draw, allowed, -1.0).argmax(-1, keepdim=True)


def _draws(record: Record, name: str, seed: int) -> Tensor:
    """Random numbers (B,R,N) by example, row and place."""
    rows = [
        randomness.uniform(
            randomness.keys(seed, f"{name}/{row}", record.batch.example_id), record.alpha.shape[2]
        )
        for row in range(record.alpha.shape[1])
    ]
    return torch.stack(rows, 1).to(record.alpha.device)


def _without(record: Record, item: Tensor) -> Tensor:
    """R alternatives (B,R,R,N), each with the item taken out of one row and the other rows as they are."""
    rows = record.alpha.shape[1]
    drop = torch.zeros_like(record.mask).scatter(-1, item, True)
    changed = without_item(record.alpha, record.mask, drop)
    own = torch.eye(rows, dtype=torch.bool, device=record.alpha.device)[None, :, :, None]
    return torch.where(own, changed[:, None], record.alpha[:, None])
