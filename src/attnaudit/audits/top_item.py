"""Does removing the top item change more than removing a random one? (Serrano & Smith 2019)"""

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
                "JSD of the prediction, top item removed minus random item removed",
                0.0,
                "js_reach",
                (-math.log(2), math.log(2)),
            ),
            "js_reach": Metric(
                "JSD of the prediction when the top item is removed", 0.0, math.log(2)
            ),
            "delta_alpha": Metric(
                "weight of the top item minus weight of the random item", 0.0, 1.0
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
        blind={"shifted": "the top item does decide, although it carries the wrong word"},
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
    """Remove the item with the largest weight, or a random one, renormalise and decode, per row.

    Parameters
    ----------
    fidelity : {"corrected", "code"}
        corrected: the random item is any other than the top one. code: it is drawn from positions
        1 to length-1, which can be the top item and is never the first.

    Returns
    -------
    dict of Tensor (B,R)
        `delta_js`, the difference in JSD between the two removals; its ceiling `js_reach`, as if
        removing the random item changed nothing; `delta_alpha`, the difference in weight; and the
        2×2 table of decision flips. NaN with fewer than two items.
    """
    # What does not count, such as [CLS], is never removed.
    words = record.mask & record.content[:, None]
    top = masking.descending(record.alpha, words, _draws(record, "top_item ties", seed))[..., :1]
    other = _random_item(record, words, top, seed, fidelity)
    removed = [_removed_per_row(record, item) for item in (top, other)]
    p = record.probs[:, None]
    js, flips = [], []
    for alpha in removed:
        logits = logits_under(model, record, alpha)
        answered = ~logits.isnan().any(-1)
        js.append(statistics.jsd(masking.probabilities(logits, record.batch.classes), p))
        flips.append(torch.where(answered, flipped(logits, record).double(), torch.nan))
    few = words.sum(-1) < 2
    (js_top, js_other), (top_flips, other_flips) = js, flips
    # Compare both on the same examples: those for which both are known.
    unknown = top_flips.isnan() | other_flips.isnan()
    top_flips, other_flips = (
        flips.masked_fill(unknown, torch.nan) for flips in (top_flips, other_flips)
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
    """One random item per row (B,R,1), drawn per example id."""
    draw = _draws(record, "top_item", seed)
    if fidelity == "corrected":
        allowed = words.scatter(-1, top, False)
    else:
        first = words.to(torch.int8).argmax(-1, keepdim=True)
        allowed = words.scatter(-1, first, False)
    return masking.fill(draw, allowed, -1.0).argmax(-1, keepdim=True)


def _draws(record: Record, name: str, seed: int) -> Tensor:
    """Random numbers (B,R,N) that depend on example id, row and position."""
    shape = record.alpha.shape
    keys = randomness.keys_by_row(seed, name, record.batch.example_id, shape[1])
    return randomness.uniform(keys.flatten(), shape[2]).view(shape).to(record.alpha.device)


def _removed_per_row(record: Record, item: Tensor) -> Tensor:
    """R alternatives (B,R,R,N), each with the item removed from one row, the others unchanged."""
    rows = record.alpha.shape[1]
    drop = torch.zeros_like(record.mask).scatter(-1, item, True)
    changed = without_item(record.alpha, record.mask, drop)
    is_row = torch.eye(rows, dtype=torch.bool, device=record.alpha.device)[None, :, :, None]
    return torch.where(is_row, changed[:, None], record.alpha[:, None])
