"""Importance measures: how much does each item matter?

A measure is a function (model, record, seed) -> scores (B,N) or (B,R,N), higher = more important.
Options are keyword-only parameters, chosen as "name:option=value". It raises `NotApplicable` with
the reason if the question makes no sense for a model. Ties are found for it, up to its
`rounding.rounding_error`. Shape letters: B examples, T tokens, N items, R rows of attention,
C classes, E embedding, H hidden state.

A new measure is one file with that function, and one line in `MEASURES` below: the registry is the
only place that knows it.

Examples
--------
>>> from attnaudit.measures import MEASURES
>>> from attnaudit.models.glass import Glass, glass_batch
>>> model = Glass("oracle")
>>> record = model.read(glass_batch(3))
>>> MEASURES["leave_one_out"](model, record, 0).shape == record.content.shape
True
"""

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
from attnaudit.measures.value_zeroing import value_zeroing

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
    "value_zeroing": value_zeroing,
    "integrated_gradients": integrated_gradients,
    "shap": shap,
    "lime": lime,
    "deeplift": deeplift,
    "random": random,
}

# Run unless others are chosen. The rest cost many passes, or are of interest for some models only.
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

# Measures of importance that do not look at the attention. Only their agreement with each other is
# the ceiling of agreement with attention: any other ranking, a user's own among them, could lower
# the ceiling and so make the attention look good.
REFERENCE_MEASURES = ("gradient", "leave_one_out")

# Explanations that are compared if all are asked for; lime and shap cost many more passes.
EXPLANATIONS = (
    "attention",
    "head_mean",
    "rollout",
    "attention_norm",
    "input_times_gradient",
    "integrated_gradients",
    "leave_one_out",
    "random",
)
