"""Random sets of sources, in two halves that share none: to fit a surrogate, and to test scores."""

from __future__ import annotations

import random
from typing import NamedTuple

import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.randomness import derive


class SourceSets(NamedTuple):
    """Sets of kept sources; examples with fewer sources have fewer sets."""

    keep: Tensor  # (B,K,N) bool
    real: Tensor  # (B,K) bool


def source_sets(record: Record, seed: int, *, count: int = 32) -> tuple[SourceSets, SourceSets]:
    """Up to `count` sets to fit and as many to test: each source is in half of all sets.

    With so few sources that there are no more sets than wanted, every set is in one of the two.
    They depend on (seed, example id) only.
    """
    halves: tuple[list[list[list[int]]], list[list[list[int]]]] = ([], [])
    for index, name in enumerate(record.batch.example_id):
        sources = record.content[index].nonzero()[:, 0].tolist()
        sets = _different_sets(sources, 2 * count, random.Random(derive(seed, "source sets", name)))
        for half, part in zip(halves, (sets[::2], sets[1::2]), strict=True):
            half.append(part)
    return _stacked(halves[0], record), _stacked(halves[1], record)


def _different_sets(sources: list[int], count: int, draw: random.Random) -> list[list[int]]:
    if 2 ** len(sources) <= count:
        numbers = list(range(2 ** len(sources)))
        draw.shuffle(numbers)
    else:
        seen: dict[int, None] = {}
        while len(seen) < count:
            seen[draw.getrandbits(len(sources))] = None
        numbers = list(seen)
    return [[s for bit, s in enumerate(sources) if number >> bit & 1] for number in numbers]


def _stacked(sets: list[list[list[int]]], record: Record) -> SourceSets:
    most = max(map(len, sets))
    keep = torch.zeros(len(sets), most, record.content.shape[1], dtype=torch.bool)
    real = torch.zeros(len(sets), most, dtype=torch.bool)
    for index, several in enumerate(sets):
        real[index, : len(several)] = True
        for k, kept in enumerate(several):
            keep[index, k, kept] = True
    device = record.content.device
    return SourceSets(keep.to(device), real.to(device))
