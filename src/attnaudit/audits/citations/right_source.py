"""Does the ranking find the sources that are known to be needed?"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from attnaudit.audits.declaration import Values, declaration_of, declares
from attnaudit.audits.evidence import evidence
from attnaudit.core.contract import AttentionModel, Record


@declares(declaration_of(evidence))
def right_source(
    model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int
) -> Values:
    """The audit `evidence` of scores (B,N), once per answer and not once per head.

    Returns
    -------
    dict of Tensor (B,1)
    """
    one_row = replace(record, alpha=record.alpha.mean(1, keepdim=True), mask=record.mask[:, :1])
    return evidence(model, one_row, scores, seed)
