"""Learn the task while keeping attention off certain words (Pruthi et al. 2020): can the heatmap be made to lie?"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import NOT_NEGATIVE, limits
from attnaudit.training.objectives.cross_entropy import label_loss

Impermissible = Callable[
    [Batch], Tensor
]  # batch -> (B,T) bool, the tokens that must not be attended


@limits(lam=NOT_NEGATIVE)
def deceptive(
    impermissible: Impermissible, *, lam: float
) -> Callable[[AttentionModel, Batch], Tensor]:
    """The objective -ln p(label) - lam · ln(1 - attention on impermissible tokens), mean over the rows that attend to anything, and batch."""

    def objective(model: AttentionModel, batch: Batch) -> Tensor:
        record = model.read(batch)
        mass = mass_on(record, impermissible(batch))
        # A text of nothing but impermissible words cannot obey; the bound keeps its loss finite.
        off = (1 - mass).clamp_min(1e-6).log()
        return label_loss(record.logits, batch) - lam * off[record.mask.any(-1)].mean()

    return objective


def mass_on(record: Record, tokens: Tensor) -> Tensor:
    """Attention on the items of the tokens (B,T): (B,R)."""
    items = (
        masking.to_items(
            tokens.to(record.alpha.dtype), record.item_of_token, record.content.shape[1]
        )
        > 0
    )
    return masking.total(record.alpha, items[:, None] & record.mask)


def evidence(batch: Batch) -> Tensor:
    """The known evidence is what must not be seen."""
    if batch.evidence is None:
        raise InputError(
            "deceptive needs to know which words to hide: give words=…, or data with known evidence."
        )
    return batch.evidence
