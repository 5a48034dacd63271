"""How much does the prediction change without each hidden state? (Meister et al. 2021, table 6)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.memory_budget import rows_at_once
from attnaudit.measures.gradient_norm import shares
from attnaudit.statistics.ties import tie_rounding


def hidden_leave_one_out(
    model: AttentionModel, record: Record, seed: int, *, renormalise: bool = False
) -> Tensor:
    """Change of the prediction when attention skips an item; the text is encoded once.

    Parameters
    ----------
    renormalise : bool, default False
        False: the attention scores of the other items are projected again, by the model's
        `attention_without`. True, and for a model without that method: their weights are scaled to
        sum to 1, which is the same for softmax and not for sparse projections. The paper does not
        say which.

    Returns
    -------
    Tensor (B,N)
        TVD(ŷ(item skipped), ŷ) as shares over the items, D_ŷ(I) in the paper. NaN for items that do
        not count, where nothing is left to attend to, and for all items of a text in which none
        matters.
    """
    attention_without = None if renormalise else getattr(model, "attention_without", None)
    batch, rows, items = record.alpha.shape
    item = torch.arange(items, device=record.alpha.device)
    changes = []
    with torch.no_grad():
        for part in item.split(rows_at_once(batch * rows * items)):
            drop = (part[:, None] == item).expand(batch, -1, -1)
            dropped = drop[:, :, None] & record.mask[:, None]  # (B,K,R,N)
            kept = record.mask[:, None] & ~dropped
            if attention_without is not None:
                weights = attention_without(record, drop)
            else:
                weights = masking.fill(record.alpha[:, None], kept)
            total = weights.sum(-1, keepdim=True)
            alpha = weights / total.where(total > 0, 1)
            probs = masking.probabilities(logits_under(model, record, alpha), record.batch.classes)
            change = statistics.tvd(probs, record.probs[:, None])
            emptied = (dropped.any(-1) & ~(total[..., 0] > 0)).any(-1)
            changes.append(masking.fill(change, ~emptied, torch.nan))
    change = masking.fill(torch.cat(changes, 1), record.content, torch.nan)
    # Logits have a rounding error relative to their size, probabilities one relative to 1. Scaled
    # to sum to 1, rounding errors would look like importance.
    largest = record.logits.abs().amax(-1, keepdim=True).clamp_min(1)
    rounding = 4 * torch.finfo(record.logits.dtype).eps * largest
    change = masking.fill(change, ~(change <= rounding))
    return shares(tie_rounding(change, record.content, rounding), record.content)
