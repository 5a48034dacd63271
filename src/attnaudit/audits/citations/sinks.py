"""Where does the attention go that is not on the sources?"""

from __future__ import annotations

from torch import Tensor

from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.data.citations import MARKS, REST, START, CitationBatch


@declares(
    Declaration(
        question="Where does the attention go that is not on the sources?",
        metrics={
            "first_token": Metric("weight on the first token of the prompt", 0.0, 1.0),
            "special_tokens": Metric("weight on other special tokens", 0.0, 1.0),
            "rest": Metric("weight on instructions, question and answer", 0.0, 1.0),
            "sources": Metric("weight on the sources", 0.0, 1.0),
        },
    )
)
def sinks(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Values:
    """Shares of the attention (B,), averaged over all rows; they sum to 1."""
    if not isinstance(record.batch, CitationBatch):
        raise NotApplicable("it is about prompts with sources")
    weights = record.alpha.double().mean(1)
    return {
        ("", "first_token"): weights[:, START],
        ("", "special_tokens"): weights[:, MARKS],
        ("", "rest"): weights[:, REST],
        ("", "sources"): (weights * record.content).sum(-1),
    }
