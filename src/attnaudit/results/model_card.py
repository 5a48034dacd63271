"""The card as a section of a Hugging Face model card, with its numbers as `model-index`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attnaudit.results.card import Card
from attnaudit.results.gate_reports import answers_table
from attnaudit.results.questions import (
    PROBABILITY_CHANGE,
    STRICT_DISTANCE,
    TOP_WEIGHT_KEPT,
    TOP_WORDS_CONTRAST,
)

_REPORTED = (
    TOP_WORDS_CONTRAST,
    PROBABILITY_CHANGE,
    STRICT_DISTANCE,
    TOP_WEIGHT_KEPT,
)


def model_card_section(card: Card, about: Mapping[str, Any]) -> str:
    """Front matter with `model-index`, and a section in Markdown.

    Parameters
    ----------
    card : of the results.
    about : what is stored about them; `texts` names the model and the data.
    """
    texts = about.get("texts", {})
    model, data = texts.get("model", "model"), texts.get("file", "texts")
    metrics = [
        {"type": finding.name, "value": round(finding.value, 4), "name": finding.meaning}
        for answer in card.answers
        for finding in answer.findings
        if finding.name in _REPORTED
    ]
    accuracy = (about.get("accuracy") or {}).get("mean")
    if accuracy is not None:
        metrics.insert(0, {"type": "accuracy", "value": round(accuracy, 4), "name": "accuracy"})
    metrics.append(
        {"type": "attention_as_explanation", "value": card.decision, "name": "attnaudit verdict"}
    )
    result = {
        "task": {"type": "text-classification"},
        "dataset": {"name": data, "type": data},
        "metrics": metrics,
    }
    # JSON is YAML, and quotes every text.
    index = json.dumps([{"name": model, "results": [result]}], ensure_ascii=False)
    lines = [
        "---",
        f"model-index: {index}",
        "---",
        "",
        "## May its attention be shown as an explanation?",
        "",
        f"**{card.verdict}**",
        "",
        card.next_step,
        "",
        *answers_table(card),
        "",
        *(f"- {caution}" for caution in card.cautions),
        "",
        f"{card.accuracy} Audited with attnaudit.",
        "",
    ]
    return "\n".join(lines)
