"""Convolutions without each item: only the states near the deleted item change.

A convolution is a sum of products of its taps with one item each, and every product is computed
once. A tap that was on the deleted item, or beyond it, takes the product of the next item out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import conv1d

from attnaudit.models.encoders.deletion_protocol import Deletions, StateChanges, nothing_changes


def cnn_deletions(convolutions: Sequence[Any], embeddings: Tensor, hidden: Tensor) -> Deletions:
    """Return the state changes under deletion, see `deletion_protocol`.

    The convolutions have odd widths and keep the length; embeddings (B,T,E) are 0 on padding.
    """
    tokens = hidden.shape[1]
    reach = min(max(convolution.kernel_size[0] // 2 for convolution in convolutions), tokens - 1)
    offsets = [offset for offset in range(-reach, reach + 1) if offset]
    if not offsets:
        return nothing_changes(hidden)
    margin = reach + max(convolution.kernel_size[0] for convolution in convolutions) // 2 + 1
    taps = _products(convolutions, embeddings, margin)
    neighbours = torch.tensor(offsets, dtype=torch.int64, device=hidden.device)

    def changed(start: int, stop: int) -> StateChanges:
        position = torch.arange(start, stop, device=hidden.device)[:, None] + neighbours
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
        in_text = (position >= 0) & (position < tokens)
        return StateChanges(position.where(in_text, tokens), torch.stack(states, 2).relu_())

    return changed


def _products(convolutions: Sequence[Any], embeddings: Tensor, margin: int) -> list[Tensor]:
    """Return the products of each tap with each item (taps, margin + T + margin, B, F).

    One tensor per convolution. Products are 0 beyond the text.
    """
    # By a convolution of width 1: on a CPU a linear layer takes 1.4 times as long.
    weights = [each.weight.permute(2, 0, 1) for each in convolutions]  # (taps,F,E)
    together = torch.cat([weight.flatten(0, 1) for weight in weights])[..., None]
    products = conv1d(embeddings.transpose(1, 2), together)  # (B, taps and filters, T)
    examples, items = embeddings.shape[:2]
    taps, first = [], 0
    for width, filters, _ in (weight.shape for weight in weights):
        part = products[:, first : first + width * filters].unflatten(1, (width, filters))
        padded = part.new_zeros(width, margin + items + margin, examples, filters)
        padded[:, margin : margin + items] = part.permute(1, 3, 0, 2)
        taps.append(padded)
        first += width * filters
    return taps


def _sum(products: Tensor, convolution: nn.Conv1d, start: int, count: int, offset: int) -> Tensor:
    """Return the convolution at `count` items from `start` on (K,B,F).

    Each without the item that is `offset` to its left, or to its right if `offset` is negative.
    """
    assert convolution.bias is not None
    half = len(products) // 2
    total = convolution.bias.expand(count, products.shape[2], -1).clone()
    for tap, product in enumerate(products):
        distance = tap - half  # from the item to the right
        if offset < 0 and distance >= -offset:
            distance += 1
        if offset > 0 and distance <= -offset:
            distance -= 1
        total += product[start + distance : start + distance + count]
    return total
