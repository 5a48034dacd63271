"""How far apart are two models' attention and predictions on the same texts?"""

from __future__ import annotations

from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking
from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError


def divergence(first: Record, second: Record) -> dict[str, Tensor]:
    """JSD of the attention (mean over rows), TVD of the predictions, largest weight of the first.

    High JSD with low TVD: two different explanations of the same prediction. Judge both against
    the distances between two seeds of one model.

    Parameters
    ----------
    first, second : records of the same batch, with attention of the same shape (B,R,N).

    Returns
    -------
    "jsd", "tvd" and "max_attention", each (B,).

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> record = Glass("oracle").read(glass_batch(2))
    >>> divergence(record, record)["tvd"].tolist()
    [0.0, 0.0]
    """
    if first.alpha.shape != second.alpha.shape:
        raise InputError(
            "The two models must attend to the same items, got attention of shape "
            f"{tuple(first.alpha.shape)} and {tuple(second.alpha.shape)}."
        )
    rows = statistics.jsd(first.alpha, second.alpha, first.mask)
    return {
        "jsd": masking.mean(rows, first.mask.any(-1)),
        "tvd": statistics.tvd(first.probs, second.probs),
        "max_attention": masking.mean(first.alpha.amax(-1).double(), first.mask.any(-1)),
    }
