"""What does one text cost, by its length? Seconds and peak memory of every audit and measure.

Each length is audited by a process of its own, with one thread: a small model trained on texts of
20 words reads one text of N words, with the default audits and measures. Seconds are of processor
time. The memory of a part is the largest resident memory of the process while it runs (Linux only),
so that it includes what was held before, some 490 MB of libraries among it. Prints one table per
encoder, with the exponent in N between the last two lengths.

    python benchmarks/text_length.py --encoders average bilstm:hidden=32 --lengths 500 2000 8000
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LENGTHS = (500, 2_000, 8_000, 20_000)
ENCODERS = ("average", "bilstm:hidden=32")
TRAINED_ON = "keyword:train=1000,dev=100,test=1"


def peak_since_reset() -> float:
    """The largest resident memory in MB since `reset_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmHWM: this benchmark needs Linux.")


def reset_peak() -> None:
    """Forget the largest resident memory so far."""
    Path("/proc/self/clear_refs").write_text("5")


class Costs:
    """Seconds and peak memory by name, in the order of the first call."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, float]] = {}
        self.most = 0.0  # MB

    def reset(self) -> None:
        """Measure the peak memory from here on."""
        self.most = max(self.most, peak_since_reset())
        reset_peak()

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its cost added to the table."""

        @functools.wraps(function)
        def call(*given: Any, **options: Any) -> Any:
            self.reset()
            started = time.process_time()
            answer = function(*given, **options)
            part = self.parts.setdefault(name, {"seconds": 0.0, "mb": 0.0})
            part["seconds"] += time.process_time() - started
            part["mb"] = max(part["mb"], peak_since_reset())
            return answer

        return call


def one(encoder: str, words: int, without: list[str]) -> dict[str, Any]:
    """Audit one text of this many words; what it costs, and some of its values."""
    import torch

    from attnaudit import audit, data
    from attnaudit.audits import AUDITS, DEFAULT_AUDITS
    from attnaudit.data import Vocabulary, batches_of
    from attnaudit.measures import DEFAULT_MEASURES, MEASURES
    from attnaudit.models import Architecture, build
    from attnaudit.training.recipe import Recipe
    from attnaudit.training.trainer import fit

    torch.set_num_threads(1)
    splits = data.load(TRAINED_ON)
    vocabulary = Vocabulary.build(splits.train)
    torch.manual_seed(0)
    model = build(
        Architecture(encoder=encoder, scorer="additive"),
        words=len(vocabulary),
        classes=2,
        with_query=False,
    )
    fit(model, splits, vocabulary, Recipe(epochs=4), show_progress=False)
    text = data.load(f"keyword:length={words},jitter=0,train=2,dev=0,test=1").test
    batches = batches_of(text, vocabulary, 2)

    costs = Costs()
    for registry, names in ((MEASURES, DEFAULT_MEASURES), (AUDITS, DEFAULT_AUDITS)):
        for name in names:
            registry[name] = costs.timed(name, registry[name])
    started = time.process_time()
    results = audit(
        model,
        batches,
        audits=[name for name in DEFAULT_AUDITS if name not in without],
        measures=[name for name in DEFAULT_MEASURES if name not in without],
        words=vocabulary.words,
        show_progress=False,
    )
    seconds = time.process_time() - started
    with tempfile.TemporaryDirectory() as folder:
        costs.timed("store", results.save)(Path(folder) / "run")
        costs.timed("page", results.to_html)(Path(folder) / "page.html")
    costs.reset()
    keys = ["audit", "measure", "metric"]
    values = results.values.set_index(keys)["value"]
    return {
        "parts": costs.parts,
        "seconds": seconds,
        "mb": costs.most,
        "values": {"/".join(key): repr(float(value)) for key, value in values.items()},
    }


def in_process(encoder: str, words: int, without: list[str]) -> dict[str, Any]:
    """The same in a process of its own; says when it is done."""
    command = [sys.executable, __file__, "--one", encoder, str(words), "--without", *without]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    print(
        f"{encoder}, {words:,} words: {found['seconds']:.1f} s, {found['mb']:,.0f} MB", flush=True
    )
    return found


def exponent(costs: dict[int, float]) -> float:
    """log cost / log length between the two largest lengths."""
    (short, less), (long, more) = sorted(costs.items())[-2:]
    return math.log(more / less) / math.log(long / short) if less > 0 and more > 0 else math.nan


def table(found: dict[int, dict[str, Any]]) -> str:
    """Markdown: one line per part, seconds and MB per length, exponents of the seconds."""
    lengths = sorted(found)
    head = ["", *(f"{n:,} words" for n in lengths), "exponent"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    names = list(dict.fromkeys(name for each in found.values() for name in each["parts"]))
    parts = {name: {n: found[n]["parts"][name] for n in lengths} for name in names}
    parts["whole audit"] = {n: found[n] for n in lengths}
    for name, by_length in parts.items():
        costs = [f"{by_length[n]['seconds']:.2f} s, {by_length[n]['mb']:,.0f} MB" for n in lengths]
        growth = "" if len(lengths) < 2 else exponent({n: by_length[n]["seconds"] for n in lengths})
        shown = growth if growth == "" else f"{growth:.1f}"
        lines.append(f"| {name} | {' | '.join(costs)} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoders", nargs="+", default=ENCODERS)
    parser.add_argument("--lengths", nargs="+", type=int, default=LENGTHS)
    parser.add_argument("--without", nargs="*", default=[], help="audits and measures left out")
    parser.add_argument("--values", type=Path, help="also write the values of every audit here")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one(options.one[0], int(options.one[1]), options.without)))
        return
    values = {}
    for encoder in options.encoders:
        found = {n: in_process(encoder, n, options.without) for n in options.lengths}
        values[encoder] = {n: each["values"] for n, each in found.items()}
        print(f"\n{encoder}\n\n{table(found)}", flush=True)
    if options.values:
        options.values.write_text(json.dumps(values, indent=1))


if __name__ == "__main__":
    main()
