"""Learn the task while keeping attention off certain words (Pruthi et al. 2020)."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import NOT_NEGATIVE, limits
from attnaudit.training.objectives.cross_entropy import label_loss

# Batch -> (B,T) bool: the tokens that must not be attended to.
Impermissible = Callable[[Batch], Tensor]


@limits(lam=NOT_NEGATIVE)
def deceptive(
    impermissible: Impermissible, *, lam: float
) -> Callable[[AttentionModel, Batch], Tensor]:
    """The objective -ln p(label) - lam · ln(1 - attention on impermissible tokens).

    The second term is the mean over the rows that are not padding.
    """

    def objective(model: AttentionModel, batch: Batch) -> Tensor:
        record = model.read(batch)
        mass = mass_on(record, impermissible(batch))
        # The bound keeps the loss finite for a text of impermissible words only.
        off = (1 - mass).clamp_min(1e-6).log()
        return label_loss(record.logits, batch) - lam * off[record.mask.any(-1)].mean()

    return objective


def mass_on(record: Record, tokens: Tensor) -> Tensor:
    """Total attention (B,R) on the items of the marked tokens (B,T)."""
    marked = tokens.to(record.alpha.dtype)
    items = masking.to_items(marked, record.item_of_token, record.content.shape[1]) > 0
    return masking.total(record.alpha, items[:, None] & record.mask)


def evidence(batch: Batch) -> Tensor:
    """The known evidence of the batch, as the tokens to hide."""
    if batch.evidence is None:
        raise InputError(
            "deceptive needs words to hide: give words=…, or use data with known evidence."
        )
    return batch.evidence
