"""The first part of the page: what was audited, on what and how, and the tables of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from attnaudit.core.paths import without_folders
from attnaudit.report.inline_data import rounded, rounded_all
from attnaudit.report.model_words import model_words
from attnaudit.results.card import Finding
from attnaudit.results.number_formats import is_missing, number, with_interval
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric
from attnaudit.results.run_names import distinguishing_choices

_LEAST_ON_MARKS = 0.005  # less would be printed as 0 %
DIMENSIONS = ("dataset", "encoder", "scorer", "projection", "seed")
_MODEL_PARTS = ("model", "encoder", "scorer", "projection", "output", "embedding")
_COLUMNS = (
    "measure",
    "metric",
    "group",
    "mean",
    "sd",
    "low",
    "high",
    "floor",
    "ceiling",
    "nan_share",
    "count",
)


def title(results: Results) -> str:
    """What was audited, on one line."""
    choices, texts = results.about.get("run", {}).get("choices"), results.about.get("texts", {})
    if choices is not None:
        return without_folders(" · ".join(distinguishing_choices(choices)))
    return (
        without_folders(f"{texts['model']} · {texts['file']}") if "model" in texts else "Your model"
    )


def dimensions(all_choices: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """What each run is selected by: DIMENSIONS, and `other` if two runs agree in all of them.

    Parameters
    ----------
    all_choices
        What each run was trained with; empty if it was not trained here.
    """
    choices = [_flat(run) for run in all_choices]
    runs = [{name: run.get(name, "–") for name in DIMENSIONS} for run in choices]
    keys = [tuple(run.values()) for run in runs]
    for index, run in enumerate(runs):
        alike = [choices[other] for other, key in enumerate(keys) if key == keys[index]]
        if len(alike) > 1:
            run["other"] = _difference(choices[index], alike) or f"run {index + 1}"
    return runs


def _difference(choices: dict[str, str], others: Sequence[dict[str, str]]) -> str:
    """The first three choices that some of the others do not share."""
    names = [
        name for name, value in choices.items() if any(run.get(name) != value for run in others)
    ]
    return ", ".join(f"{name.rpartition('.')[2]} {choices[name]}" for name in names[:3])


def _flat(choices: dict[str, Any], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in choices.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = without_folders(str(value))
    return flat


def facts(results: Results) -> list[tuple[str, str]]:
    """(name, value) of what was audited, on what and how."""
    about = results.about
    versions = about.get("run", {}).get("versions", {})
    made_with = [f"{name} {versions[name]}" for name in ("attnaudit", "torch") if name in versions]
    count = f"{len(results.columns):,}"
    if not len(results.examples):
        count += "; none was kept whole to be shown"
    listed = [
        ("Examples audited", count),
        ("Classes", _listed(about["classes"])),
        *_training_facts(about.get("run", {})),
        *_own_model_facts(about),
        ("Output layer", _readout(results)),
        ("Rows of attention", str(about.get("rows", 1))),
        ("Audits", _listed(about.get("audits", []), 40)),
        ("Measures", _listed(about.get("measures", []), 40)),
        ("Fidelity", _fidelity(about)),
        ("Seed", str(about["seed"])),
        *([("Made with", ", ".join(made_with))] if versions else []),
    ]
    return [(name, without_folders(value)) for name, value in listed]


def _training_facts(run: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Facts of a model that was trained here."""
    if performance := run.get("performance"):
        low, high = performance["accuracy_interval"] or (None, None)
        accuracy = with_interval(performance["accuracy"], low, high)
        baseline = number(performance["majority"])
        yield "Test accuracy", f"{accuracy}; majority-class baseline {baseline}"
    if data := run.get("data"):
        sizes = ", ".join(f"{name} {count:,}" for name, count in data["sizes"].items())
        yield "Data", f"{data['name']}: {sizes}; vocabulary {data['vocabulary']:,}"
        yield "Tokeniser", data["tokeniser"]
    if model := run.get("model"):
        yield "Model", ", ".join(f"{key} {model[key]}" for key in _MODEL_PARTS if key in model)
    recipe, training = run.get("choices", {}).get("recipe"), run.get("training")
    if recipe and training:
        yield (
            "Training",
            f"{recipe['optimiser']}, learning rate {recipe['learning_rate']:g}, batches of "
            f"{recipe['batch_size']}; epoch {training['kept_epoch'] + 1} of {len(training['dev'])} "
            "kept, by the dev score",
        )


