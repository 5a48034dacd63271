"""Measures: (model, record, seed) -> scores (B,N) or (B,R,N), higher = more important; how much does each item matter?"""

from collections.abc import Callable

from torch import Tensor

from attnaudit.measures.attention import attention
from attnaudit.measures.attention_gradient import attention_gradient, attention_times_gradient
from attnaudit.measures.attention_norm import attention_norm
from attnaudit.measures.deeplift import deeplift
from attnaudit.measures.gradient import gradient
from attnaudit.measures.gradient_norm import gradient_norm
from attnaudit.measures.head_mean import head_mean
from attnaudit.measures.hidden_gradient import hidden_gradient
from attnaudit.measures.hidden_leave_one_out import hidden_leave_one_out
from attnaudit.measures.influence import influence
from attnaudit.measures.input_times_gradient import input_times_gradient
from attnaudit.measures.integrated_gradients import integrated_gradients
from attnaudit.measures.leave_one_out import leave_one_out
from attnaudit.measures.lime import lime
from attnaudit.measures.random import random
from attnaudit.measures.rollout import rollout
from attnaudit.measures.shap import shap

Measure = Callable[..., Tensor]

MEASURES: dict[str, Measure] = {
    "attention": attention,
    "gradient": gradient,
    "leave_one_out": leave_one_out,
    "gradient_norm": gradient_norm,
    "input_times_gradient": input_times_gradient,
    "hidden_gradient": hidden_gradient,
    "hidden_leave_one_out": hidden_leave_one_out,
    "attention_gradient": attention_gradient,
    "attention_times_gradient": attention_times_gradient,
    "attention_norm": attention_norm,
    "head_mean": head_mean,
    "influence": influence,
    "rollout": rollout,
    "integrated_gradients": integrated_gradients,
    "shap": shap,
    "lime": lime,
    "deeplift": deeplift,
    "random": random,
}

# Run where none are asked for: the others cost many passes, or are of interest to some models only.
DEFAULT_MEASURES = (
    "attention",
    "gradient",
    "leave_one_out",
    "gradient_norm",
    "hidden_gradient",
    "hidden_leave_one_out",
    "attention_gradient",
    "attention_times_gradient",
    "attention_norm",
    "random",
)

# Measures that say what matters without asking the attention: only they set the ceiling of agreement, since any other ranking,
# a user's own among them, could lower it and so make the attention look good.
WITNESSES = ("gradient", "leave_one_out")

# Made of attention weights alone: positive numbers, whose rounding is relative to each of them and not to the largest.
OF_WEIGHTS = ("attention", "attention_norm", "head_mean", "rollout")
