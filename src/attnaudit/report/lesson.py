"""The lesson as one self-contained page; its text is in templates/lesson.html."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attnaudit.core.output_files import write_file
from attnaudit.report.examples import all_examples
from attnaudit.report.page import render
from attnaudit.results.card import Card
from attnaudit.results.results import Results

SCRIPTS = (
    "dom.js",
    "unpack.js",
    "exact.js",
    "heatmap.js",
    "outcome.js",
    "word_field.js",
    "playground.js",
    "lesson.js",
)


def write_lesson(shown: Mapping[str, Results], cards: Mapping[str, Card], path: Path) -> Path:
    """shown: model -> results of the sentences to play with; cards: model -> its card."""
    examples = {
        kind: {example["id"]: example for example in all_examples(results)}
        for kind, results in shown.items()
    }
    first = next(iter(shown.values()))
    data = {"lesson": {"classes": first.about["classes"], "models": examples}}
    furthest = {
        kind: dict(
            zip(results.examples["example_id"], results.examples["furthest_jsd"], strict=True)
        )
        for kind, results in shown.items()
    }
    return write_file(
        path, render("lesson.html", scripts=SCRIPTS, data=data, cards=cards, furthest=furthest)
    )
