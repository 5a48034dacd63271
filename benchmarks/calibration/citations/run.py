"""Audit every reader on 20, 50 and 200 questions, and count how often the card is wrong.

    python -m benchmarks.calibration.citations.run --out FOLDER [--to FOLDER] [--rates FILE]
        [--document FILE …] [--thresholds] [--wrong]

Takes a few minutes of one core. FOLDER/citation_answers.csv has the answers of every card; what it
holds already is not audited again. Writes citation_readers.csv (the knobs and the truth of every
reader) and citation_errors.csv (the rates). --thresholds counts errors under other thresholds on
the half that they may be chosen on.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from benchmarks.calibration.citations.document import write_tables
from benchmarks.calibration.citations.readers import Program, ProgramReader, questions
from benchmarks.calibration.citations.truth import truth_of
from benchmarks.calibration.citations.zoo import FIT, half_of, zoo
from benchmarks.calibration.evaluate import rates_of_verdict
from benchmarks.calibration.outcomes import count_outcomes, tabulate

from attnaudit.auditing.citation_job import citation_battery
from attnaudit.auditing.summarised import summarised
from attnaudit.results.questions import DECIDING_CITATION, Thresholds

SIZES = (20, 50, 200)
RESULTS = Path(__file__).parents[1] / "results"
AUDITS = ("source_use", "source_order")  # all that the card decides by
MEASURES = ("attention", "attention_shuffled", "random")
QUESTIONS = DECIDING_CITATION
_OTHERS = {"yes": (0.6, 0.7, 0.75, 0.8, 0.9), "no": (0.2, 0.3, 0.4, 0.5)}


def audit_reader(program: Program, size: int) -> list[dict[str, Any]]:
    """One line per question of the card, with answer, truth and the interval that decides."""
    model = ProgramReader(program)
    battery = citation_battery(model, AUDITS, MEASURES, seed=size)  # type: ignore[arg-type]
    collector = battery.run(model.batches(questions(program, size, seed=size)))
    card = summarised(
        battery, collector.table.columns(), collector.examples, collector.facts, None
    ).card()
    truth = truth_of(program)
    same = {"model": program.name, "half": half_of(program), "texts": size}
    lines = []
    for question in QUESTIONS:
        answer = card[question.key]
        first = answer.findings[0] if answer.findings else None
        (limits,) = question.thresholds.values()
        ends = (None, None)
        if first is not None and answer.answer != "cannot tell":
            ends = (
                (first.relative_low, first.relative_high)
                if limits.relative
                else (first.low, first.high)
            )
        found = {"question": question.key, "answer": answer.answer, "truth": truth[question.key]}
        lines.append({**same, **found, "low": ends[0], "high": ends[1]})
    verdict = {"question": "verdict", "answer": card.decision, "truth": truth["verdict"]}
    return [*lines, {**same, **verdict, "low": None, "high": None}]


def under_thresholds(answers: pd.DataFrame) -> pd.DataFrame:
    """Errors of `cites_used` and `follows_source` on the fit half, under other thresholds."""
    lines = []
    known = answers[(answers["half"] == FIT) & answers["low"].notna()]
    for key in ("cites_used", "follows_source"):
        part = known[known["question"] == key]
        for yes in _OTHERS["yes"]:
            for no in _OTHERS["no"]:
                limits = Thresholds(yes, no)
                pairs = [
                    (limits.judge(line.low, line.high)[0], line.truth) for line in part.itertuples()
                ]
                counted = count_outcomes(pairs)
                lines.append({"question": key, "yes": yes, "no": no, **counted})
    wanted = ["false_yes", "false_no", "right_yes", "right_no", "partly"]
    return pd.DataFrame(lines)[["question", "yes", "no", *wanted]].round(3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="for the answers of every card")
    parser.add_argument("--to", type=Path, default=RESULTS)
    parser.add_argument("--rates", type=Path, help="citation_error_rates.json of the package")
    parser.add_argument("--document", type=Path, nargs="*", default=[], help="docs with the tables")
    parser.add_argument("--thresholds", action="store_true")
    parser.add_argument("--wrong", action="store_true", help="list every wrong answer")
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    file = options.out / "citation_answers.csv"
    answers = pd.read_csv(file) if file.exists() else pd.DataFrame(columns=["model", "texts"])
    done = set(zip(answers["model"], answers["texts"], strict=True))
    for program in zoo():
        new = [
            line
            for size in SIZES
            if (program.name, size) not in done
            for line in audit_reader(program, size)
        ]
        if new:
            answers = pd.concat([answers, pd.DataFrame(new)], ignore_index=True)
            answers.round(4).to_csv(file, index=False)
            print(program.name, flush=True)
    pd.DataFrame([asdict(program) | truth_of(program) for program in zoo()]).to_csv(
        options.to / "citation_readers.csv", index=False
    )
    errors = tabulate(answers)
    errors.round(4).to_csv(options.to / "citation_errors.csv", index=False)
    if options.rates:
        text = json.dumps(rates_of_verdict(errors), indent=1)
        options.rates.write_text(text + "\n", encoding="utf-8")
    for path in options.document:
        write_tables(answers, errors, path)
    if options.thresholds:
        print(under_thresholds(answers).to_string(index=False))
    if options.wrong:
        yes, no = answers["answer"] == "yes", answers["answer"] == "no"
        wrong = (yes & (answers["truth"] == "no")) | (no & (answers["truth"] == "yes"))
        print(answers[wrong].to_string(index=False))


if __name__ == "__main__":
    main()