def _own_model_facts(about: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Facts of a user's own model and texts."""
    if model := about.get("model"):
        yield "Model", model_words(model)
    if texts := about.get("texts"):
        skipped = texts.get("skipped", {}).get("rows", 0)
        counts = f"{texts['audited']:,} of {texts['read']:,}, {skipped} rows skipped"
        yield "Texts", f"{texts['file']}: {counts}"
    if truncated := about.get("truncated"):
        yield "Truncated texts", f"{truncated:,} longer than the model reads"


def _fidelity(about: dict[str, Any]) -> str:
    chosen = [name for name in about.get("audits", []) if "fidelity=" in str(name)]
    if chosen:
        return f"as chosen: {', '.join(chosen)}; the rest corrected"
    return "corrected throughout: errors of the papers and of their code are not reproduced"


def _listed(names: Sequence[str], most: int = 12) -> str:
    listed = ", ".join(str(name) for name in names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"


def _readout(results: Results) -> str:
    if not results.about["has_readout"]:
        return "not linear: searches, not exact answers"
    if len(results.about["classes"]) == 2:
        return "linear: exact answers"
    return "linear: exact removals, certified intervals for the furthest attention"


def missing(results: Results) -> list[tuple[str, str, str]]:
    """(kind, name, reason) of the audits and measures that did not apply."""
    about = results.about
    return [
        (kind, name, without_folders(reason))
        for kind, key in (("audit", "not_applicable"), ("measure", "measures_not_applicable"))
        for name, reason in about.get(key, {}).items()
    ]


def tables(results: Results, *, by_class: bool = True) -> dict[str, Any]:
    """One table per audit, overall and then in each group; the mean over attention rows."""
    frame = (
        results.summaries if by_class else results.summaries[results.summaries["group"] == "all"]
    )
    lines: dict[str, list[list[Any]]] = {}
    frame = one_line_per_metric(frame)
    columns = (_cells(frame[name].to_numpy()) for name in ("audit", *_COLUMNS))
    for audit, *cells in zip(*columns, strict=True):
        lines.setdefault(str(audit), []).append(cells)
    return {"columns": _COLUMNS, "audits": lines}


def _cells(column: np.ndarray) -> list[Any]:
    """A column of a table as the page shows it: numbers with fractions rounded."""
    if column.dtype.kind == "f":
        return rounded_all(column)
    return [rounded(cell) if isinstance(cell, float) else cell for cell in column.tolist()]


def bar(finding: Finding, scales: dict[str, dict[str, list[float]]]) -> dict[str, Any] | None:
    """Positions of value, interval, floor and ceiling on the metric's scale, in per cent.

    None without a scale, as in runs stored by older versions.
    """
    audit, _, rest = finding.name.rpartition("/")
    scale = scales.get(audit, {}).get(rest.partition("@")[0])
    if scale is None or is_missing(finding.value):
        return None
    least, most = scale

    def place(value: float) -> float:
        # Rounding may have put a value over an end.
        return round(100 * (min(max(value, least), most) - least) / (most - least), 2)

    return {
        "ends": [f"{end:.2f}".rstrip("0").rstrip(".").replace("-", "−") for end in scale],
        "floor": place(finding.floor) if not is_missing(finding.floor) else -1,
        "ceiling": place(finding.ceiling) if not is_missing(finding.ceiling) else -1,
        "low": place(finding.low),
        "width": round(place(finding.high) - place(finding.low), 2),
        "value": place(finding.value),
    }


def on_marks(results: Results) -> str | None:
    """How much of the attention is on special tokens, over the examples kept whole.

    None if none is, or if it was not stored.
    """
    stored = results.examples.get("weight_on_marks")
    means = (
        []
        if stored is None
        else [
            rows[0] if len(rows) == 1 else np.nanmean(rows)
            for rows in stored
            if rows is not None and len(rows)
        ]
    )
    share = float(np.nanmean(means)) if len(means) else 0.0
    if not share >= _LEAST_ON_MARKS:
        return None
    examples = "example" if len(means) == 1 else "examples"
    return (
        f"On average {100 * share:.0f} % of the attention is on special tokens such as [CLS] or "
        f"[SEP], not on words (over {len(means):,} {examples} kept whole)."
    )
