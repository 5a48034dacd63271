"""Words coloured by weight: the attention beside the furthest one that gives the same prediction."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnaudit.results import Results


def heatmaps(results: Results, count: int) -> list[dict[str, Any]]:
    """The first `count` illustrated examples, of sites with one row."""
    one_row = [line for line in results.examples.itertuples() if len(line.attention) == len(line.tokens)]
    return [_heatmap(line, results.about["classes"]) for line in one_row[:count]]


def _heatmap(example: Any, classes: list[str]) -> dict[str, Any]:
    evidence = example.evidence if example.evidence is not None else [False] * len(example.tokens)
    probability = float(example.probs[example.predicted])
    return {
        "id": example.example_id,
        "query": example.query,
        "predicted": classes[example.predicted],
        "probability": probability,
        "label": classes[example.label] if example.label >= 0 else None,
        "jsd": example.furthest_jsd,
        "upper": example.furthest_upper,
        "exact": example.furthest_exact,
        "rows": [
            {"name": name, "words": _words(example.tokens, weights, evidence)}
            for name, weights in (
                ("attention", example.attention),
                ("furthest with the same prediction", example.furthest),
            )
        ],
    }


def _words(tokens: Any, weights: Any, evidence: Any) -> list[dict[str, Any]]:
    """shade 0 to 10, relative to the largest weight of the text, so that a class in the style sheet can colour it."""
    top = max(float(np.max(weights)), 1e-12) if len(weights) else 1.0
    return [
        {
            "text": text,
            "weight": float(weight),
            "shade": round(10 * float(weight) / top),
            "evidence": bool(known),
        }
        for text, weight, known in zip(tokens, weights, evidence, strict=True)
    ]
