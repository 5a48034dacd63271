"""How much less likely is the answer without the source?"""

from __future__ import annotations

from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.citations.answer_values import drop_without_each


def leave_one_out(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """ln p(answer) - ln p(answer without the source) per token (B,N); negative: it spoke against.

    The source is deleted from the prompt.
    """
    return drop_without_each(model, record)
