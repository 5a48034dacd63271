"""Write the error rates of the card of citations into documents, between two marks."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from benchmarks.calibration.document import write_document

MARKS = ("<!-- citation rates: begin -->", "<!-- citation rates: end -->")
QUESTIONS = ("verdict", "uses_sources", "cites_used", "follows_source")


def write_tables(answers: pd.DataFrame, errors: pd.DataFrame, path: Path) -> None:
    """Replace the tables between the marks of a document."""
    write_document(answers, errors, path, marks=MARKS, questions=QUESTIONS, unit="questions")
