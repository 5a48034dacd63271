"""The exact furthest attention against the released search, and its interval for more classes.

Two classes: the mean JSD each reaches and the ratio of their times, on random readouts of the size
of SST (1,725 sentences). Three to six classes: the mean width of the certified interval, next to
that of the slabs and the small-support search alone, which is what earlier versions had.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
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


# Mean width of the interval before the branch and bound.
SLABS_ONLY = {
    (3, 5): 0.1375,
    (3, 10): 0.0522,
    (3, 20): 0.0138,
    (4, 5): 0.2636,
    (4, 10): 0.1379,
    (4, 20): 0.0341,
    (5, 5): 0.3421,
    (5, 10): 0.2326,
    (5, 20): 0.0710,
    (6, 5): 0.3357,
    (6, 10): 0.3364,
    (6, 20): 0.1112,
}


def many_classes(examples: int = 200) -> None:
    """Print the mean width of the interval for 3 to 6 classes and 5 to 20 items."""
    print("classes items  jsd    upper  width  slabs only  seconds per 1,000")
    for (classes, items), before in SLABS_ONLY.items():
        draw = np.random.default_rng(100 * classes + items)
        alpha = torch.tensor(draw.dirichlet(np.full(items, 0.5), size=examples))
        readout = torch.tensor(2 * draw.normal(size=(examples, items, classes)))
        started = time.process_time()
        found = exact.furthest(alpha, readout, torch.ones_like(alpha, dtype=torch.bool))
        seconds = (time.process_time() - started) * 1000 / examples
        print(
            f"{classes:7} {items:5}  {found.jsd.mean():.4f} {found.upper.mean():.4f} "
            f"{(found.upper - found.jsd).mean():.4f} {before:.4f} {seconds:14.1f}",
            flush=True,
        )


def main() -> None:
    two_classes()
    many_classes()


def two_classes() -> None:
    """Print what the exact answer gains over the released search."""
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
