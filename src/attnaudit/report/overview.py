"""What was audited, on what, how, and with what answer: the first part of the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnaudit.core.paths import without_folders
from attnaudit.report.inline_data import rounded
from attnaudit.report.model_words import model_words
from attnaudit.results.card import Finding
from attnaudit.results.number_formats import is_missing, number, with_interval
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric
from attnaudit.results.store import distinguishing_choices

_LEAST_ON_MARKS = 0.005  # less would be printed as 0 %
DIMENSIONS = ("dataset", "encoder", "scorer", "projection", "seed")
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
    choices, texts = results.about.get("run", {}).get("choices"), results.about.get("texts", {})
    if choices is not None:
        return without_folders(" · ".join(distinguishing_choices(choices)))
    return (
        without_folders(f"{texts['model']} · {texts['file']}") if "model" in texts else "Your model"
    )


def dimensions(all_results: Sequence[Results]) -> list[dict[str, str]]:
    """What each run is selected by: the usual five, and `other` where those do not tell two runs apart."""
    choices = [_flat(each.about.get("run", {}).get("choices", {})) for each in all_results]
    found = [{name: each.get(name, "–") for name in DIMENSIONS} for each in choices]
    for at, mine in enumerate(found):
        alike = [choices[i] for i, other in enumerate(found) if _usual(other) == _usual(mine)]
        if len(alike) > 1:
            names = [
                key for key in choices[at] if any(one.get(key) != choices[at][key] for one in alike)
            ] or [""]
            told = ", ".join(
                f"{name.rpartition('.')[2]} {choices[at].get(name)}" for name in names[:3]
            )
            mine["other"] = told if names != [""] else f"run {at + 1}"
    return found


def _usual(dims: dict[str, str]) -> tuple[str, ...]:
    return tuple(dims[name] for name in DIMENSIONS)


def _flat(choices: dict[str, Any], before: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in choices.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[f"{before}{key}"] = without_folders(str(value))
    return flat


def facts(results: Results) -> list[tuple[str, str]]:
    details, about = results.about.get("run", {}), results.about
    told = [
        (
            "Examples audited",
            f"{results.values['example_id'].nunique():,}"
            + ("" if len(results.examples) else "; none was kept whole to be shown"),
        ),
        ("Classes", _listed(about["classes"])),
    ]
    if performance := details.get("performance"):
        accuracy = with_interval(
            performance["accuracy"], *(performance["accuracy_interval"] or (None, None))
        )
        told.append(("Test accuracy", f"{accuracy}; always the most frequent class {number(performance['majority'])}"))  # fmt: skip
    if data := details.get("data"):
        sizes = ", ".join(f"{name} {count:,}" for name, count in data["sizes"].items())
        told += [
            ("Data", f"{data['name']}: {sizes}; vocabulary {data['vocabulary']:,}"),
            ("Tokeniser", data["tokeniser"]),
        ]
    if model := details.get("model"):
        told.append(("Model", ", ".join(f"{key} {model[key]}" for key in ("model", "encoder", "scorer", "projection", "output", "embedding") if key in model)))  # fmt: skip
    if (recipe := details.get("choices", {}).get("recipe")) and (
        training := details.get("training")
    ):
        told.append(("Training", f"{recipe['optimiser']}, learning rate {recipe['learning_rate']:g}, batches of {recipe['batch_size']}; "
                                 f"epoch {training['kept_epoch'] + 1} of {len(training['dev'])} kept, by the dev score"))  # fmt: skip
    if own := about.get("model"):
        told.append(("Model", model_words(own)))
    if texts := about.get("texts"):
        skipped = texts.get("skipped", {}).get("rows", 0)
        told.append(
            (
                "Texts",
                f"{texts['file']}: {texts['audited']:,} of {texts['read']:,}, {skipped} rows skipped",
            )
        )
    if cut := about.get("truncated"):
        told.append(("Cut texts", f"{cut:,} longer than the model reads"))
    told += [("Output layer", _readout(results)), ("Rows of attention", str(about.get("rows", 1)))]
    told += [
        ("Audits", _listed(about.get("audits", []), 40)),
        ("Measures", _listed(about.get("measures", []), 40)),
    ]
    told += [("Fidelity", _fidelity(about)), ("Seed", str(about["seed"]))]
    if versions := details.get("versions"):
        told.append(("Made with", ", ".join(f"{name} {versions[name]}" for name in ("attnaudit", "torch") if name in versions)))  # fmt: skip
    return [(name, without_folders(value)) for name, value in told]


def _fidelity(about: dict[str, Any]) -> str:
    asked = [name for name in about.get("audits", []) if "fidelity=" in str(name)]
    return f"as asked: {', '.join(asked)}; the rest corrected" if asked else "corrected throughout: where paper and code err, neither is followed"  # fmt: skip


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(str(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _readout(results: Results) -> str:
    if not results.about["has_readout"]:
        return "not linear: searches, not exact answers"
    two = len(results.about["classes"]) == 2
    return "linear: exact answers" if two else "linear: exact removals, certified intervals for the furthest attention"  # fmt: skip


def missing(results: Results) -> list[tuple[str, str, str]]:
    """(kind, name, reason) of what had nothing to say here."""
    about = results.about
    return [
        (kind, name, without_folders(reason))
        for kind, key in (("audit", "not_applicable"), ("measure", "measures_not_applicable"))
        for name, reason in about.get(key, {}).items()
    ]


def tables(results: Results, *, by_class: bool = True) -> dict[str, Any]:
    """One table an audit, overall and then by predicted class, as lines of the named columns; the mean over rows where there are several."""
    frame = (
        results.summaries if by_class else results.summaries[results.summaries["group"] == "all"]
    )
    lines: dict[str, list[list[Any]]] = {}
    for line in one_line_per_metric(frame).itertuples():
        cells = [getattr(line, name) for name in _COLUMNS]
        lines.setdefault(str(line.audit), []).append(
            [rounded(c) if isinstance(c, float) else c for c in cells]
        )
    return {"columns": _COLUMNS, "audits": lines}


def bar(finding: Finding, scales: dict[str, dict[str, list[float]]]) -> dict[str, Any] | None:
    """Where value, interval, floor and ceiling lie on the metric's declared scale, in per cent, and the ends of the scale.

    None without a scale, as in runs that were stored before scales were.
    """
    audit, _, rest = finding.name.rpartition("/")
    scale = scales.get(audit, {}).get(rest.partition("@")[0])
    if scale is None or is_missing(finding.value):
        return None
    least, most = scale

    def place(value: float) -> float:
        # Rounding may step over an end.
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
    """How much of the attention is not on words, over the examples kept whole; None if none is, or if it was not stored."""
    stored = results.examples.get("weight_on_marks")
    means = (
        []
        if stored is None
        else [np.nanmean(rows) for rows in stored if rows is not None and len(rows)]
    )
    share = float(np.nanmean(means)) if len(means) else 0.0
    if not share >= _LEAST_ON_MARKS:
        return None
    return (
        f"On average {100 * share:.0f} % of the attention is on marks such as [CLS] or [SEP], not on words "
        f"(over {len(means):,} {'example' if len(means) == 1 else 'examples'} kept whole)."
    )
