"""What padding changes: nothing in the package's own and in Hugging Face models."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from attnaudit import from_huggingface
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.laws.padding_effect import is_padded, padding_effect, shortened_pair
from attnaudit.models.glass import Glass, glass_batch
from padding_cases import Recurrent, hooked, texts
from random_models import random_model, short_texts
from tiny_transformers import FAMILIES, texts_for, tiny

ROWS = ([5, 6, 7, 8, 9, 5], [16, 17], [18, 5, 6], [7, 8, 9, 5], [19])
SENTENCES = ([0, 0, 1, 1, 2, 2], [0, 0], [0, 1, 1], [0, 0, 0, 1], [0])


def evaluated(model: Any) -> AttentionModel:
    model.inner.model.eval()
    return model


@pytest.mark.parametrize("shortened", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("leave_out", ["delete", "pad"])
@pytest.mark.parametrize("name", FAMILIES)
def test_padding_changes_no_transformer(
    name: str, dtype: torch.dtype, leave_out: str, shortened: bool
) -> None:
    network, tokenizer = tiny(name)
    model = from_huggingface(network.to(dtype), tokenizer, layers="all", leave_out=leave_out)
    (batch,) = model.batches(texts_for(name))
    made = shortened_pair(batch) if shortened else batch
    assert made is not None
    assert is_padded(made)
    assert padding_effect(model, made) is None


@pytest.mark.parametrize("shortened", [False, True])
@pytest.mark.parametrize(
    ("choices", "query", "sentences"),
    [
        ({}, False, None),
        ({"encoder": "transformer:layers=2,heads=2"}, False, None),
        ({"encoder": "cnn"}, False, None),
        ({}, True, None),
        ({"model": "hierarchical:site=sentence"}, False, SENTENCES),
        ({"model": "hierarchical:site=word"}, False, SENTENCES),
    ],
)
def test_padding_changes_no_model_of_the_package(
    choices: dict[str, Any], query: bool, sentences: Any, shortened: bool
) -> None:
    model = random_model(4, query, spread=0.7, **choices)
    batch: Batch | None = short_texts(ROWS, sentences=sentences, query=query)
    assert batch is not None
    batch = shortened_pair(batch) if shortened else batch
    assert batch is not None
    assert is_padded(batch)
    assert padding_effect(model, batch) is None


def test_the_padding_of_a_query_counts() -> None:
    class OfQuery:
        """Its logits depend on how wide the query is."""

        inner = Glass("oracle")

        def read(self, batch: Batch, embeddings: Any = None) -> Any:
            record = self.inner.read(batch, embeddings)
            assert batch.query is not None
            error = torch.tensor([1.0, -1.0]) * batch.query.shape[1]
            return replace(record, logits=record.logits + error)

        def decode(self, record: Any, alpha: Any) -> Any:
            return self.inner.decode(record, alpha)

    whole = glass_batch(4)
    batch = whole.rows(whole.mask.all(-1).nonzero()[:1, 0].repeat(2))
    asked = torch.tensor([[1, 2, 3], [4, 0, 0]])
    batch = replace(batch, query=asked, query_mask=asked > 0)
    assert is_padded(batch)
    effect = padding_effect(OfQuery(), batch)
    assert effect is not None
    assert effect.probability > 0.1
    assert effect.weight == 0.0
    assert not is_padded(replace(batch, query_mask=torch.ones_like(asked, dtype=torch.bool)))


def test_a_shortened_pair_is_a_text_and_its_ends() -> None:
    batch = texts([2, 6])
    pair = shortened_pair(batch)
    assert pair is not None
    ends = torch.tensor([0, 3, 4, 5])
    assert pair.mask.sum(-1).tolist() == [6, 4]
    assert pair.tokens[0].tolist() == batch.tokens[1].tolist()
    assert pair.tokens[1, :4].tolist() == batch.tokens[1, ends].tolist()
    assert shortened_pair(texts([2, 1])) is None


@pytest.mark.parametrize("packed", [False, True])
def test_a_shortened_text_shows_that_padding_is_read(packed: bool) -> None:
    pair = shortened_pair(texts([6, 6]))
    assert pair is not None
    effect = padding_effect(evaluated(hooked(Recurrent(packed=packed))), pair)
    assert (effect is None) == packed
