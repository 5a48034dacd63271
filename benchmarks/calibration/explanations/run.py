"""Audit the explanations of every model of the zoo, and keep what their ranking is made of.

    python -m benchmarks.calibration.explanations.run --out FOLDER [--jobs 2] [--texts 20 50]
        [--only NAME …] [--unseen]

Per model, FOLDER/NAME gets explanations_truth.json, and per number of texts n:
explanations_n.parquet (the summary of the tests), contrast_n.parquet (what the ranking compares,
text by text) and explanations_n.json (the decision of the card, and facts). What is there is not
made again; rules can be tried on it without auditing (`evaluate`). Seconds are processor time.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.explanations.planted import PLANTED
from benchmarks.calibration.explanations.truth import truth_of_explanations
from benchmarks.calibration.zoo_jobs import Job, audited_texts, run_over_zoo, write_json

import attnaudit
from attnaudit.auditing.explanations import find_explanations
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.results.explanation_ranking import PLACE
from attnaudit.results.explanation_tests import TESTS
from attnaudit.results.results import Results

COMPARED = {"all": "all", **PLANTED}
# With those that judge explanations, all that makes the card a no or not.
AUDITS = ("permutation", "top_words", "polarity")
MEASURES = ("attention", "leave_one_out", "random")


def truth(model: AttentionModel, entry: Entry, texts: Batch) -> dict[str, Any]:
    """What is known of the model's explanations from all sets of words."""
    found = truth_of_explanations(model, texts, find_explanations(COMPARED))
    known = {"model": entry.name, "axis": entry.axis, "half": entry.half}
    return {**known, "explanations": {name: asdict(truth) for name, truth in found.items()}}


def explanation_audit(model: AttentionModel, entry: Entry, size: int) -> Results:
    """Audit a model's explanations, and what decides whether its card is a no."""
    return attnaudit.audit(
        model,
        audited_texts(entry, size),
        audits=AUDITS,
        measures=MEASURES,
        explanations=COMPARED,
        keep_examples=0,
        show_progress=False,
    )


def audit(model: AttentionModel, entry: Entry, folder: Path, size: int) -> None:
    """Write the summary of the tests, what the ranking compares, and the decision of the card."""
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


EXPLANATIONS = Job(
    title="Audit the explanations of every model of the zoo, and keep what their ranking is of.",
    truth_file="explanations_truth.json",
    truth=truth,
    # Not 1,000: `top_words` reads about 100 texts of any number, and stability 60.
    sizes=(20, 50, 200),
    last_file="explanations_{}.json",
    audit=audit,
)

if __name__ == "__main__":
    run_over_zoo(EXPLANATIONS)
