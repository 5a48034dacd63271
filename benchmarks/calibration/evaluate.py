"""Compare the cards of audited models with the truth: false yes, false no, cannot tell.

    python -m benchmarks.calibration.evaluate FOLDER [--to FOLDER] [--wrong]

The card is made again from the stored summaries by today's rules. Writes models.csv (the truth
about every model), errors.csv (the rates) and errors.svg, and answers.csv next to the audits.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pandas as pd
from benchmarks.calibration.document import write_document
from benchmarks.calibration.outcomes import tabulate
from benchmarks.calibration.picture import draw
from benchmarks.calibration.truth import NO, YES

from attnaudit.results.card import Card
from attnaudit.results.questions import RULES, Question
from attnaudit.results.rules import make_card

VERDICT = "verdict"
_ENDS = {"rate": "", "low": "_low", "high": "_high"}
# The truth of a question, by its key, is this field of truth.json; others are not judged.
TRUTH_OF = {
    "points": "points",
    "matters": "matters",
    "only_story": "only_story",
    "stable": "stable",
    VERDICT: "faithful",
}


def answers_of(folder: Path) -> pd.DataFrame:
    """Make the card of every audited model again, and return one line per question.

    Parameters
    ----------
    folder : what `benchmarks.calibration.run` wrote.

    Returns
    -------
    DataFrame
        With the columns model, axis, strength, half, texts, question, answer, truth.
    """
    lines: list[dict[str, Any]] = []
    for truth_file in sorted(folder.glob("*/truth.json")):
        known = json.loads(truth_file.read_text(encoding="utf-8"))
        for file in truth_file.parent.glob("card_*.json"):
            size = int(file.stem.removeprefix("card_"))
            card = stored_card(truth_file.parent, size)
            answers = {question.key: card.answer_to(question) for question in Question}
            answers[VERDICT] = card.decision
            same = {name: known[name] for name in ("model", "axis", "strength", "half")}
            for key, answer in answers.items():
                truth = known.get(TRUTH_OF.get(key, ""), "")
                lines.append(
                    {**same, "texts": size, "question": key, "answer": answer, "truth": truth}
                )
    order = [*(question.key for question in Question), VERDICT]
    table = pd.DataFrame(lines)
    table["question"] = pd.Categorical(table["question"], order, ordered=True)
    table = table.sort_values(["question", "texts", "model"], ignore_index=True)
    return table.astype({"question": str})


def stored_card(folder: Path, size: int) -> Card:
    """Make a card by today's rules from a stored summary."""
    about = json.loads((folder / f"about_{size}.json").read_text(encoding="utf-8"))
    return make_card(pd.read_parquet(folder / f"summary_{size}.parquet"), about)


def models_of(folder: Path) -> pd.DataFrame:
    """Return the truth about every model, one line each."""
    files = sorted(folder.glob("*/truth.json"))
    return pd.DataFrame([json.loads(file.read_text(encoding="utf-8")) for file in files])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--to", type=Path, help="where to write; the folder itself if omitted")
    parser.add_argument("--wrong", action="store_true", help="list every wrong answer")
    parser.add_argument(
        "--rates", type=Path, help="where to write what the card says of itself (error_rates.json)"
    )
    parser.add_argument("--document", type=Path, help="docs/card.md, whose tables are replaced")
    options = parser.parse_args()
    target = options.to or options.folder
    target.mkdir(parents=True, exist_ok=True)
    answers = answers_of(options.folder)
    errors = tabulate(answers)
    models_of(options.folder).round(4).to_csv(target / "models.csv", index=False)
    answers.to_csv(options.folder / "answers.csv", index=False)
    errors.round(4).to_csv(target / "errors.csv", index=False)
    draw(errors, target / "errors.svg")
    if options.rates:
        text = json.dumps(rates_of_verdict(errors), indent=1)
        options.rates.write_text(text + "\n", encoding="utf-8")
    if options.document:
        write_document(answers, errors, options.document)
        draw(errors, options.document.parent / "images" / "calibration.svg")
    print(_printed(errors))
    if options.wrong:
        wrong = _wrong(answers)
        print(wrong.to_string(index=False))


def rates_of_verdict(errors: pd.DataFrame) -> dict[str, Any]:
    """Return the error rates of the verdict on the half that no threshold was chosen on.

    Of the numbers of texts, the one with the most false yes counts.
    """
    held_out = errors[(errors["question"] == VERDICT) & (errors["half"] == "held out")]
    rates: dict[str, Any] = {"rules": RULES}
    for name, cases in (("false_yes", "truth_no"), ("false_no", "truth_yes")):
        worst = held_out.loc[held_out[name].idxmax()]
        rates[name] = {
            "cases": int(worst[cases]),
            "texts": int(worst["texts"]),
            **{end: round(float(worst[f"{name}{suffix}"]), 4) for end, suffix in _ENDS.items()},
        }
    return rates


def _wrong(answers: pd.DataFrame) -> pd.DataFrame:
    false_yes = (answers["answer"] == YES) & answers["truth"].isin([NO, "not yes"])
    false_no = (answers["answer"] == NO) & (answers["truth"] == YES)
    return answers[false_yes | false_no]


def _printed(errors: pd.DataFrame) -> str:
    """The rates as "count/total = rate [low, high]", one line per question, texts and half."""
    lines = []
    for line in errors.to_dict("records"):
        parts = [f"{line['question']:10s} {line['texts']:5d} texts  {line['half']:8s}"]
        totals = {"false_yes": line["truth_no"], "false_no": line["truth_yes"]}
        for name in ("false_yes", "false_no", "cannot_tell", "partly"):
            total = totals.get(name, line["truth_no"] + line["truth_yes"])
            interval = f"[{line[f'{name}_low']:.2f}, {line[f'{name}_high']:.2f}]"
            count = f"{line[f'{name}_count']}/{total}"
            parts.append(f"{name.replace('_', ' ')} {count:>7s} = {line[name]:.2f} {interval}")
        lines.append("   ".join(parts))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
