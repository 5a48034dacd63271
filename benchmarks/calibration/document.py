"""Write the measured error rates into docs/card.md, between two marks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from benchmarks.calibration.truth import NO, NOT_YES, OPEN, YES

BEGIN, END = "<!-- calibration: begin -->", "<!-- calibration: end -->"
_ANSWERS = ("yes", "partly", "no", "cannot tell")
_TRUTHS = {"faithful": (YES,), "not faithful": (NO, NOT_YES), "open": (OPEN,)}
_QUESTIONS = ("verdict", "matters", "points", "only_story", "stable")


def write_document(
    answers: pd.DataFrame,
    errors: pd.DataFrame,
    path: Path,
    *,
    marks: tuple[str, str] = (BEGIN, END),
    questions: Sequence[str] = _QUESTIONS,
    unit: str = "texts",
) -> None:
    """Replace what stands between the marks of a document.

    Parameters
    ----------
    answers : as `evaluate.answers_of` returns.
    errors : as `outcomes.tabulate` returns.
    path : of the document.
    marks : before and after the tables.
    questions : in the order of the table; "verdict" is among them.
    unit : what the numbers of texts count.
    """
    parts = [_confusion(answers, unit), _rates(errors, questions, unit)]
    replace_between(path, marks, "\n\n".join(parts))


def replace_between(path: Path, marks: tuple[str, str], body: str) -> None:
    """Replace what stands between two marks of a document, which must have both."""
    begin, end = marks
    text = path.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        raise ValueError(
            f"{path} must have the lines {begin!r} and {end!r}; put them where the tables belong."
        )
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    path.write_text(f"{before}{begin}\n{body}\n{end}{after}", encoding="utf-8")


def _confusion(answers: pd.DataFrame, unit: str) -> str:
    """The verdict against the truth on the held-out half, per number of texts."""
    held_out = answers[(answers["half"] == "held out") & (answers["question"] == "verdict")]
    lines = [
        f"| {unit} | truth | " + " | ".join(f"says {answer}" for answer in _ANSWERS) + " |",
        "|---|---|" + "---|" * len(_ANSWERS),
    ]
    for texts in sorted(held_out["texts"].unique()):
        part = held_out[held_out["texts"] == texts]
        for words, truths in _TRUTHS.items():
            found = part[part["truth"].isin(truths)]["answer"]
            counts = " | ".join(str(int((found == answer).sum())) for answer in _ANSWERS)
            lines.append(f"| {texts:,} | {words} ({len(found)}) | {counts} |")
    return "\n".join(lines)


def _rates(errors: pd.DataFrame, questions: Sequence[str], unit: str) -> str:
    """False yes and false no of the held-out half with their intervals."""
    lines = [
        f"| question | {unit} | false yes | false no | partly | cannot tell |",
        "|---|---|---|---|---|---|",
    ]
    held_out = errors[errors["half"] == "held out"]
    for question in questions:
        part = held_out[held_out["question"] == question].sort_values("texts")
        for line in part.to_dict("records"):
            wrong = [
                f"{line[f'{name}_count']} of {line[cases]}: {100 * line[name]:.1f} % "
                f"[{100 * line[f'{name}_low']:.0f}, {100 * line[f'{name}_high']:.0f}]"
                for name, cases in (("false_yes", "truth_no"), ("false_no", "truth_yes"))
            ]
            others = [f"{100 * line[name]:.0f} %" for name in ("partly", "cannot_tell")]
            cells = " | ".join([question.replace("_", " "), f"{line['texts']:,}", *wrong, *others])
            lines.append(f"| {cells} |")
    return "\n".join(lines)
