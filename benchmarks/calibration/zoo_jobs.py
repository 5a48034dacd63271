"""One job for every model of the zoo, in several processes, continued where it was interrupted."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.unseen import unseen
from benchmarks.calibration.unseen_second import unseen_second
from benchmarks.calibration.zoo import zoo

from attnaudit.core.contract import AttentionModel, Batch

TRUTH_TEXTS = 100
_BATCH = 250


@dataclass(frozen=True)
class Job:
    """What is computed of each model.

    Parameters
    ----------
    title : in one line.
    truth_file : name of the file with the truth of a model.
    truth : (model, its entry, TRUTH_TEXTS texts) -> content of that file.
    sizes : numbers of texts that are audited.
    last_file : name of the file that the audit of a size writes last, with {} for the size.
    audit : (model, its entry, folder, size); writes the files of that size.
    """

    title: str
    truth_file: str
    truth: Callable[[AttentionModel, Entry, Batch], dict[str, Any]]
    sizes: tuple[int, ...]
    last_file: str
    audit: Callable[[AttentionModel, Entry, Path, int], None]

    def run(self, entry: Entry, folder: Path, sizes: Sequence[int] | None = None) -> str:
        """Compute what is not there yet of one model; a line for the terminal."""
        folder.mkdir(parents=True, exist_ok=True)
        started = time.process_time()
        model: AttentionModel | None = None
        if not (folder / self.truth_file).exists():
            model = entry.make()
            texts = entry.corpus.texts(TRUTH_TEXTS, seed=0, name="truth")
            write_json(folder / self.truth_file, self.truth(model, entry, texts))
        for size in self.sizes if sizes is None else sizes:
            if not (folder / self.last_file.format(size)).exists():
                model = model or entry.make()
                self.audit(model, entry, folder, size)
        return f"{entry.name}: {time.process_time() - started:.1f} s"


def audited_texts(entry: Entry, size: int) -> list[Batch]:
    """The texts that are audited at a size, in batches."""
    texts = entry.corpus.texts(size, seed=size, name="audit")
    return [texts.rows(part) for part in torch.arange(len(texts)).split(_BATCH)]


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(content, indent=1), encoding="utf-8")
    unfinished.replace(path)


def run_over_zoo(job: Job) -> None:
    """Run a job with the options of the command line."""
    parser = argparse.ArgumentParser(description=job.title)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--texts", type=int, nargs="*", default=list(job.sizes), help="none: truth only"
    )
    parser.add_argument("--only", nargs="+", default=[], help="beginnings of model names")
    parser.add_argument(
        "--unseen",
        action="store_true",
        help="the models of unseen.py and unseen_second.py, which no rule was chosen on",
    )
    options = parser.parse_args()
    entries = [*unseen(), *unseen_second()] if options.unseen else zoo()
    # The half that the error rates are of comes first: an interrupted run then has that half.
    entries = sorted(entries, key=lambda entry: entry.half != "held out")
    names = [entry.name for entry in entries if entry.name.startswith(tuple(options.only) or "")]
    tasks = [(job, name, options.out, tuple(options.texts)) for name in names]
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for number, line in enumerate(pool.imap_unordered(_run_named, tasks), 1):
            print(f"{number}/{len(tasks)} {line}", flush=True)


def _run_named(task: tuple[Job, str, Path, tuple[int, ...]]) -> str:
    """Run one model by its name: models themselves cannot be sent to another process."""
    job, name, folder, sizes = task
    torch.set_num_threads(1)
    entry = next(entry for entry in (*zoo(), *unseen(), *unseen_second()) if entry.name == name)
    return job.run(entry, folder / name, sizes)
