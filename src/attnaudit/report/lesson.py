"""The lesson as one self-contained page; its text is in templates/lesson.html."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attnaudit.core.output_files import write_file
from attnaudit.report import scripts
from attnaudit.report.examples import all_examples
from attnaudit.report.page import render
from attnaudit.results.card import Card
from attnaudit.results.results import Results


def write_lesson(sentences: Mapping[str, Results], cards: Mapping[str, Card], path: Path) -> Path:
    """Write the lesson.

    Parameters
    ----------
    sentences
        Model name -> results on the sentences of the playgrounds.
    cards
        Model name -> its card.
    path
        The page to write.

    Returns
    -------
    Path
        The page.
    """
    examples = {
        model: {example["id"]: example for example in all_examples(results)}
        for model, results in sentences.items()
    }
    first = next(iter(sentences.values()))
    data = {"lesson": {"classes": first.about["classes"], "models": examples}}
    furthest = {
        model: dict(
            zip(results.examples["example_id"], results.examples["furthest_jsd"], strict=True)
        )
        for model, results in sentences.items()
    }
    html = render("lesson.html", scripts=scripts.LESSON, data=data, cards=cards, furthest=furthest)
    return write_file(path, html)
