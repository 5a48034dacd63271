"""Audit every model of the zoo on 20, 50, 200 and 1,000 texts, and keep what a card is made of.

    python -m benchmarks.calibration.run --out FOLDER [--jobs 2] [--texts 20 50]
        [--only NAME …] [--unseen]

Per model, FOLDER/NAME holds truth.json, and per number of texts n: summary_n.parquet, about_n.json
and card_n.json. What is there is not made again, so an interrupted run can be continued; rules of
the card can be tried on the stored summaries without auditing (`evaluate`). Seconds are processor
time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from benchmarks.calibration.card_audit import card_audit
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.labels import truth_of_model
from benchmarks.calibration.truth import truth_of_texts
from benchmarks.calibration.unseen import unseen
from benchmarks.calibration.unseen_second import unseen_second
from benchmarks.calibration.zoo import zoo

from attnaudit.core.contract import AttentionModel, Batch

Task = tuple[str, Path, tuple[int, ...]]  # name of a model, folder, numbers of texts
SIZES = (20, 50, 200, 1000)
TRUTH_TEXTS = 100
_BATCH = 250


def run_entry(entry: Entry, folder: Path, sizes: tuple[int, ...] = SIZES) -> str:
    """Compute the truth and the audits of one model that are not there yet.

    Returns
    -------
    str
        One line for the terminal.
    """
    folder.mkdir(parents=True, exist_ok=True)
    started = time.process_time()
    model: AttentionModel | None = None
    truth_file = folder / "truth.json"
    if not truth_file.exists():
        model = entry.make()
        texts = entry.corpus.texts(TRUTH_TEXTS, seed=0, name="truth")
        found = truth_of_model(truth_of_texts(model, texts))
        seconds = time.process_time() - started
        write_json(truth_file, {**_known(entry), **asdict(found), "seconds": round(seconds, 2)})
    for size in sizes:
        # Written last, so that it stands for all files of this size.
        if not (folder / f"card_{size}.json").exists():
            model = model or entry.make()
            _audit(model, entry, folder, size)
    return f"{entry.name}: {time.process_time() - started:.1f} s"


def _audit(model: AttentionModel, entry: Entry, folder: Path, size: int) -> None:
    started = time.process_time()
    texts = entry.corpus.texts(size, seed=size, name="audit")
    results = card_audit(model, split_texts(texts))
    results.summaries.to_parquet(folder / f"summary_{size}.parquet")
    seconds = round(time.process_time() - started, 2)
    write_json(folder / f"about_{size}.json", {**results.about, "calibration_seconds": seconds})
    write_json(folder / f"card_{size}.json", results.card().as_dict())


def split_texts(texts: Batch) -> list[Batch]:
    """Return the texts in batches."""
    return [texts.rows(part) for part in torch.arange(len(texts)).split(_BATCH)]


def _known(entry: Entry) -> dict[str, Any]:
    known = {
        "model": entry.name,
        "axis": entry.axis,
        "strength": entry.strength,
        "half": entry.half,
        "classes": entry.corpus.classes,
    }
    judged = {"only_story": entry.only_story, "stable": entry.stable, "expected": entry.expected}
    return known | judged


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(content, indent=1), encoding="utf-8")
    unfinished.replace(path)


def _run_named(task: Task) -> str:
    """Run one model by its name: models themselves cannot be sent to another process."""
    name, folder, sizes = task
    torch.set_num_threads(1)
    entry = next(entry for entry in (*zoo(), *unseen(), *unseen_second()) if entry.name == name)
    return run_entry(entry, folder / name, sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--texts", type=int, nargs="*", default=list(SIZES), help="none: truth only"
    )
    parser.add_argument("--only", nargs="+", default=[], help="beginnings of model names")
    parser.add_argument(
        "--unseen",
        action="store_true",
        help="the models of unseen.py and unseen_second.py: after rules are frozen",
    )
    options = parser.parse_args()
    entries = [*unseen(), *unseen_second()] if options.unseen else zoo()
    names = chosen_names(entries, options.only)
    tasks = [(name, options.out, tuple(options.texts)) for name in names]
    run_tasks(_run_named, tasks, options.jobs)


def chosen_names(entries: Sequence[Entry], beginnings: Sequence[str]) -> list[str]:
    """Return the names that begin so; the half that the error rates are of comes first.

    An interrupted run then has that half.
    """
    names = [entry.name for entry in sorted(entries, key=lambda entry: entry.half != "held out")]
    return [name for name in names if name.startswith(tuple(beginnings) or "")]


def run_tasks(run_task: Callable[[Task], str], tasks: Sequence[Task], jobs: int) -> None:
    """Run every task in one of `jobs` processes, and print what it returns."""
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for number, line in enumerate(pool.imap_unordered(run_task, tasks), 1):
            print(f"{number}/{len(tasks)} {line}", flush=True)


if __name__ == "__main__":
    main()
