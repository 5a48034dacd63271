"""Attention through the layers, against a product of matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnaudit.core.errors import NotApplicable
from attnaudit.measures.rollout import rollout
from attnaudit.models.glass import Glass, glass_batch
from gradient_cases import (
    TEXTS,
    batch_of,
    case,
    made,
    same,
)


@pytest.mark.parametrize("heads", [1, 2])
@torch.no_grad()
def test_rollout_equals_the_product_of_the_layers(heads: int) -> None:
    model = made(2, False, encoder=f"transformer:hidden=6,heads={heads},layers=3")
    record = model.read(batch_of())
    layers = model.self_attention(record).numpy()
    assert layers.shape == (
        len(TEXTS),
        3,
        record.batch.tokens.shape[1],
        record.batch.tokens.shape[1],
    )
    found = rollout(model, record, 0)
    for index, text in enumerate(TEXTS):
        size = len(text) + 2
        rolled = np.eye(size)
        for layer in layers[index, :, :size, :size]:
            rolled = 0.5 * (layer + np.eye(size)) @ rolled
        same(found[index, 0, :size], record.alpha[index, 0, :size].numpy() @ rolled, 1e-12)
        assert (found[index, 0, size:] == 0).all()
    same(found.sum(-1), np.ones((len(TEXTS), 1)), 1e-12)
    assert (found - record.alpha).abs().max() > 1e-2


@torch.no_grad()
def test_the_layers_are_those_of_the_encoder() -> None:
    """By hand from the weights, head by head; the states they lead to are the encoder's."""
    model = made(2, False, encoder="transformer:hidden=6,heads=2,layers=2")
    record = model.read(batch_of())
    encoder, index, size = model.encoder, 4, len(TEXTS[4]) + 2
    place = torch.arange(size)[:, None] * torch.exp(-math.log(10_000) * torch.arange(0, 6, 2) / 6)
    hidden = encoder.enter(record.embeddings[index, :size]) + torch.cat(
        [place.sin(), place.cos()], -1
    )
    for number, layer in enumerate(encoder.layers):
        query, key, value = layer.project(layer.before_attention(hidden)).split(6, -1)
        weights, mixed = [], []
        for head in (slice(0, 3), slice(3, 6)):
            weights.append((query[:, head] @ key[:, head].T / math.sqrt(3)).softmax(-1))
            mixed.append(weights[-1] @ value[:, head])
        same(model.self_attention(record)[index, number, :size, :size], sum(weights) / 2, 1e-12)
        hidden = hidden + layer.join(torch.cat(mixed, -1))
        hidden = hidden + layer.network(layer.before_network(hidden))
    same(record.hidden[index, :size], encoder.leave(hidden), 1e-12)


def test_rollout_does_not_apply_without_layers() -> None:
    model, record = case("bilstm")
    with pytest.raises(NotApplicable, match="bilstm:hidden=3 has no self-attention layers"):
        rollout(model, record, 0)
    glass = Glass("oracle")
    with pytest.raises(NotApplicable, match="no layers of self-attention below the site"):
        rollout(glass, glass.read(glass_batch(2)), 0)
