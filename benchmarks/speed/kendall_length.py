"""Kendall's tau-b with p-values by length, next to SciPy: is SciPy faster at any length?

Random scores without ties, and with many (a tenth as many different scores as words). Both sides
get the same float64 arrays; processor time on one thread, the least of the repeats. The command
fails if a tau or p-value differs by more than 1e-9.

python -m benchmarks.speed.kendall_length --lengths 20 200 2000 --texts 1
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import torch
from benchmarks.speed.timing import processor_seconds
from scipy.stats import kendalltau
from torch import Tensor

from attnaudit import statistics

LENGTHS = (20, 50, 100, 200, 400, 1_000, 3_000, 20_000)
TEXTS, WORDS = 128, 160_000  # at most so many texts, and words in all
TOLERANCE = 1e-9


class Line(NamedTuple):
    """Least seconds of both sides for all texts of a length, and the largest difference."""

    length: int
    texts: int
    ties: bool
    ours: float
    scipy: float
    difference: float


def scores(texts: int, length: int, ties: bool) -> tuple[Tensor, Tensor]:
    """Two scores for each word (texts, length)."""
    draw = torch.Generator().manual_seed(length)
    x, y = torch.rand(2, texts, length, generator=draw, dtype=torch.float64)
    different = max(2, length // 10)
    return ((x * different).floor(), (y * different).floor()) if ties else (x, y)


def measured(texts: int, length: int, ties: bool, repeats: int) -> Line:
    """Both sides on the same scores."""
    x, y = scores(texts, length, ties)
    mask = torch.ones_like(x, dtype=torch.bool)
    rows = list(zip(x.numpy(), y.numpy(), strict=True))
    cpu = torch.device("cpu")
    ours, ours_took = processor_seconds(
        lambda: torch.stack(statistics.kendall(x, y, mask), -1), repeats, cpu
    )
    theirs, scipy_took = processor_seconds(
        lambda: [tuple(kendalltau(*row)) for row in rows], repeats, cpu
    )
    both = torch.tensor(theirs, dtype=torch.float64)
    difference = (ours - both).abs()
    difference[ours.isnan() & both.isnan()] = 0  # undefined for both; of one alone it stays NaN
    return Line(length, texts, ties, ours_took.least, scipy_took.least, float(difference.max()))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS)
    parser.add_argument("--texts", type=int, default=TEXTS, help="of a length, in one call")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if min(given.texts, given.repeats, *given.lengths) < 1:
        parser.error("--lengths, --texts and --repeats must be at least 1")
    lines = []
    print(f"{'words':>7} {'texts':>6} {'ties':>5} {'ours ms':>9} {'SciPy ms':>9} {'ratio':>6}")
    for length in given.lengths:
        texts = max(1, min(given.texts, WORDS // length))
        for ties in (False, True):
            line = measured(texts, length, ties, given.repeats)
            lines.append(line)
            print(
                f"{length:7,} {texts:6} {'many' if ties else 'none':>5} {line.ours * 1e3:9.2f} "
                f"{line.scipy * 1e3:9.2f} {line.scipy / line.ours:6.1f}",
                flush=True,
            )
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps([line._asdict() for line in lines], indent=1)
        given.json.write_text(f"{text}\n", encoding="utf-8")
    if wrong := [line.length for line in lines if not line.difference <= TOLERANCE]:
        raise SystemExit(f"The two sides gave different numbers for texts of {wrong} words.")


if __name__ == "__main__":
    main()
