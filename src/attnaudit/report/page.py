"""One self-contained HTML page: the card, the tables, heatmaps. Every text in it is data from outside and is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from attnaudit.card import Finding
from attnaudit.report.heatmap import heatmaps
from attnaudit.results import Results
from attnaudit.store import check_writable, telling

_HEATMAPS = 10


def write_page(results: Sequence[Results], path: Path) -> Path:
    """The page of one or several results, written whole or not at all."""
    path = Path(path)
    check_writable(path.parent)
    html = (
        _environment()
        .get_template("page.html")
        .render(runs=[_run(each, at) for at, each in enumerate(results)])
    )
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(html, encoding="utf-8", errors="replace")
    draft.replace(path)
    return path


def card_html(results: Results) -> str:
    """The card alone, for a notebook."""
    run = _run(results, 0)
    return _environment().get_template("card_only.html").render(run=run)


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("attnaudit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "number": _number,
        "percent": lambda share: f"{100 * share:.0f} %",
        "bar": _bar,
    }
    environment.filters |= filters
    return environment


def _run(results: Results, at: int) -> dict[str, Any]:
    details = results.about.get("run", {})
    return {
        "anchor": f"run{at}",
        "title": _title(results),
        "facts": _facts(results),
        "card": results.card(),
        "tables": _tables(results),
        "heatmaps": heatmaps(results, _HEATMAPS),
        "classes": results.about["classes"],
        "not_applicable": results.about["not_applicable"],
        "versions": details.get("versions", {}),
    }


def _title(results: Results) -> str:
    choices = results.about.get("run", {}).get("choices")
    if choices is None:
        return "Your model"
    return " · ".join(telling(choices))


def _facts(results: Results) -> list[tuple[str, str]]:
    details = results.about.get("run", {})
    facts = [
        ("Examples audited", f"{results.values['example_id'].nunique():,}"),
        ("Classes", ", ".join(results.about["classes"])),
    ]
    if performance := details.get("performance"):
        low, high = performance["accuracy_interval"]
        facts.append(
            (
                "Test accuracy",
                f"{performance['accuracy']:.3f} [{low:.3f}, {high:.3f}] (majority class {performance['majority']:.3f})",
            )
        )
    if data := details.get("data"):
        sizes = ", ".join(f"{name} {count:,}" for name, count in data["sizes"].items())
        facts += [
            ("Data", f"{data['name']}: {sizes}; vocabulary {data['vocabulary']:,}"),
            ("Tokeniser", data["tokeniser"]),
        ]
    readout = _readout(results)
    facts += [("Output layer", readout), ("Seed", str(results.about["seed"]))]
    return facts


def _readout(results: Results) -> str:
    if not results.about["has_readout"]:
        return "not linear: searches, not exact answers"
    two = len(results.about["classes"]) == 2
    return (
        "linear: exact answers"
        if two
        else "linear: exact removals, certified intervals for the furthest attention"
    )


def _tables(results: Results) -> list[dict[str, Any]]:
    """One table an audit: overall, then by predicted class; the mean over rows where there are several."""
    tables = []
    frame = results.summaries
    for audit in dict.fromkeys(frame["audit"].astype(str)):
        part = frame[frame["audit"] == audit]
        part = part[
            part["row"] == part.groupby(["measure", "metric", "group"], observed=True)["row"].transform("min")
        ]
        tables.append({"audit": audit, "lines": [_line(line) for line in part.itertuples()]})
    return tables


def _line(line: Any) -> dict[str, Any]:
    keys = (
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
    return {key: getattr(line, key) for key in keys}


def _bar(finding: Finding) -> dict[str, float] | None:
    """Where value and interval lie between the least and the largest of floor, ceiling and value, in per cent."""
    marks = [finding.floor, finding.ceiling, finding.low, finding.high]
    known = [mark for mark in marks if not math.isnan(mark)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if (
        not high - low > 0.02
    ):  # floor, ceiling and value all but coincide: a picture would blow up nothing into something
        return None

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    return {
        "floor": place(finding.floor) if not math.isnan(finding.floor) else -1,
        "ceiling": place(finding.ceiling) if not math.isnan(finding.ceiling) else -1,
        "low": place(finding.low),
        "width": round(place(finding.high) - place(finding.low), 2),
        "value": place(finding.value),
    }


def _number(value: float) -> str:
    if value is None or pd.isna(value):
        return "–"
    return f"{value:.3f}" if abs(value) >= 0.0005 else "0.000"
