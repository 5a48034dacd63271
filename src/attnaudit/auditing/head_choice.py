"""Which heads attend to the sources that are used? Chosen on examples that are not audited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from attnaudit.audits.citations.source_use import contributions
from attnaudit.core import progress
from attnaudit.core.contract import AttentionModel
from attnaudit.core.errors import InputError
from attnaudit.core.module_state import evaluating
from attnaudit.core.randomness import derive
from attnaudit.data.citations import CitationExample


def hold_out(
    examples: Sequence[CitationExample], share: float, seed: int
) -> tuple[list[CitationExample], list[CitationExample]]:
    """The examples to choose heads on, and the others: by (seed, example id), never in both."""
    if not 0 < share < 1:
        raise InputError(f"The share of held-out questions must be between 0 and 1, got {share}.")
    order = sorted(examples, key=lambda each: derive(seed, "held out", each.example_id))
    count = max(1, round(share * len(examples)))
    chosen = {each.example_id for each in order[:count]}
    held = [each for each in examples if each.example_id in chosen]
    rest = [each for each in examples if each.example_id not in chosen]
    if not rest:
        raise InputError(
            "Heads are chosen on some of the questions and audited on the others: two or more "
            f"questions are needed, got {len(examples)}."
        )
    return held, rest


def choose_heads(
    model: AttentionModel,
    examples: Sequence[CitationExample],
    *,
    count: int = 8,
    show_progress: bool = False,
) -> str:
    """The heads whose top source contributes most to the answer, as "layer.head+layer.head…".

    The contribution is divided by the largest of the example, and averaged over examples.

    Parameters
    ----------
    model : that can leave sources out.
    examples : held out from the audit.
    count : how many heads.
    """
    rows: list[str] = getattr(model, "about", {}).get("rows", [])
    if not rows:
        raise InputError("Heads can only be chosen of a model that names its rows (about['rows']).")
    total = torch.zeros(len(rows), dtype=torch.float64)
    used = 0
    with (
        evaluating(model),
        torch.no_grad(),
        progress.bar("Choosing heads", len(examples), show=show_progress) as advance,
    ):
        for example in examples:
            reader: Any = model
            (batch,) = reader.batches([example])
            share = _shares(model, batch)
            if share is not None:
                total += share
                used += 1
            advance("", 1)
    if not used:
        raise InputError(
            "No held-out answer comes from its sources: no head can be chosen on them."
        )
    best = sorted(range(len(rows)), key=lambda row: (-float(total[row]), row))[:count]
    return "+".join(rows[row] for row in sorted(best))


def _shares(model: AttentionModel, batch: Any) -> Tensor | None:
    """How much of the largest contribution the top source of each row has (R,)."""
    record = model.read(batch)
    contributed = contributions(model, record)[0]
    best = contributed[record.content[0]].max()
    if not best > 0:
        return None
    weights = record.alpha[0].masked_fill(~record.content[0], -1.0)
    return (contributed[weights.argmax(-1)] / best).double().cpu()
