"""Convolutions without each item: only its neighbours change, as the gap closes and each sees one item further.

A convolution is a sum over its taps, each a product with one item, and every product is computed once. A tap that looked at the
deleted item, or past it, now takes the product of the item one further out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from attnaudit.models.encoders.incremental_deletion import Changed, Deletions, nothing_changes


def cnn_deletions(convolutions: Sequence[Any], embeddings: Tensor, hidden: Tensor) -> Deletions:
    """convolutions of odd width with as many zeros around; embeddings (B,T,E) 0 on padding; ReLU afterwards, as in the encoder."""
    tokens = hidden.shape[1]
    reach = min(max(convolution.kernel_size[0] // 2 for convolution in convolutions), tokens - 1)
    offsets = [offset for offset in range(-reach, reach + 1) if offset]
    if not offsets:
        return nothing_changes(hidden)
    margin = reach + max(convolution.kernel_size[0] for convolution in convolutions) // 2 + 1
    taps = [_products(convolution, embeddings, margin) for convolution in convolutions]
    beside = torch.tensor(offsets, dtype=torch.int64, device=hidden.device)

    def changed(start: int, stop: int) -> Changed:
        place = torch.arange(start, stop, device=hidden.device)[:, None] + beside
        states = [
            torch.cat(
                [
                    _sum(products, convolution, start + margin + offset, stop - start, offset)
                    for products, convolution in zip(taps, convolutions, strict=True)
                ],
                -1,
            )
            for offset in offsets
        ]
        there = (place >= 0) & (place < tokens)
        return Changed(place.where(there, tokens), torch.stack(states, 2).relu_())

    return changed


def _products(convolution: nn.Conv1d, embeddings: Tensor, margin: int) -> Tensor:
    """(taps, margin + T + margin, B, F): what each tap makes of each item; 0 beyond the text."""
    filters, _, width = convolution.weight.shape
    weight = convolution.weight.permute(2, 0, 1).flatten(0, 1)
    products = linear(embeddings, weight).unflatten(-1, (width, filters))
    return pad(products.permute(2, 1, 0, 3), (0, 0, 0, 0, margin, margin)).contiguous()


def _sum(products: Tensor, convolution: nn.Conv1d, at: int, count: int, offset: int) -> Tensor:
    """(K,B,F): the convolution at the items from `at`, each without the item `offset` to its left (to its right below 0)."""
    assert convolution.bias is not None
    half = len(products) // 2
    total = convolution.bias.expand(count, products.shape[2], -1).clone()
    for tap, product in enumerate(products):
        seen = tap - half  # how far to the right this tap looks
        if offset < 0 and seen >= -offset:
            seen += 1
        if offset > 0 and seen <= -offset:
            seen -= 1
        total += product[at + seen : at + seen + count]
    return total
