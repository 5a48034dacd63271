"""How long do reports over many runs and over many examples take, and in how much memory?

Makes three inputs from one small trained run: copies of it with other choices and other means, one
run of many examples (its values are random numbers, its keys and kept examples real), and one run
whose texts are very long. Then runs the commands on them, each in a process of its own.

    python benchmarks/report_scale.py --runs 500 --examples 100000 --json report_scale.json
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.results import store
from attnaudit.results.checksums import write_mark
from attnaudit.results.results import Results
from attnaudit.results.value_columns import ValueColumns
from attnaudit.training import run

TEXTS = 500  # of each of the many runs
SEEDS = 5  # runs per model among them
KEPT_TOKENS = 200_000  # as an audit keeps by default
LONG = 20_000  # words of a long text
NAN_SHARE = 0.02


def small_run(place: Path) -> Path:
    """One trained and audited run of `TEXTS` short texts."""
    output = run(
        f"keyword:train=300,dev=60,test={TEXTS},length=12,jitter=3,distractors=2",
        out=place,
        encoder="average",
        embedding=8,
        epochs=2,
        learning_rate=0.02,
        show_progress=False,
    )
    return Path(output.folder)


def many_runs(base: Path, place: Path, count: int) -> None:
    """Copies of a run as if other models had been trained, each with other means."""
    results = store.load_results(base)
    draw = np.random.default_rng(0)
    for index in range(count):
        folder = Path(shutil.copytree(base, place / f"run-{index:04d}"))
        moved = results.summaries["mean"] + draw.normal(scale=0.05)
        results.summaries.assign(mean=moved).to_parquet(folder / "summary.parquet", index=False)
        details = json.loads((folder / store.RUN).read_text(encoding="utf-8"))
        model, seed = divmod(index, SEEDS)
        details["choices"] |= {"dataset": f"keyword:train={300 + model}", "seed": seed}
        write_mark(folder / store.RUN, details)


def random_columns(results: Results, count: int) -> ValueColumns:
    """Values (count, keys) that are random, with the keys of a real run."""
    draw = np.random.default_rng(0)
    examples = pd.DataFrame(
        {
            "example_id": [f"test/{number}" for number in range(count)],
            "label": draw.integers(2, size=count),
            "predicted": draw.integers(2, size=count),
            "length": draw.integers(5, 15, size=count),
        }
    )
    keys = results.columns.keys
    matrix = draw.random((count, len(keys)))
    matrix[draw.random(matrix.shape) < NAN_SHARE] = np.nan
    return ValueColumns.from_matrix(examples, keys, matrix)


def many_examples(base: Path, folder: Path, count: int) -> None:
    """One run of many examples; as many are kept whole as an audit keeps."""
    results = store.load_results(base)
    words = results.examples["tokens"].map(len).mean()
    kept = np.arange(min(count, int(KEPT_TOKENS / words)))
    drawn = results.examples.iloc[kept % len(results.examples)]
    drawn = drawn.assign(example_id=[f"test/{number}" for number in kept])
    _write(replace(results, columns=random_columns(results, count), examples=drawn), folder)


def long_texts(base: Path, folder: Path) -> None:
    """One run that keeps ten texts of `LONG` words."""
    results = store.load_results(base)
    draw = np.random.default_rng(0)
    lines = []
    for line in results.examples.head(KEPT_TOKENS // LONG).to_dict("records"):
        weights = draw.dirichlet(np.full(LONG, 0.1))
        readout = draw.normal(size=(LONG, 2))
        powers = np.exp(weights @ readout)
        lines.append(
            line
            | {
                "tokens": [f"word{number}" for number in range(LONG)],
                "evidence": [False] * LONG,
                "attention": weights,
                "furthest": draw.permutation(weights),
                "readout": readout.flatten(),
                "probs": powers / powers.sum(),
                "scores": [
                    {"measure": score["measure"], "values": draw.normal(size=LONG)}
                    for score in line["scores"]
                ],
            }
        )
    _write(replace(results, examples=pd.DataFrame(lines)), folder)


def _write(results: Results, folder: Path) -> None:
    folder.mkdir(parents=True)
    known = ("about", "format", "versions")
    details = {key: value for key, value in results.about["run"].items() if key not in known}
    store.write_results(results, folder, run=details)


def commands(inputs: Path, out: Path) -> dict[str, list[Any]]:
    """What is measured: name -> arguments of attnaudit."""
    runs, examples, long = inputs / "runs", inputs / "examples", inputs / "long"
    return {
        "many runs: report": ["report", runs, "--out", out / "runs.html"],
        "many runs: report --site": ["report", runs, "--site", out / "site-runs"],
        "many runs: correlate": ["correlate", runs],
        "many runs: tables --only runs": ["tables", runs, "--out", out / "t", "--only", "runs"],
        "many runs: tables": ["tables", runs, "--out", out / "t", "--format", "csv"],
        "many examples: report": ["report", examples, "--out", out / "examples.html"],
        "many examples: report --site": ["report", examples, "--site", out / "site-examples"],
        "many examples: tables": ["tables", examples, "--out", out / "t2"],
        "many examples: figures": ["figures", examples, "--out", out / "f"],
        "many examples: compare": ["compare", examples, examples],
        "long texts: report": ["report", long, "--out", out / "long.html"],
        "long texts: report --site": ["report", long, "--site", out / "site-long"],
    }


# Waits for a command and prints what it used. A process of its own, without large imports: a
# child's peak memory is at least that of the process it was forked from.
_LAUNCHER = """
import json, resource, subprocess, sys
try:
    code = subprocess.run(sys.argv[2:], stdout=sys.stderr, timeout=float(sys.argv[1])).returncode
