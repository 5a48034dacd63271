"""How much is gained by the exact furthest attention over the released search? Both on the same attentions, in one run.

Prints the mean JSD each reaches and the ratio of their times. Random two-class readouts of the size of SST (1,725 sentences).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from attnaudit import exact
from attnaudit.audits import gradient_search
from attnaudit.core.contract import Batch, Record
from attnaudit.models.glass import Glass


def attentions(examples: int = 1725, longest: int = 40, seed: int = 0) -> Record:
    draw = torch.Generator().manual_seed(seed)
    mask = torch.arange(longest) < torch.randint(6, longest + 1, (examples, 1), generator=draw)
    scores = 2 * torch.randn(examples, longest, generator=draw, dtype=torch.float64)
    alpha = scores.masked_fill(~mask, -torch.inf).softmax(-1)[:, None]
    readout = 2 * torch.randn(examples, longest, 2, generator=draw, dtype=torch.float64)
    tokens = torch.zeros(examples, longest, dtype=torch.int64)
    batch = Batch(tuple(map(str, range(examples))), tokens, mask)
    return Record(
        batch,
        readout,
        readout,
        alpha,
        mask[:, None],
        mask,
        tokens,
        (alpha @ readout)[:, 0],
        readout,
    )


def timed(work: Callable[[], torch.Tensor]) -> tuple[torch.Tensor, float]:
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def main() -> None:
    record = attentions()
    settings = gradient_search.SETTINGS["code"]
    true, exact_seconds = timed(
        lambda: exact.furthest(record.alpha[:, 0], record.readout, record.mask[:, 0]).jsd
    )
    found, search_seconds = timed(
        lambda: gradient_search.search(Glass("oracle"), record, 0, epsilon=0.01, settings=settings)[
            1
        ]
    )
    print(f"exact    mean JSD {true.mean():.4f} in {exact_seconds:.2f} s")
    print(
        f"released mean JSD {found.mean():.4f} in {search_seconds:.2f} s: {search_seconds / exact_seconds:.0f} times as long"
    )
    print(
        f"released search above the true maximum: {int((found > true + 1e-9).sum())} of {len(true)} examples"
    )
    print(
        f"released search short by more than 0.1: {(true - found > 0.1).double().mean():.0%} of examples"
    )


if __name__ == "__main__":
    main()
