"""Time and peak memory of `attnaudit run` against the number of texts, one process per size.

python benchmarks/text_count.py --sizes 1000 10000 100000 1000000 --json text_count.json
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHOICES = ["--encoder", "average", "--epochs", "1", "--measures", "gradient"]
AUDITS = "uniform_attention,agreement"  # cheap ones: the cost of audits is measured elsewhere


def measure(texts: int, folder: Path) -> dict[str, float]:
    """Seconds of wall and processor time, and the peak of resident memory in MB, of one run."""
    command = [sys.executable, "-m", "attnaudit", "run", "--out", str(folder), *CHOICES]
    command += ["--dataset", f"keyword:train=500,dev=100,test={texts}", "--audits", AUDITS]
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return {
        "texts": texts,
        "wall": time.monotonic() - started,
        "processor": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10),
        "values_mb": sum(path.stat().st_size for path in folder.rglob("values.parquet")) / 2**20,
    }


def main() -> None:
    """Measure each size, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    lines = []
    print(f"{'texts':>9} {'wall s':>9} {'cpu s':>9} {'peak MB':>9} {'file MB':>9} {'exponent':>9}")
    for texts in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            line = measure(texts, Path(folder))
        if lines:  # how processor time grows from the size before: 1 is linear
            before = lines[-1]
            line["exponent"] = math.log(line["processor"] / before["processor"]) / math.log(
                texts / before["texts"]
            )
        lines.append(line)
        print(
            f"{texts:9,} {line['wall']:9.1f} {line['processor']:9.1f} {line['peak_mb']:9.0f} "
            f"{line['values_mb']:9.1f} {line.get('exponent', math.nan):9.2f}",
            flush=True,
        )
    if given.json is not None:
        given.json.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
