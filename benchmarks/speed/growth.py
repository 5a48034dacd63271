"""How does the cost grow with the number of texts, their length, classes and layers?

Processor time on one thread of the Jain & Wallace battery on simulated texts and on reviews of IMDB
(with ATTNAUDIT_DATA; at most every fourth of the test split of that paper), and the exponent from
one size to the next: 1 is linear, 2 quadratic. The peak memory is of the process so far.

python -m benchmarks.speed.growth --only classes
"""

from __future__ import annotations

import argparse
import json
import math
import resource
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from benchmarks.speed.choice import matching
from benchmarks.speed.setting import EMBEDDING, Corpus, corpus
from benchmarks.speed.timing import processor_seconds

import attnaudit
from attnaudit.core.contract import Batch
from attnaudit.data.batching import batches_of
from attnaudit.models import Architecture, build

BATTERY = ("permutation", "agreement", "furthest")
MEASURES = ("gradient", "leave_one_out")
WORDS = 2000
_AT_ONCE = 128


def texts(count: int, length: int) -> list[Batch]:
    """Batches of random texts of one length."""
    draw = torch.Generator().manual_seed(0)
    batches = []
    for start in range(0, count, _AT_ONCE):
        tokens = torch.randint(4, WORDS, (min(_AT_ONCE, count - start), length + 2), generator=draw)
        tokens[:, 0], tokens[:, -1] = 1, 2
        names = tuple(f"{start + index}" for index in range(len(tokens)))
        batches.append(Batch(names, tokens, tokens > 0))
    return batches


def battery(count: int = 128, length: int = 20, classes: int = 2, layers: int = 0) -> None:
    """Audit so many random texts; `layers` of a transformer encoder instead of the BiLSTM."""
    torch.manual_seed(0)
    encoder = f"transformer:layers={layers}" if layers else "bilstm"
    architecture = Architecture(encoder=encoder, embedding=100)
    model = build(architecture, words=WORDS, classes=classes, with_query=False).eval()
    _audit(model, texts(count, length))


def reviews(count: int) -> None:
    """Audit so many test reviews of IMDB, of all lengths, by a BiLSTM that was not trained."""
    torch.manual_seed(0)
    data = _imdb()
    examples = data.splits.test[:: max(1, len(data.splits.test) // count)][:count]
    architecture = Architecture(encoder="bilstm", embedding=EMBEDDING)
    words = len(data.vocabulary)
    model = build(architecture, words=words, classes=2, with_query=False).eval()
    _audit(model, batches_of(examples, data.vocabulary, 2))


@cache
def _imdb() -> Corpus:
    return corpus("imdb", 10**6)


def _audit(model: Any, batches: list[Batch]) -> None:
    attnaudit.audit(
        model,
        batches,
        audits=BATTERY,
        measures=MEASURES,
        keep_examples=0,
        show_progress=False,
    )


# The work, its sizes, how often it is repeated.
SIZES: dict[str, tuple[Callable[[int], None], tuple[int, ...], int]] = {
    "texts": (lambda size: battery(count=size), (128, 512, 2048), 2),
    "length": (lambda size: battery(count=16, length=size), (20, 80, 320), 2),
    "classes": (lambda size: battery(count=16, classes=size), (2, 3, 6), 2),
    "layers": (lambda size: battery(count=32, layers=size), (1, 2, 4), 2),
    "reviews": (reviews, (68, 272, 1089), 1),
}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help=f"part of a name: {', '.join(SIZES)}")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    lines: list[dict[str, Any]] = []
    print(f"{'by':>8} {'size':>6} {'seconds':>9} {'exponent':>9} {'peak MB':>8}")
    for name in matching(given.only, SIZES):
        work, sizes, repeats = SIZES[name]
        before: tuple[int, float] | None = None
        work(2)  # imports, and reads what it needs
        for size in sizes:
            _, seconds = processor_seconds(partial(work, size), repeats, torch.device("cpu"))
            exponent = math.nan
            if before is not None:
                exponent = math.log(seconds.least / before[1]) / math.log(size / before[0])
            before = (size, seconds.least)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10  # kB on Linux
            line = {"by": name, "size": size, "seconds": seconds.least, "exponent": exponent}
            lines.append({**line, "peak_mb": peak})
            print(
                f"{name:>8} {size:6} {seconds.least:9.2f} {exponent:9.2f} {peak:8.0f}", flush=True
            )
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        given.json.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
