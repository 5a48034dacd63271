"""How much does each source matter for an answer? Attention in several forms, and the witnesses.

Each is a measure (model, record, seed) -> scores (B,N), higher = more important, for models that
can leave sources out (`keep_only`). The log-probability is the mean over the answer's tokens.
"""

from collections.abc import Callable

from torch import Tensor

from attnaudit.measures.citations.attention import (
    attention,
    attention_renormalised,
    attention_shuffled,
    calibrated_attention,
    named_heads,
    rollout,
)
from attnaudit.measures.citations.gradient import gradient
from attnaudit.measures.citations.leave_one_out import leave_one_out
from attnaudit.measures.citations.surrogate import surrogate
from attnaudit.measures.random import random

CITATION_MEASURES: dict[str, Callable[..., Tensor]] = {
    "attention": attention,
    "attention_renormalised": attention_renormalised,
    "calibrated_attention": calibrated_attention,
    "attention_shuffled": attention_shuffled,
    "rollout": rollout,
    "named_heads": named_heads,
    "gradient": gradient,
    "surrogate": surrogate,
    "leave_one_out": leave_one_out,
    "random": random,
}

# Run unless others are chosen: all but the heads, which have to be named.
DEFAULT_CITATION_MEASURES = tuple(name for name in CITATION_MEASURES if name != "named_heads")
# Those that compare orders of whole sources, and say nothing of words.
OF_SOURCES_ONLY = ("attention_shuffled",)
# Those that do not look at attention.
WITNESSES = ("gradient", "surrogate", "leave_one_out")
