"""Attention rows have the names their model gives them, stored with the results."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import attnaudit
from attnaudit import Batch, InputError, from_hooks
from attnaudit.data import random_batch
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.huggingface import from_huggingface
from tiny_transformers import TEXTS, tiny

WORDS = 40


def audited(model: Any, data: Any) -> dict[str, Any]:
    about = attnaudit.audit(
        model, data, audits=["uniform_attention"], measures=[], show_progress=False
    ).about
    assert about["row_names"] is None or len(about["row_names"]) == about["rows"]
    return about


def test_rows_are_named_by_layer_and_head_of_the_model() -> None:
    model = from_huggingface(*tiny("bert"), layers=[0, -1], heads=[3, 1])
    names = ["layer 0 head 1", "layer 0 head 3", "layer 2 head 1", "layer 2 head 3"]
    assert audited(model, TEXTS)["row_names"] == names
    every = from_huggingface(*tiny("bert"), layers="all")
    (batch,) = every.batches(TEXTS)
    record = every.read(batch)
    chosen = [every.row_names(record).index(name) for name in names]
    assert torch.equal(model.read(batch).alpha, record.alpha[:, chosen])


def test_rows_of_cross_attention_are_named() -> None:
    model = from_huggingface(*tiny("bart"), layers=1, heads=[0, 2])
    assert audited(model, TEXTS)["row_names"] == [
        "cross-attention layer 1 head 0",
        "cross-attention layer 1 head 2",
    ]


class SelfAttention(nn.Module):
    """Reads the first position, or the mean over all of them."""

    def __init__(self, pooled: bool, heads: int = 2) -> None:
        super().__init__()
        self.pooled = pooled
        self.embedding = nn.Embedding(WORDS, 8)
        self.attention = nn.MultiheadAttention(8, heads, batch_first=True)
        self.output = nn.Linear(8, 2)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        embedded = self.embedding(tokens)
        hidden = self.attention(embedded, embedded, embedded, key_padding_mask=~mask)[0]
        return self.output((hidden * mask[..., None]).sum(1) if self.pooled else hidden[:, 0])


def hooked(model: nn.Module, **options: Any) -> Any:
    return from_hooks(model, alpha="attention", embedding="embedding", **options)


def test_rows_of_a_hooked_model_are_named_by_head_and_position() -> None:
    batch = random_batch(words=WORDS, with_query=False, seed=0)
    width = batch.tokens.shape[1]
    assert audited(hooked(SelfAttention(pooled=False)), batch)["row_names"] == ["head 0", "head 1"]
    assert audited(hooked(SelfAttention(pooled=False), heads=[1, 0]), batch)["row_names"] == [
        "head 1",
        "head 0",
    ]
    pooled = audited(hooked(SelfAttention(pooled=True)), batch)["row_names"]
    assert pooled[:3] == ["position 0 head 0", "position 0 head 1", "position 1 head 0"]
    assert len(pooled) == 2 * width
    one_head = audited(hooked(SelfAttention(pooled=True, heads=1)), batch)["row_names"]
    assert one_head == [f"position {index}" for index in range(width)]


@pytest.mark.parametrize(
    ("site", "names"),
    [("word", ["sentence 0", "sentence 1", "sentence 2"]), ("sentence", ["sentence attention"])],
)
def test_rows_of_the_hierarchical_model_are_named_by_sentence(site: str, names: list[str]) -> None:
    torch.manual_seed(0)
    parts = Architecture(model=f"hierarchical:site={site}", encoder="none", embedding=6)
    model = build(parts, words=WORDS, classes=2, with_query=False)
    tokens = torch.tensor([[5, 6, 7, 8, 9, 10], [11, 12, 13, 0, 0, 0]])
    segments = torch.tensor([[0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0]])
    long = Batch(("a", "b"), tokens, tokens > 0, segments=segments)
    short = Batch(("c",), tokens[1:, :3], tokens[1:, :3] > 0, segments=segments[1:, :3])
    assert (
        audited(model, [short, long])["row_names"] == names
    )  # those of the batch with the most rows


def test_a_model_without_names_has_none() -> None:
    assert audited(Glass("oracle"), glass_batch(3))["row_names"] is None


@pytest.mark.parametrize("names", [["one", "two"], [], "attention"])
def test_names_that_do_not_match_the_rows_are_rejected(names: Any) -> None:
    class Misnamed(Glass):
        def row_names(self, record: Any) -> Any:
            return names

    with pytest.raises(
        InputError, match=re.escape("must return 1 different names, one per row of attention")
    ):
        audited(Misnamed("oracle"), glass_batch(3))
