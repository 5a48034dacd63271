"""How fast does each state of a bidirectional recurrent network change with each word?

A state going right depends on the words up to its own, and a state going left on those from its
own on. The gradients of many states run back through the text in lockstep: each joins at its own
word, so that at word t, going right, those of all states from t on are rows of one product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from attnaudit.core.memory_budget import rows_at_once
from attnaudit.models.encoders.packed_steps import PackedSteps, packed_steps
from attnaudit.models.encoders.recurrent_gradient import Cell, cell_of
from attnaudit.models.encoders.row_product import ROWS, row_product

# Gradients that run together, if memory allows: what is computed of them is 4 MB for 128 units and
# 300 dimensions in float32. With 256 or 512 it takes an eighth longer, with 2048 as long.
_AT_ONCE = 1024


@torch.no_grad()
def recurrent_influence(
    networks: Sequence[nn.LSTM | nn.GRU],
    embeddings: Tensor,
    mask: Tensor,
    hidden: Tensor,
    norm: int,
    per_facet: bool,
) -> Tensor:
    """Return the influence of each word i on each state p (B,T,T) as [p, i], 0 on padding.

    Parameters
    ----------
    networks : one layer going right and one going left
    embeddings : Tensor, (B,T,E)
    mask : Tensor, (B,T) bool
        Padding is on the right.
    hidden : Tensor, (B,T,2·H)
        The output of the networks.
    norm : int
        Of the gradient of one number in the vector of a word.
    per_facet : bool
        The square root of the sum of the squares over all numbers of a state, instead of the
        gradient of its length.
    """
    steps, cell = packed_steps(mask), cell_of(networks)
    tokens, longest = mask.shape[1], len(steps.counts)
    size = hidden.shape[2] // 2
    squares = embeddings.new_zeros(len(mask), tokens, tokens)
    own_word = torch.zeros_like(embeddings)
    if not longest:
        return squares
    lengths = torch.linalg.vector_norm(hidden, dim=-1, keepdim=True)
    towards = (hidden / lengths).masked_fill(lengths == 0, 0.0)  # ∂‖h‖/∂h
    each = torch.eye(size, dtype=hidden.dtype, device=hidden.device)
    text = steps.texts.argsort()  # where each text is stored
    place = torch.arange(tokens, device=mask.device).expand_as(mask)
    for direction, half in enumerate(towards.chunk(2, -1)):
        weights = networks[direction].all_weights[0]
        _, packed = cell.read(steps.packed(embeddings, direction), weights, steps)
        factors = _by_step(packed, steps)
        if per_facet:
            start = each[None, :, None].expand(longest, -1, len(mask), -1)
        else:
            start = _by_step(steps.packed(half, direction), steps)[:, None]
        norms, own = _sweeps(cell, weights, factors, start, norm)
        # The step of each word: going left, steps count from the last one. Padding has none.
        step = mask.sum(-1, keepdim=True) - 1 - place if direction else place
        step = step.clamp(0, longest - 1)
        squares += norms[step[:, :, None], step[:, None, :], text[:, None, None]].square()
        own_word += own[step, text[:, None]]
    if not per_facet:  # the gradients of both directions add up at the word itself
        at_word = torch.linalg.vector_norm(own_word, norm, dim=-1)
        squares.diagonal(dim1=1, dim2=2).copy_(at_word.square())
    return squares.sqrt() * (mask[:, :, None] & mask[:, None])


def _by_step(packed: Tensor, steps: PackedSteps) -> Tensor:
    """Store packed values as (T,B,V), 0 where a text has no such step."""
    values = packed.new_zeros(len(steps.counts), len(steps.texts), packed.shape[-1])
    for step, (start, count) in enumerate(zip(steps.starts, steps.counts, strict=True)):
        values[step, :count] = packed[start : start + count]
    return values


def _sweeps(
    cell: Cell, weights: Sequence[Tensor], factors: Tensor, start: Tensor, norm: int
) -> tuple[Tensor, Tensor]:
    """Pass the gradients of all states back, some at a time.

    Parameters
    ----------
    factors : Tensor, (T,B,F)
    start : Tensor, (T,K,B,H)
        What the K gradients of each state begin with.

    Returns
    -------
    Tensor, (T,T,B)
        The norms of the gradients of state p in word t, 0 for t > p; for several gradients, the
        root of the sum of their squares.
    Tensor, (T,B,E)
        For t = p and K = 1 the gradients themselves.
    """
    steps, facets, texts, size = start.shape
    norms = factors.new_zeros(steps, steps, texts)
    own = factors.new_zeros(steps, texts, weights[0].shape[1])
    at_once = min(_AT_ONCE, rows_at_once(6 * size + own.shape[2]))
    width = min(texts, max(1, at_once // facets))
    states = max(1, at_once // (facets * width))
    for first in range(0, texts, width):
        some = slice(first, first + width)
        for low in range(0, steps, states):
            high = min(low + states, steps)
            sweep = _sweep(cell, weights, factors[:high, some], start[low:high, :, some], low, norm)
            for step, found, at_word in sweep:
                norms[max(low, step) : high, step, some] = found
                if step >= low and facets == 1:
                    own[step, some] = at_word
    return norms, own


def _sweep(
    cell: Cell,
    weights: Sequence[Tensor],
    factors: Tensor,
    start: Tensor,
    low: int,
    norm: int,
) -> Iterator[tuple[int, Tensor, Tensor]]:
    """Pass the gradients of the states from `low` on back through all words before them.

    Yield each word t, the norms (P,B) of the gradients of the P states from max(low, t) on, and
    the gradient (B,E) of the first of them.
    """
    of_state, of_items = weights[1], cell.of_items(weights)
    texts, size = start.shape[2:]
    slope, memory = (start.new_zeros(start.shape) for _ in range(2))
    terms = start.new_empty(start[..., 0].numel() + ROWS, 4 * size)
    into_items, into_states = terms[:, : len(of_items)], terms[:, -len(of_state) :]
    for step in reversed(range(len(factors))):
        begun = max(step - low, 0)
        if step >= low:
            slope[begun] = start[begun]
        now = slope[begun:]
        rows = slice(0, now[..., 0].numel())
        direct = cell.back(
            factors[step], now, memory[begun:], terms[rows].view(*now.shape[:-1], 4 * size)
        )
        part = row_product(into_items, rows, of_items.t())
        lengths = torch.linalg.vector_norm(part, norm, dim=-1).view(now.shape[:-1])
        yield step, torch.linalg.vector_norm(lengths, dim=1), part[:texts]
        if step:
            now.copy_(row_product(into_states, rows, of_state.t()).view_as(now))
            if direct is not None:
                now += direct
