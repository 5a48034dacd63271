"""How far apart are two models' attention and predictions on the same texts?"""

from __future__ import annotations

from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking
from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError


def divergence(first: Record, second: Record) -> dict[str, Tensor]:
    """JSD of the attentions (mean over rows), TVD of the predictions, the first's largest weight: each (B,).

    High jsd with low tvd: two stories for one answer. What two seeds of one model differ by anyway is the null to judge by.
    """
    if first.alpha.shape != second.alpha.shape:
        raise InputError(
            f"The two models must attend to the same items, got attention of {tuple(first.alpha.shape)} and {tuple(second.alpha.shape)}."
        )
    rows = statistics.jsd(first.alpha, second.alpha, first.mask)
    return {
        "jsd": masking.mean(rows, first.mask.any(-1)),
        "tvd": statistics.tvd(first.probs, second.probs),
        "max_attention": masking.mean(first.alpha.amax(-1).double(), first.mask.any(-1)),
    }
