"""How much is saved by leaving words out without reading again?

Plain path and shared path in one run, with one thread. Prints how many times as long the plain path
takes, and the largest difference between the two relative to the largest logit. Random texts of the
lengths of SST (mean 19 tokens) and IMDB (mean 180), in batches of similar length as in audits.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.item_deletion import leave_out, leave_out_by_reading
from attnaudit.core.special_tokens import END, START
from attnaudit.models import Architecture, build

WORDS = 5000
ENCODERS = ("bilstm:hidden=128", "bigru:hidden=128", "cnn", "mlp")


def texts(examples: int, mean: int, spread: int, seed: int = 0) -> Batch:
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(mean - spread, mean + spread + 1, (examples, 1), generator=draw)
    place = torch.arange(int(lengths.max()))
    tokens = torch.randint(END + 1, WORDS, (examples, len(place)), generator=draw)
    tokens[:, 0] = START
    tokens = tokens.where(place != lengths - 1, END) * (place < lengths)
    return Batch(tuple(map(str, range(examples))), tokens, place < lengths)


def timed(work: Callable[[], Tensor]) -> tuple[Tensor, float]:
    """The result and the seconds of processor time."""
    started = time.process_time()
    return work(), time.process_time() - started


def compare(encoder: str, batch: Batch, embedding: int, repeats: int) -> tuple[float, float, float]:
    """Seconds of the plain path, of the shared path, and the largest relative difference.

    Of each path the fastest of some repeats: what else runs on the machine only ever adds time.
    """
    model = build(
        Architecture(encoder=encoder, embedding=embedding), words=WORDS, classes=2, with_query=False
    )
    model.eval()
    with torch.no_grad():
        record: Record = model.read(batch)
        turns = [
            (
                timed(lambda: leave_out_by_reading(model, record)),
                timed(lambda: leave_out(model, record)),
            )
            for _ in range(repeats)
        ]
    plain, shared = turns[0][0][0], turns[0][1][0]
    difference = (plain - shared).nan_to_num().abs().max() / plain.nan_to_num().abs().max()
    slow, fast = (min(turn[path][1] for turn in turns) for path in (0, 1))
    return slow, fast, difference.item()


def main() -> None:
    torch.set_num_threads(1)
    corpora = {
        "SST": (texts(128, 19, 1), 5),
        "IMDB": (texts(16, 180, 5), 2),
        "one of SST": (texts(1, 19, 0), 20),
    }
    for name, (batch, repeats) in corpora.items():
        for encoder in ENCODERS:
            for embedding in (100, 300):
                slow, fast, difference = compare(encoder, batch, embedding, repeats)
                print(
                    f"{name}, {len(batch)} at once, {encoder}, words of {embedding}: "
                    f"plain {1e3 * slow:.1f} ms, shared {1e3 * fast:.1f} ms: "
                    f"{slow / fast:.1f} times as long; they differ by {difference:.0e}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
