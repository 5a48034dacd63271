"""Gradients of a confident model in float32."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from attnaudit import statistics
from attnaudit.core.contract import Batch
from attnaudit.measures import MEASURES
from attnaudit.models import Architecture, build


def _batch(count: int = 24) -> Batch:
    draw = np.random.default_rng(0)
    texts = [[1, *draw.integers(5, 60, 12).tolist(), 2] for _ in range(count)]
    tokens = torch.tensor(texts)
    return Batch(tuple(map(str, range(count))), tokens, tokens > 0)


@pytest.mark.parametrize("measure", ["gradient", "attention_gradient", "input_times_gradient"])
def test_gradients_of_a_confident_model_are_the_same_in_float32(measure: str) -> None:
    """With a gap of 16 between the logits, the gradient of softmax loses size and direction."""
    parts = Architecture(encoder="bilstm:hidden=8", embedding=12)
    model = build(parts, words=60, classes=3, with_query=False, seed=1).eval()
    batch = _batch()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
        gap = model.read(batch).logits.sort(-1).values.diff(dim=-1)[:, -1].median()
        for parameter in model.output.parameters():
            parameter.mul_(16 / gap)
    single = MEASURES[measure](model, model.read(batch), 0)
    double = MEASURES[measure](model.double(), model.read(batch), 0)
    mask = model.read(batch).content
    x, y = (score if score.dim() == 2 else score[:, 0] for score in (single, double))
    tau = statistics.kendall(x.double(), y, mask)[0]
    assert tau.min() > 0.95
