"""All rows, by name, made when they are asked for: each reads its corpus and trains its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import torch
from benchmarks.speed import attention_rows, library_rows, measure_rows, training_rows
from benchmarks.speed.choice import matching
from benchmarks.speed.row import Row
from benchmarks.speed.setting import Corpus, corpus

# Test texts of each corpus, and training texts of an epoch: all, and with --quick.
TEXTS = {"sst": (431, 256), "imdb": (32, 8)}
TRAINING = {"sst": (3200, 320), "imdb": (640, 64)}
WORK = (
    "leave-one-out",
    "gradient",
    "permutation",
    "kendall",
    "removal",
    "furthest-2",
    "furthest-6",
    "battery",
    "training",
    "libraries",
)


def rows(only: str, corpora: list[str], device: torch.device, *, quick: bool) -> Iterator[Row]:
    """The rows whose work holds the word `only`."""
    for name in corpora:
        texts, epoch = TEXTS[name][quick], TRAINING[name][quick]
        for work in matching(only, WORK):
            yield from _MAKERS[work](_corpus(name, texts), device, epoch)


@cache
def _corpus(name: str, texts: int) -> Corpus:
    return corpus(name, texts)


def _libraries(data: Corpus, device: torch.device, epoch: int) -> Iterator[Row]:
    if data.name == "sst":  # one corpus is enough
        yield from library_rows.library_rows(data, device, 24)


_MAKERS: dict[str, Callable[[Corpus, torch.device, int], Iterator[Row]]] = {
    "leave-one-out": lambda data, device, _: measure_rows.leave_one_out_rows(data, device),
    "gradient": lambda data, device, _: measure_rows.gradient_rows(data, device),
    "permutation": lambda data, device, _: iter([attention_rows.permutation_row(data, device)]),
    "kendall": lambda data, device, _: iter([attention_rows.kendall_row(data, device)]),
    "removal": lambda data, device, _: iter([attention_rows.removal_row(data, device)]),
    "furthest-2": lambda data, device, _: iter([attention_rows.furthest_row(data, device, 2)]),
    "furthest-6": lambda data, device, _: iter([attention_rows.furthest_row(data, device, 6)]),
    "battery": lambda data, device, _: iter([attention_rows.battery_row(data, device)]),
    "training": lambda data, device, epoch: iter([training_rows.training_row(data, device, epoch)]),
    "libraries": _libraries,
}
