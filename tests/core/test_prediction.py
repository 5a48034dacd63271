"""The logits of a batch that is read in several passes are those of reading it whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attnaudit.core import prediction
from attnaudit.core.contract import Batch
from attnaudit.core.prediction import logits_of
from attnaudit.models import Architecture, build


def _batch(examples: int = 40, words: int = 12, *, query: bool = False) -> Batch:
    source = torch.Generator().manual_seed(3)
    length = torch.randint(1, words + 1, (examples, 1), generator=source)
    mask = torch.arange(words) < length
    tokens = torch.randint(4, 30, (examples, words), generator=source).masked_fill(~mask, 0)
    batch = Batch(tuple(map(str, range(examples))), tokens, mask)
    if query:
        asked = torch.randint(4, 30, (examples, 3), generator=source)
        batch = replace(batch, query=asked, query_mask=torch.ones_like(asked, dtype=torch.bool))
    return batch


class _Counting:
    """Count the passes of a model and the tokens in them."""

    def __init__(self, model):
        self.model, self.shapes = model, []

    def read(self, batch, embeddings=None):
        self.shapes.append(tuple(batch.tokens.shape))
        return self.model.read(batch, embeddings)


@pytest.mark.parametrize("encoder", ["bilstm:hidden=4", "cnn:filters=4", "transformer:hidden=8"])
@pytest.mark.parametrize("query", [False, True])
def test_several_passes_give_the_logits_of_one(monkeypatch, encoder, query):
    torch.manual_seed(0)
    architecture = Architecture(encoder=encoder, embedding=6)
    model = build(architecture, words=30, classes=3, with_query=query).eval()
    batch = _batch(query=query)
    monkeypatch.setattr(prediction, "_TOKENS_ON_CPU", 64)
    counting = _Counting(model)
    with torch.no_grad():
        logits, whole = logits_of(counting, batch), model.read(batch).logits
    assert len(counting.shapes) > 4
    assert all(rows * width <= 64 for rows, width in counting.shapes)
    assert torch.allclose(logits, whole, atol=1e-6)
    assert not torch.allclose(logits, whole.roll(1, 0), atol=1e-3)  # the order is kept


def test_a_small_batch_is_read_as_it_is():
    model = build(
        Architecture(encoder="mlp:hidden=4", embedding=6), words=30, classes=2, with_query=False
    )
    counting = _Counting(model.eval())
    logits_of(counting, _batch(5))
    assert counting.shapes == [(5, 12)]


def test_gaps_in_a_mask_are_not_closed(monkeypatch):
    torch.manual_seed(0)
    model = build(
        Architecture(encoder="cnn:filters=4", embedding=6), words=30, classes=2, with_query=False
    ).eval()
    batch = _batch()
    gaps = replace(batch, mask=batch.mask & (torch.arange(12) % 3 != 1))
    monkeypatch.setattr(prediction, "_TOKENS_ON_CPU", 64)
    with torch.no_grad():
        assert torch.equal(logits_of(model, gaps), model.read(gaps).logits)
