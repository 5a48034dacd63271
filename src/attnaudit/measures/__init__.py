"""Measures: (model, record, seed) -> scores (B,N) or (B,R,N), higher = more important; how much does each item matter?"""

from collections.abc import Callable

from torch import Tensor

from attnaudit.measures.attention import attention
from attnaudit.measures.attention_gradient import attention_gradient, attention_times_gradient
from attnaudit.measures.gradient import gradient
from attnaudit.measures.leave_one_out import leave_one_out
from attnaudit.measures.random import random

Measure = Callable[..., Tensor]

MEASURES: dict[str, Measure] = {
    "attention": attention,
    "gradient": gradient,
    "leave_one_out": leave_one_out,
    "attention_gradient": attention_gradient,
    "attention_times_gradient": attention_times_gradient,
    "random": random,
}

# Run where none are asked for: the others cost many passes, or are of interest to some models only.
DEFAULT_MEASURES = tuple(MEASURES)

# Measures that say what matters without asking the attention: only they set the ceiling of agreement, since any other ranking,
# a user's own among them, could lower it and so make the attention look good.
WITNESSES = ("gradient", "leave_one_out")
