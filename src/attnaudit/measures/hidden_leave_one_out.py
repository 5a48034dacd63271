"""How much does the prediction change when a hidden state is taken from the site? (Meister et al. 2021, table 6)"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.measures.gradient_norm import shares
from attnaudit.statistics.ties import tie_rounding

_ENTRIES = 2**22  # of alternative attention made at once


def hidden_leave_one_out(
    model: AttentionModel, record: Record, seed: int, *, renormalise: bool = False
) -> Tensor:
    """TVD(ŷ(item not at the site), ŷ) as shares over the items (B,N), D_ŷ(I): the text is encoded once, only the attention goes on without.

    The scores of the other items are projected anew, by the model's `attention_without`; for softmax that is renormalising, for sparse
    projections it is not. The paper does not say which. renormalise=true, or a model without that method: the weights are scaled up.
    NaN for items that do not count, where nothing would be left to attend to, and for all of a text in which no item matters.
    """
    own = None if renormalise else getattr(model, "attention_without", None)
    batch, rows, items = record.alpha.shape
    each = torch.eye(items, dtype=torch.bool, device=record.alpha.device)
    changes = []
    with torch.no_grad():
        for part in each.split(max(1, _ENTRIES // max(batch * rows * items, 1))):
            drop = part.expand(batch, -1, -1)
            taken = drop[:, :, None] & record.mask[:, None]  # (B,K,R,N)
            kept = record.mask[:, None] & ~taken
            weights = (
                own(record, drop) if own is not None else masking.fill(record.alpha[:, None], kept)
            )
            total = weights.sum(-1, keepdim=True)
            alpha = weights / total.where(total > 0, 1)
            probs = masking.probabilities(logits_under(model, record, alpha), record.batch.classes)
            change = statistics.tvd(probs, record.probs[:, None])
            emptied = (taken.any(-1) & ~(total[..., 0] > 0)).any(-1)
            changes.append(masking.fill(change, ~emptied, torch.nan))
    change = masking.fill(torch.cat(changes, 1), record.content, torch.nan)
    # Logits are known to a rounding of their size, probabilities to one of 1; made to sum to 1, rounding would look like importance.
    largest = record.logits.abs().amax(-1, keepdim=True).clamp_min(1)
    rounding = 4 * torch.finfo(record.logits.dtype).eps * largest
    change = masking.fill(change, ~(change <= rounding))
    return shares(tie_rounding(change, record.content, rounding), record.content)
