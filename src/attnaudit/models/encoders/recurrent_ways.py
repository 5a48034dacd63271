"""Deletions from texts on their way through a bidirectional recurrent network.

Going left, a deletion changes the states of the items before the deleted one. All deletions go in
lockstep: at item t, those of later items are the rows of one step. Rows are ordered by the deleted
item, so these are a slice; a text that is too short for a deletion has no row. Going right is the
same in mirrored texts. The input terms W_ih x are computed once for all deletions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from attnaudit.models.encoders.deletion_protocol import PassedStates, Way, Ways
from attnaudit.models.encoders.mirrored import mirrored_items, take_items
from attnaudit.models.encoders.recurrent_direction import Direction, make_direction


def recurrent_ways(
    networks: Sequence[nn.LSTM | nn.GRU], embeddings: Tensor, mask: Tensor, hidden: Tensor
) -> Ways:
    """Return the ways through both networks, see `deletion_protocol`.

    networks: one layer going right and one going left; hidden (B,T,2·H) is their output.
    """
    as_written = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    places = (mirrored_items(mask), as_written)
    directions = [
        make_direction(network, take_items(embeddings, place), mask, take_items(states, place), -1)
        for network, states, place in zip(networks, hidden.chunk(2, -1), places, strict=True)
    ]

    def ways(texts: Tensor, items: Tensor) -> list[Way]:
        found = []
        for direction, place in zip(directions, places, strict=True):
            deleted = place[texts, items]
            order = deleted.argsort(stable=True)
            found.append(Way(place, order, _steps(direction, texts[order], deleted[order])))
        return found

    return ways


def _steps(direction: Direction, texts: Tensor, deleted: Tensor) -> Iterator[PassedStates]:
    """Go through the texts from the last place to the first; deletions are ordered by place."""
    tokens, count = len(direction.state), len(texts)
    states, memories = direction.empty_rows(count)
    places = torch.arange(tokens + 1, device=deleted.device)
    first = torch.searchsorted(deleted, places).tolist()  # the first row deleted there or later
    for place in reversed(range(tokens)):
        rows = slice(first[place + 1], count)
        if rows.start < rows.stop:
            inputs = direction.inputs[place].index_select(0, texts[rows])
            direction.cell(inputs, states, memories, rows)
            yield PassedStates(place, rows, states)
        new = slice(first[place], first[place + 1])
        if new.start < new.stop:  # the deleted item passes on the state before it
            states[new] = direction.state[place].index_select(0, texts[new])
            memories[new] = direction.memory[place].index_select(0, texts[new])
