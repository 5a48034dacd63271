"""From collected values to results: what is said about the audit, and the summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import torch

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.collector import Facts
from attnaudit.audits.declaration import declaration_of, scales
from attnaudit.core.errors import InputError
from attnaudit.results.questions import EXPLANATION, RULES
from attnaudit.results.results import Results
from attnaudit.results.value_columns import ValueColumns
from attnaudit.statistics import bootstrap


def summarised(
    battery: Battery,
    columns: ValueColumns,
    kept: Iterable[dict[str, Any]],
    facts: Facts,
    class_names: Sequence[str] | None,
) -> Results:
    """The results of an audit.

    Parameters
    ----------
    battery : what was run.
    columns, kept, facts : what was collected of all examples.
    class_names : one per class; if omitted those of the model, or the class numbers.
    """
    names = getattr(battery.model, "class_names", None) if class_names is None else class_names
    words = battery.word_level
    audits = {**battery.audits, **(words.audits if words is not None else {})}
    declarations = {name: declaration_of(audit) for name, audit in audits.items()}
    about = {
        "rules": RULES,
        "seed": battery.seed,
        "classes": check_class_names(names, facts.classes),
        "audits": list(audits),
        "measures": list(battery.measures),
        **facts.about(),
        "illustrated": len(battery.kept),
        "majority": _majority(columns.examples),
        "accuracy": _accuracy(columns.examples, battery.seed),
        "model": dict(getattr(battery.model, "about", {})),
        "scales": scales(declarations),
    }
    if battery.card != EXPLANATION:
        about["card"] = battery.card
    if words is not None:
        about["word_measures"] = list(words.measures)
    if battery.explanations:
        about["explanations"] = list(battery.explanations)
        texts = max(len(columns), 1)
        about["seconds_per_text"] = {
            name: seconds / texts for name, seconds in facts.seconds.items()
        }
    return Results.of(columns, kept, about, declarations)


def check_class_names(names: Sequence[str] | None, count: int) -> list[str]:
    """One name per class; the class numbers if None."""
    if names is None:
        return [str(number) for number in range(count)]
    if len(names) != count:
        raise InputError(f"class_names has {len(names)} names, but the model has {count} classes.")
    if len(set(names)) < count or "all" in names:
        raise InputError(
            'class_names must differ from each other and from "all", which stands for every class; '
            f"got {list(names)}."
        )
    return list(names)


def _majority(examples: pd.DataFrame) -> float | None:
    """Accuracy of the majority-class baseline; None unless all examples have labels."""
    if (examples["label"] < 0).any():
        return None
    return float(examples["label"].value_counts().iloc[0] / len(examples))


def _accuracy(examples: pd.DataFrame, seed: int) -> dict[str, float | None] | None:
    """Accuracy with its interval (None with fewer than 10 texts); None unless all have labels."""
    if (examples["label"] < 0).any():
        return None
    correct = torch.from_numpy((examples["label"] == examples["predicted"]).to_numpy(float))
    interval = bootstrap(correct, limits=(0.0, 1.0), seed=seed)
    ends = {"mean": interval.estimate, "low": interval.low, "high": interval.high}
    return {name: None if value.isnan() else float(value) for name, value in ends.items()}
