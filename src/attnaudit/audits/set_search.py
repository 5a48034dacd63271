"""Search for the words whose deletion, or whose staying alone, changes the prediction most.

A search is a generator: it yields the sets of words to delete, is sent the log-odds of the
predicted class without them, and returns its result. `run_searches` runs the searches of all texts
side by side, so that their readings share batches.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

import torch
from torch import Tensor

from attnaudit.audits.deletions import read_without
from attnaudit.audits.extended_deletions import log_odds_of_extensions
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.memory_budget import rows_at_once

Result = TypeVar("Result")
# Yields sets to delete (K,W) bool of the W words of a text; is sent log-odds (K,) float64.
Search = Generator[Tensor, Tensor, Result]
_LEVELS = 8  # in which a set is built; several words are added at once to larger sets


def run_searches(
    model: AttentionModel, record: Record, words: Tensor, searches: Sequence[tuple[int, Search]]
) -> list:
    """The results of searches, given as (example, search).

    Parameters
    ----------
    model, record
        The model, and its record of the whole texts.
    words : Tensor, (B,N) bool
        The items that the searches of each example count as its words.
    searches : sequence of (int, Search)
        Several may be of the same example.
    """
    results: list = [None] * len(searches)
    asked: dict[int, Tensor] = {}

    def advance(index: int, answer: Tensor | None) -> None:
        search = searches[index][1]
        try:
            asked[index] = next(search) if answer is None else search.send(answer)
        except StopIteration as stop:
            results[index] = stop.value

    for index in range(len(searches)):
        advance(index, None)
    while asked:
        sets, asked = asked, {}
        rows, drops = {}, {}
        for index, chosen in sets.items():
            example = searches[index][0]
            drop = torch.zeros(len(chosen), words.shape[1], dtype=torch.bool, device=words.device)
            drop[:, words[example]] = chosen.to(words.device)
            shared = log_odds_of_extensions(model, record, example, drop)
            if shared is not None:
                advance(index, shared.cpu())
                continue
            rows[index] = torch.full((len(chosen),), example, device=words.device)
            drops[index] = drop
        if not drops:
            continue
        every_row, every_drop = torch.cat(list(rows.values())), torch.cat(list(drops.values()))
        odds = read_without(model, record, every_row, every_drop).log_odds.cpu()
        for index, part in zip(drops, odds.split(list(map(len, drops.values()))), strict=True):
            advance(index, part)
    return results


def all_sets(words: int, size: int) -> Tensor:
    """All sets of `size` of the words: (K,W) bool.

    Examples
    --------
    >>> all_sets(3, 2).int().tolist()
    [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    """
    members = torch.tensor(list(combinations(range(words), size))).view(-1, size)
    return torch.zeros(len(members), words, dtype=torch.bool).scatter(1, members, True)


@dataclass(frozen=True)
class Goal:
    """What a search looks for: deleted or kept words, the lowest or the highest log-odds."""

    keep: bool  # the words of a set are the only ones kept, rather than deleted
    highest: bool
    rounding: float  # log-odds closer than this are equal, so that batches do not decide

    def to_delete(self, sets: Tensor) -> Tensor:
        """The words to delete for each set (K,W)."""
        return ~sets if self.keep else sets

    def order(self, odds: Tensor) -> Tensor:
        """Indices (K,) from the best to the worst; equal ones as they come."""
        steps = (odds / self.rounding).round()
        return (-steps if self.highest else steps).argsort(stable=True)

    def best(self, odds: Tensor) -> float:
        """The best of log-odds (K,)."""
        return float(odds.max() if self.highest else odds.min())


def beam_search(
    goal: Goal, words: int, size: int, *, width: int, passes: int, singles: Tensor | None = None
) -> Search[float]:
    """The best log-odds found over the sets of `size` of a text's words.

    Sets grow from the best `width` of the sets one step smaller, by the words that are most
    promising on their own: as many as `passes` readings allow. At most 8 steps: of a larger set
    several words at a time are added, those that are best one by one.

    Parameters
    ----------
    goal : Goal
    words, size : int
        Number of words in the text, and in a set; size < words.
    width : int
        Sets kept at every step; fewer if `passes` do not allow it.
    passes : int
        About the number of texts read; never fewer than some `size`.
    singles : Tensor, (W,), optional
        The log-odds of the sets of one word, if known.
    """
    if singles is None:
        singles = yield from _singles(goal, words)
    by_promise = goal.order(singles)
    step = math.ceil(size / _LEVELS)
    levels = math.ceil(size / step)
    kept = max(1, min(width, passes // (levels * (step + width))))
    pool = max(step + width, passes // (levels * kept))
    states = torch.zeros(1, words, dtype=torch.bool)
    odds_reached: list[float] = []
    while int(states[0].sum()) < size:
        added = min(step, size - int(states[0].sum()))
        owner, word = _extensions(states, by_promise, pool)
        children = states[owner].scatter(1, word[:, None], True)
        if states.any():
            odds = yield goal.to_delete(children)
        else:
            odds = singles[word]
        if added > 1:
            children = _blocks(goal, states, owner, word, odds, added, width)
            odds = yield goal.to_delete(children)
        if int(children[0].sum()) == size:
            odds_reached.append(goal.best(odds))
        states = _distinct(children[goal.order(odds)], kept)
    by_singles = torch.zeros(1, words, dtype=torch.bool).index_fill(1, by_promise[:size], True)
    odds_reached.append(goal.best((yield goal.to_delete(by_singles))))
    return max(odds_reached) if goal.highest else min(odds_reached)


def _singles(goal: Goal, words: int) -> Search[Tensor]:
    """The log-odds (W,) of the sets of one word, a few sets at a time: all are W·W entries."""
    word = torch.arange(words)
    odds = []
    for part in word.split(rows_at_once(words)):
        odds.append((yield goal.to_delete(part[:, None] == word)))
    return torch.cat(odds)


def _extensions(states: Tensor, by_promise: Tensor, pool: int) -> tuple[Tensor, Tensor]:
    """Each state (S,W) with each of the `pool` most promising words outside it: index and word."""
    owner, word = [], []
    for index, state in enumerate(states):
        outside = by_promise[~state[by_promise]][:pool]
        owner.append(torch.full_like(outside, index))
        word.append(outside)
    return torch.cat(owner), torch.cat(word)


def _blocks(
    goal: Goal, states: Tensor, owner: Tensor, word: Tensor, odds: Tensor, added: int, width: int
) -> Tensor:
    """Each state with `added` words at once: the best one by one, and blocks shifted by one."""
    children = []
    for index, state in enumerate(states):
        own = (owner == index).nonzero()[:, 0]
        ranked = word[own[goal.order(odds[own])]]
        for shift in range(min(width, len(ranked) - added + 1)):
            children.append(state.index_fill(0, ranked[shift : shift + added], True))
    return torch.stack(children)


def _distinct(sets: Tensor, count: int) -> Tensor:
    """The first `count` distinct sets of (K,W)."""
    kept: dict[tuple[bool, ...], Tensor] = {}
    for chosen in sets:
        kept.setdefault(tuple(chosen.tolist()), chosen)
        if len(kept) == count:
            break
    return torch.stack(list(kept.values()))
