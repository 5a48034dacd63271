"""DeepLIFT against its rules, layer by layer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures.deeplift import deeplift
from attribution_cases import (
    TEXTS,
    Pairs,
    batch_of,
    case,
    made,
)
from random_models import CANDIDATES


def contrast(model: Any, record: Record) -> Tensor:
    """The output weights (B,H) of the predicted class minus the mean over classes."""
    weight = model.output.context.weight.detach()
    return weight[record.predicted] - weight.mean(0)


@pytest.mark.parametrize("projection", ["uniform", "softmax"])
@pytest.mark.parametrize(
    "encoder", ["none", "mlp:hidden=5", "mlp:hidden=5,activation=tanh", "mlp:hidden=5,layers=2"]
)
def test_deeplift_follows_the_rescale_rule(encoder: str, projection: str) -> None:
    """Layer by layer in NumPy: multipliers are Δout/Δin at activations, weights elsewhere.

    The attention is uniform or fixed.
    """
    model = made(3, encoder=encoder, projection=projection)
    with torch.no_grad():
        record = model.read(batch_of())
    held = projection == "softmax"
    found = deeplift(model, record, 0, hold_attention=held, signed=True)
    if held:
        with pytest.raises(NotApplicable, match="hold_attention=true leaves the latter out"):
            deeplift(model, record, 0)
    words = record.embeddings.numpy()
    steps = [] if encoder == "none" else list(model.encoder.network)
    inside = [(words, np.zeros_like(words))]
    for step in steps:
        inside.append(tuple(step(torch.tensor(each)).detach().numpy() for each in inside[-1]))  # type: ignore[arg-type]
    slope = record.alpha[:, 0, :, None].numpy() * contrast(model, record)[:, None].numpy()
    for step, before, after in reversed(list(zip(steps, inside, inside[1:], strict=False))):
        if isinstance(step, nn.Linear):
            slope = slope @ step.weight.detach().numpy()
        else:
            change = before[0] - before[1]
            slope = slope * (after[0] - after[1]) / np.where(change == 0, 1, change)
    expected = (slope * words).sum(-1)
    real = record.content.numpy()
    np.testing.assert_allclose(found.numpy()[real], expected[real], atol=1e-9)
    assert found[~record.content].isnan().all()


def test_deeplift_explains_the_logit_minus_the_mean_over_candidates() -> None:
    model = made(4, True, encoder="none", projection="uniform")
    with torch.no_grad():
        record = model.read(batch_of(query=True, candidates=True))
    found = deeplift(model, record, 0, signed=True)
    weight = model.output.context.weight.detach()
    for index, text in enumerate(TEXTS):
        against = weight[int(record.predicted[index])] - weight[CANDIDATES[index]].mean(0)
        expected = (record.embeddings[index, 1 : len(text) + 1] @ against).numpy() / len(text)
        np.testing.assert_allclose(found[index, 1 : len(text) + 1], expected, atol=1e-12)


@pytest.mark.parametrize("name", ["bilstm", "query, candidates", "transformer", "sparsemax"])
def test_deeplift_does_not_apply_if_contributions_do_not_add_up(name: str) -> None:
    model, record = case(name)
    with pytest.raises(
        NotApplicable, match=r"do not add up: in \d of 5 texts, by up to [\d.e-]+ where they sum"
    ):
        deeplift(model, record, 0)
    deeplift(model, record, 0, tolerance=1e9)  # only the tolerance stood in the way


def contrast_of_pairs(model: Pairs, record: Record) -> Tensor:
    return model.out.T[record.predicted] - model.out.mean(-1)


def test_deeplift_finds_the_modules_of_a_plain_object() -> None:
    model, record = case("pairs")
    found = deeplift(model, record, 0, hold_attention=True, signed=True)
    assert found[record.content].isfinite().all()
    bent = torch.tanh(record.embeddings @ model.inner)
    against = contrast_of_pairs(model, record)
    per_token = (bent * against[:, None]).sum(-1) * record.alpha[:, 0].gather(
        1, record.item_of_token.clamp_min(0)
    )
    expected = masking.to_items(per_token, record.item_of_token, record.content.shape[1])
    np.testing.assert_allclose(found[record.content], expected[record.content], atol=1e-9)


def test_deeplift_does_not_apply_to_a_module_used_twice() -> None:
    class Twice(Pairs):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            embeddings = self.table[batch.tokens] if embeddings is None else embeddings
            found = super().read(batch, self.bend(embeddings))
            return replace(found, embeddings=embeddings)

    model = Twice()
    record = model.read(batch_of())
    with pytest.raises(NotApplicable, match="one activation module twice"):
        deeplift(model, record, 0)
    assert set(vars(model.bend)) == set(vars(nn.Tanh()))
