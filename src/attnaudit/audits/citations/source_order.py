"""Does attention follow the source, or its place in the prompt?"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.citations.source_use import share_of_top
from attnaudit.audits.declaration import SHARE, Declaration, Metric, Values, declares
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.citations.attention import shuffled_order


@declares(
    Declaration(
        question="Does attention follow the source, or its place in the prompt?",
        metrics={
            "same_source": Metric(
                "the same source is cited when the sources stand in another order",
                "chance",
                1.0,
                SHARE,
            ),
            "same_place": Metric(
                "another source is cited, at the same place (lower is better)", 0.0, 1.0
            ),
            "first": Metric("the first source is cited", "chance", 1.0, SHARE),
            "chance": Metric("one over the number of sources", 0.0, 1.0),
        },
    )
)
def source_order(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int
) -> Values:
    """Compare attention with attention when the sources stand in another order.

    Returns
    -------
    dict of Tensor (B,)
        For the measure attention; `first` for every measure. NaN for an example of one source.
    """
    if getattr(model, "about", {}).get("items") == "words":
        raise NotApplicable(
            "the order of sources is changed only where sources are items: audit with --items "
            "both, or --items sources"
        )
    if "attention_shuffled" not in scores or "attention" not in scores:
        raise NotApplicable("it compares the measures attention and attention_shuffled")
    before, after = scores["attention"], scores["attention_shuffled"]
    number = record.content.long().cumsum(-1) - 1  # of each source
    order = shuffled_order(record, seed).to(before.device)
    cited = _top(before, record)
    place = number.gather(1, cited[:, None])
    now_there = order.gather(1, place)[:, 0]  # the source that stands where the cited one was
    undefined = (record.length < 2) | (after.isnan() & record.content).any(-1)
    values: Values = {
        ("attention", "same_source"): share_of_top(
            after, record, torch.nn.functional.one_hot(cited, record.content.shape[1]).double()
        ),
        ("attention", "same_place"): share_of_top(
            after, record, (number == now_there[:, None]).double() * record.content
        ),
        ("", "chance"): (1.0 / record.length.double()).masked_fill(record.length < 2, torch.nan),
    }
    for name in ("same_source", "same_place"):
        values["attention", name] = values["attention", name].masked_fill(undefined, torch.nan)
    is_first = ((number == 0) & record.content).double()
    for name, score in scores.items():
        values[name, "first"] = share_of_top(score, record, is_first).masked_fill(
            record.length < 2, torch.nan
        )
    return values


def _top(score: Tensor, record: Record) -> Tensor:
    """The source with the largest score (B,), the first of equal ones."""
    return score.double().masked_fill(~record.content, -torch.inf).nan_to_num(-torch.inf).argmax(-1)
