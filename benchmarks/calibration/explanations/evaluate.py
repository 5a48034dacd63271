"""Compare tests of explanations and recommendations with the truth.

    python -m benchmarks.calibration.explanations.evaluate FOLDER [--to FOLDER] [--rates FILE]
        [--document FILE] [--fit] [--wrong]

Writes explanation_errors.csv (per explanation) and recommendation_errors.csv, and next to the
audits explanation_answers.csv and recommendations.csv. With --fit only the half that rules may be
chosen on is read, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd
from benchmarks.calibration.explanations.answers import NOTHING, answers_of
from benchmarks.calibration.explanations.document import write_tables
from benchmarks.calibration.explanations.outcomes import (
    HALVES,
    explanation_errors,
    recommendation_errors,
    stated_rates,
)
from benchmarks.calibration.explanations.picture import draw
from benchmarks.calibration.truth import NO, NOT_YES, YES

RESULTS = Path(__file__).parents[1] / "results"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--to", type=Path, default=RESULTS)
    parser.add_argument("--rates", type=Path, help="explanation_error_rates.json of the package")
    parser.add_argument("--document", type=Path, help="docs/explanations.md")
    parser.add_argument("--fit", action="store_true", help="the fit half only; writes nothing")
    parser.add_argument("--wrong", action="store_true", help="list every wrong recommendation")
    options = parser.parse_args()
    answers, chosen = answers_of(options.folder, HALVES[:1] if options.fit else HALVES)
    errors, recommendations = explanation_errors(answers), recommendation_errors(chosen)
    if not options.fit:
        answers.to_csv(options.folder / "explanation_answers.csv", index=False)
        chosen.to_csv(options.folder / "recommendations.csv", index=False)
        errors.round(4).to_csv(options.to / "explanation_errors.csv", index=False)
        recommendations.round(4).to_csv(options.to / "recommendation_errors.csv", index=False)
        if options.rates:
            text = json.dumps(stated_rates(recommendations, errors), indent=1)
            options.rates.write_text(text + "\n", encoding="utf-8")
        if options.document:
            write_tables(chosen, recommendations, errors, options.document)
            images = options.document.parent / "images"
            draw(recommendations, errors, images / "explanation_errors.svg")
    with pd.option_context("display.width", 200, "display.max_columns", None):
        print(recommendations.round(3).to_string(index=False))
        print(_short(errors).to_string(index=False))
        if options.wrong:
            missed = (chosen["best"] == YES) & (chosen["explanation"] == NOTHING)
            is_wrong = chosen["truth"].isin([NO, NOT_YES]) | missed
            print(chosen[is_wrong].to_string(index=False))


def _short(errors: pd.DataFrame) -> pd.DataFrame:
    """The counts as "count/cases"."""
    table = errors[["explanation", "question", "texts", "half"]].copy()
    for name, cases in (("false_pass", "truth_no"), ("false_fail", "truth_yes")):
        counts = zip(errors[f"{name}_count"], errors[cases], strict=True)
        table[name] = [f"{count}/{total}" for count, total in counts]
    table["right_pass"] = errors["right_pass"].round(2)
    return table


if __name__ == "__main__":
    main()
