"""Distances between the attention and the predictions of two models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import entropy

from attnaudit.core.contract import Batch
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.training.comparisons import divergence
from attnaudit.training.objectives.deceptive import mass_on


def test_divergence_is_scipys() -> None:
    first, second = (Glass(kind).read(glass_batch(20)) for kind in ("oracle", "shifted"))
    found = divergence(first, second)
    for at in range(20):
        real = first.mask[at, 0]
        p, q = (record.alpha[at, 0, real].double().numpy() for record in (first, second))
        expected = (entropy(p, (p + q) / 2) + entropy(q, (p + q) / 2)) / 2
        assert found["jsd"][at].item() == pytest.approx(expected, abs=1e-6)
        expected = np.abs((first.probs - second.probs)[at].numpy()).sum() / 2
        assert found["tvd"][at].item() == pytest.approx(expected, abs=1e-6)


def test_padding_sentences_change_no_number_of_a_text() -> None:
    parts = Architecture(model="hierarchical:site=word", encoder="none", embedding=6)
    models = [
        build(parts, words=30, classes=2, with_query=False, seed=seed).eval().double()
        for seed in (0, 1)
    ]
    tokens = torch.tensor([[1, 5, 6, 7, 8, 9, 10, 2], [1, 11, 12, 13, 2, 0, 0, 0]])
    sentences = torch.tensor([[0, 0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 0, 0, 0, 0, 0]])
    batch = Batch(("a", "b"), tokens, tokens > 0, segments=sentences)
    alone = Batch(("b",), tokens[1:, :5], tokens[1:, :5] > 0, segments=sentences[1:, :5])
    with torch.no_grad():
        together, single = (
            divergence(*(model.read(each) for model in models)) for each in (batch, alone)
        )
        for name, values in single.items():
            assert float(together[name][1]) == pytest.approx(float(values[0])), name
        record = models[0].read(batch)
    assert (~record.mask.any(-1)).any()  # some row is padding
    assert mass_on(record, batch.tokens == 11).shape == record.mask.shape[:2]
