"""How long does reading raw IMDB take, in how much memory, and how much faster is it again?

All 50,000 reviews, without a length filter. Looks for the corpus in ATTNAUDIT_DATA. Each reading is
a fresh process with one thread and prints its own time and peak memory.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

from attnaudit.data import load

EVERYTHING = "more_than=null,fewer_than=null,test_share=1"


def read(tokeniser: str, *, cache: bool) -> None:
    """Prints wall seconds, processor seconds, peak megabytes, and the number of reviews."""
    wall, processor = time.perf_counter(), time.process_time()
    splits = load(f"imdb:tokeniser={tokeniser},{EVERYTHING}", cache=cache)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(wall, processor, peak, len(splits.train) + len(splits.dev) + len(splits.test))


def fresh(tokeniser: str, how: str, folder: str) -> list[float]:
    done = subprocess.run(
        [sys.executable, __file__, tokeniser, how],
        env={**os.environ, "ATTNAUDIT_CACHE": folder, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [float(each) for each in done.stdout.split()]


def main() -> None:
    for tokeniser in ("regex", "keras"):
        with tempfile.TemporaryDirectory() as folder:
            wall, processor, peak, count = fresh(tokeniser, "raw", folder)
            print(
                f"{tokeniser}: {count:,.0f} reviews parsed in {wall:.1f} s "
                f"({processor:.1f} s of processor), peak {peak:.0f} MB"
            )
            fresh(tokeniser, "cached", folder)  # parses once more and keeps it
            again, processor_again, peak, _ = fresh(tokeniser, "cached", folder)
            print(
                f"{tokeniser}: loaded again in {again:.2f} s, peak {peak:.0f} MB; "
                f"parsing takes {wall / again:.0f} times as long "
                f"({processor / processor_again:.0f} times in processor time)"
            )


if __name__ == "__main__":
    if len(sys.argv) == 3:
        read(sys.argv[1], cache=sys.argv[2] == "cached")
    else:
        main()
