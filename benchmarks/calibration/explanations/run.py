"""Audit the explanations of every model of the zoo, and keep what their ranking is made of.

    python -m benchmarks.calibration.explanations.run --out FOLDER [--jobs 2] [--texts 20 50]
        [--only NAME …] [--unseen]

Per model, FOLDER/NAME gets explanations_truth.json, and per number of texts n:
explanations_n.parquet (the summary of the tests), contrast_n.parquet (what the ranking compares,
text by text) and explanations_n.json (the decision of the card, and facts). What is there is not
made again; rules can be tried on it without auditing (`evaluate`). Seconds are processor time.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import torch
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.explanations.planted import PLANTED
from benchmarks.calibration.explanations.truth import truth_of_explanations
from benchmarks.calibration.run import (
    TRUTH_TEXTS,
    Task,
    chosen_names,
    run_tasks,
    split_texts,
    write_json,
)
from benchmarks.calibration.unseen import unseen
from benchmarks.calibration.unseen_second import unseen_second
from benchmarks.calibration.zoo import zoo

import attnaudit
from attnaudit.auditing.explanations import find_explanations
from attnaudit.core.contract import AttentionModel
from attnaudit.results.explanation_ranking import PLACE
from attnaudit.results.explanation_tests import TESTS
from attnaudit.results.results import Results

# Not 1,000: `top_words` reads about 100 texts of any number, and stability 60.
SIZES = (20, 50, 200)
COMPARED = {"all": "all", **PLANTED}
# With those that judge explanations, all that makes the card a no or not.
AUDITS = ("permutation", "top_words", "polarity")
MEASURES = ("attention", "leave_one_out", "random")


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
    truth_file = folder / "explanations_truth.json"
    if not truth_file.exists():
        model = entry.make()
        texts = entry.corpus.texts(TRUTH_TEXTS, seed=0, name="truth")
        found = truth_of_explanations(model, texts, find_explanations(COMPARED))
        known = {"model": entry.name, "axis": entry.axis, "half": entry.half}
        explanations = {name: asdict(truth) for name, truth in found.items()}
        write_json(truth_file, {**known, "explanations": explanations})
    for size in sizes:
        # Written last, so that it stands for all files of this size.
        if not (folder / f"explanations_{size}.json").exists():
            model = model or entry.make()
            _audit(model, entry, folder, size)
    return f"{entry.name}: {time.process_time() - started:.1f} s"


def explanation_audit(model: AttentionModel, entry: Entry, size: int) -> Results:
    """Audit a model's explanations, and what decides whether its card is a no."""
    return attnaudit.audit(
        model,
        split_texts(entry.corpus.texts(size, seed=size, name="audit")),
        audits=AUDITS,
        measures=MEASURES,
        explanations=COMPARED,
        keep_examples=0,
        show_progress=False,
    )


def _audit(model: AttentionModel, entry: Entry, folder: Path, size: int) -> None:
    started = time.process_time()
    results = explanation_audit(model, entry, size)
    lines = results.summaries
    of_tests = lines["audit"].isin([PLACE[0], *(test.audit for test in TESTS)])
    lines[of_tests].to_parquet(folder / f"explanations_{size}.parquet")
    _contrast(results).to_parquet(folder / f"contrast_{size}.parquet")
    about = {
        name: results.about[name]
        for name in ("seed", "explanations", "measures_not_applicable", "seconds_per_text")
    }
    seconds = round(time.process_time() - started, 2)
    content = {"decision": results.card().decision, "about": about, "seconds": seconds}
    write_json(folder / f"explanations_{size}.json", content)


def _contrast(results: Results) -> pd.DataFrame:
    """What the ranking compares: one column per explanation, one line per text."""
    compared = {key[1]: key for key in results.columns.keys if (key[0], key[2]) == PLACE}
    return pd.DataFrame({name: results.columns.column(key) for name, key in compared.items()})


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
    parser.add_argument("--texts", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--only", nargs="+", default=[], help="beginnings of model names")
    parser.add_argument(
        "--unseen",
        action="store_true",
        help="the models of unseen.py and unseen_second.py, which no rule was chosen on",
    )
    options = parser.parse_args()
    names = chosen_names([*unseen(), *unseen_second()] if options.unseen else zoo(), options.only)
    run_tasks(
        _run_named, [(name, options.out, tuple(options.texts)) for name in names], options.jobs
    )


if __name__ == "__main__":
    main()