except subprocess.TimeoutExpired:
    code = -9
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def measure(arguments: list[Any], limit: float) -> dict[str, Any]:
    """Run attnaudit; seconds, processor seconds, peak resident megabytes, and its exit code."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "attnaudit", *map(str, arguments)]
    launched = subprocess.run(
        [sys.executable, "-c", _LAUNCHER, str(limit), *command],
        capture_output=True,
        text=True,
        check=True,
    )
    code, processor, peak = json.loads(launched.stdout)
    measured = {
        "seconds": round(time.perf_counter() - start, 1),
        "processor_seconds": round(processor, 1),
        "peak_mb": round(peak),
        "exit_code": code,
        "load": round(os.getloadavg()[0], 1),
    }
    return measured if code == 0 else {**measured, "said": launched.stderr[-500:]}


def size(path: Path) -> float:
    """Megabytes of a file, or of all files of a folder."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return round(sum(each.stat().st_size for each in files) / 1e6, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--only", default="", help="part of the names of commands to measure")
    parser.add_argument("--inputs", type=Path, help="folder to make the inputs in, or with them")
    parser.add_argument("--limit", type=float, default=600, help="seconds until a command is ended")
    parser.add_argument("--json", type=Path, help="file for the measurements")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="report-scale-") as folder:
        inputs = given.inputs or Path(folder) / "inputs"
        if not (inputs / "long").is_dir():
            base = small_run(inputs / "base")
            many_runs(base, inputs / "runs", given.runs)
            many_examples(base, inputs / "examples", given.examples)
            long_texts(base, inputs / "long")
        results = {}
        print(f"{'command':32s} {'s':>7s} {'cpu s':>7s} {'peak MB':>8s} {'load':>5s}  MB written")
        for name, arguments in commands(inputs, Path(folder) / "out").items():
            if given.only not in name:
                continue
            shutil.rmtree(Path(folder) / "out", ignore_errors=True)
            (Path(folder) / "out").mkdir()
            results[name] = found = measure(arguments, given.limit)
            found["written_mb"] = size(Path(folder) / "out")
            print(
                f"{name:32s} {found['seconds']:7.1f} {found['processor_seconds']:7.1f} "
                f"{found['peak_mb']:8d} {found['load']:5.1f}  {found['written_mb']}"
                + (f"  exit code {found['exit_code']}" if found["exit_code"] else ""),
                flush=True,
            )
        if given.json:
            given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
