"""A bidirectional recurrent network without each item of a range.

Going right, the states before the deleted item do not change; going left, those after it do not.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from attnaudit.core import memory_budget
from attnaudit.models.encoders import deletion_protocol
from attnaudit.models.encoders.deletion_protocol import Deletions, StateChanges
from attnaudit.models.encoders.recurrent_direction import make_direction
from attnaudit.models.encoders.recurrent_ways import recurrent_ways
from attnaudit.models.encoders.recurrent_windows import window


def recurrent_deletions(
    networks: Sequence[nn.LSTM | nn.GRU], embeddings: Tensor, mask: Tensor, hidden: Tensor
) -> Deletions:
    """Return the state changes under deletion, see `deletion_protocol`.

    networks: one layer going right and one going left; hidden (B,T,2·H) is their output.
    """
    batch, tokens, size = hidden.shape
    if tokens >= deletion_protocol.LONG_TEXT:
        return _near(networks, embeddings, mask, hidden)
    items = torch.arange(tokens, device=hidden.device)
    ways = recurrent_ways(networks, embeddings, mask, hidden)

    def changed(start: int, stop: int) -> StateChanges:
        after = hidden.expand(stop - start, batch, tokens, size).clone()
        texts, deletion = mask[:, start:stop].nonzero(as_tuple=True)
        for way, half in zip(ways(texts, deletion + start), after.chunk(2, -1), strict=True):
            of_text, of_deletion = texts[way.order], deletion[way.order]
            for place, rows, states in way.steps:
                text = of_text[rows]
                half[of_deletion[rows], text, way.place[text, place]] = states[rows]
        return StateChanges(items.expand(stop - start, tokens), after)

    return changed


def _near(
    networks: Sequence[nn.LSTM | nn.GRU], embeddings: Tensor, mask: Tensor, hidden: Tensor
) -> Deletions:
    """The same for long texts: only until a deletion is forgotten."""
    halves = hidden.chunk(2, -1)
    size = halves[0].shape[-1]
    right, left = (
        make_direction(network, embeddings, mask, states, step)
        for network, states, step in zip(networks, halves, (1, -1), strict=True)
    )

    def changed(start: int, stop: int) -> StateChanges | None:
        numbers = memory_budget.NUMBERS_AT_ONCE
        after = window(right, halves[0], mask, start, stop, numbers)
        before = window(left, halves[1], mask, start, stop, numbers) if after else None
        if after is None or before is None:
            return None
        end = start + after.states.shape[2]
        states = hidden[:, before.first : end].expand(stop - start, -1, -1, -1).clone()
        states[:, :, start - before.first :, :size] = after.states
        states[:, :, : stop - before.first, size:] = before.states
        items = torch.arange(before.first, end, device=states.device)
        return StateChanges(items.expand(stop - start, -1), states)

    return changed
