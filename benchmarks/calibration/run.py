"""Audit every model of the zoo on 20, 50, 200 and 1,000 texts, and keep what a card is made of.

    python -m benchmarks.calibration.run --out FOLDER [--jobs 2] [--texts 20 50]
        [--only NAME …] [--unseen]

Per model, FOLDER/NAME holds truth.json, and per number of texts n: summary_n.parquet, about_n.json
and card_n.json. What is there is not made again, so an interrupted run can be continued; rules of
the card can be tried on the stored summaries without auditing (`evaluate`). Seconds are processor
time.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.calibration.card_audit import card_audit
from benchmarks.calibration.entry import Entry
from benchmarks.calibration.labels import truth_of_model
from benchmarks.calibration.truth import truth_of_texts
from benchmarks.calibration.zoo_jobs import Job, audited_texts, run_over_zoo, write_json

from attnaudit.core.contract import AttentionModel, Batch


def truth(model: AttentionModel, entry: Entry, texts: Batch) -> dict[str, Any]:
    """What is known of a model by construction, and what is computed from all sets of words."""
    started = time.process_time()
    found = asdict(truth_of_model(truth_of_texts(model, texts)))
    known = {
        "model": entry.name,
        "axis": entry.axis,
        "strength": entry.strength,
        "half": entry.half,
        "classes": entry.corpus.classes,
    }
    judged = {"only_story": entry.only_story, "stable": entry.stable, "expected": entry.expected}
    return known | judged | found | {"seconds": round(time.process_time() - started, 2)}


def audit(model: AttentionModel, entry: Entry, folder: Path, size: int) -> None:
    """Write the summary, what the card says about the audit, and the card of one size."""
    started = time.process_time()
    results = card_audit(model, audited_texts(entry, size))
    results.summaries.to_parquet(folder / f"summary_{size}.parquet")
    seconds = round(time.process_time() - started, 2)
    write_json(folder / f"about_{size}.json", {**results.about, "calibration_seconds": seconds})
    write_json(folder / f"card_{size}.json", results.card().as_dict())


CARDS = Job(
    title="Audit every model of the zoo, and keep what a card is made of.",
    truth_file="truth.json",
    truth=truth,
    sizes=(20, 50, 200, 1000),
    last_file="card_{}.json",
    audit=audit,
)

if __name__ == "__main__":
    run_over_zoo(CARDS)
