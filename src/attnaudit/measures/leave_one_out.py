"""How much does the prediction change without the word? (Jain & Wallace 2019, algorithm 1)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.item_deletion import leave_out
from attnaudit.statistics.ties import tie_rounding


def leave_one_out(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Change of the prediction when an item is deleted from the text (Meister et al. 2021, eq. 6).

    Returns
    -------
    Tensor (B,N)
        TVD(ŷ(x without item), ŷ(x)). NaN for items that do not count, and where nothing would be
        left of the text.
    """
    with torch.no_grad():
        without = masking.probabilities(leave_out(model, record), record.batch.classes)
        change = statistics.tvd(without, record.probs[:, None])
        # Each value comes from its own forward pass, and probabilities have a rounding error
        # relative to 1, however small the change.
        rounding = torch.full_like(change[:, :1], 4 * torch.finfo(record.logits.dtype).eps)
        change = masking.fill(change, ~(change <= rounding))
        return tie_rounding(change, record.content, rounding)
