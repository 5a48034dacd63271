"""Convolutions without each item: only its neighbours change, as the gap closes and each sees one item further.

A convolution is a sum over its taps, each a product with one item; every product is computed once. Where the deleted item stood d
to the right of an item (d < 0 to the left), the taps that reach it and beyond take the product of the next item out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from attnaudit.encoders.deletion import Changed, Deletions


def cnn_deletions(convolutions: Sequence[Any], embeddings: Tensor, hidden: Tensor) -> Deletions:
    """convolutions of odd width with as many zeros around; embeddings (B,T,E) 0 on padding; ReLU afterwards, as in the encoder."""
    tokens = hidden.shape[1]
    reach = min(max(convolution.kernel_size[0] // 2 for convolution in convolutions), tokens - 1)
    offsets = [offset for offset in range(-reach, reach + 1) if offset]
    margin = 2 * max(convolution.kernel_size[0] for convolution in convolutions)
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
        together = (
            torch.stack(states, 2)
            if states
            else hidden.new_empty(stop - start, len(hidden), 0, hidden.shape[2])
        )
        return Changed(place.where((place >= 0) & (place < tokens), tokens), together.relu_())

    return changed


def _products(convolution: nn.Conv1d, embeddings: Tensor, margin: int) -> Tensor:
    """(taps, margin + T + margin, B, F): what each tap makes of each item; 0 beyond the text."""
    filters, _, width = convolution.weight.shape
    weight = convolution.weight.permute(2, 0, 1).flatten(0, 1)
    products = linear(embeddings, weight).unflatten(-1, (width, filters))
    return pad(products.permute(2, 1, 0, 3), (0, 0, 0, 0, margin, margin)).contiguous()


def _sum(products: Tensor, convolution: nn.Conv1d, at: int, count: int, offset: int) -> Tensor:
    """(K,B,F): the convolution at the items from `at`, each without the item that stands `offset` before it."""
    assert convolution.bias is not None
    half = len(products) // 2
    total = convolution.bias.expand(count, products.shape[2], -1).clone()
    for tap, product in enumerate(products):
        seen = tap - half  # how far to the right this tap looks
        # The deleted item is -offset to the right: a look that reaches it or passes over it goes one further.
        if offset < 0 and seen >= -offset:
            seen += 1
        if offset > 0 and seen <= -offset:
            seen -= 1
        total += product[at + seen : at + seen + count]
    return total
