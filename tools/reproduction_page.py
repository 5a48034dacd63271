"""Write docs/reproduction.md from the tables in benchmarks/reproduction.

Run by `make reproduction`, after csv files of `attnaudit reproduce` (OUT/reproductions) were copied
there. The texts are head.md, PAPER.md for what a paper's numbers say, and tail.md. With
--check nothing is written, and the exit code is 1 if the page is not up to date.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

import pandas as pd
from uncompared_cells import uncompared

from attnaudit.papers.catalogue import PAPERS
from attnaudit.papers.comparison import JUDGED, NOT_KEYS, NUMBERS
from attnaudit.papers.item import Item
from attnaudit.papers.published import published

ROOT = Path(__file__).parents[1]
TABLES = ROOT / "benchmarks" / "reproduction"
PAGE = ROOT / "docs" / "reproduction.md"
IMAGES = ROOT / "docs" / "images" / "reproduction"
VERDICTS = ("reproduced", "differs", "no verdict", "not possible here")
_HEADS = ("paper", "items run", "published cells", "of the corpus", "claims", *VERDICTS)
_OF_CORPUS = re.compile(r"(train|test|vocabulary|mean_length)(_\d+)?$")
_SETTINGS = re.compile(r"-sample_(\w+)-epochs_(\w+)-seeds_([\d.]+)$")


def page(folder: Path = TABLES) -> str:
    """The whole page."""
    tables = {
        (paper, item.name): _read(folder, paper, item)
        for paper, items in PAPERS.items()
        for item in items
    }
    parts = [_text(folder / "head.md"), _counts(tables)]
    listed: set[str] = set()  # published tables, of which several items may show the same
    for paper, items in PAPERS.items():
        parts.append(f"## {paper}")
        parts.append(_text(folder / f"{paper}.md"))
        missing = []
        for item in items:
            found = tables[paper, item.name]
            if found:
                parts.append(_section(paper, item, found))
            else:
                missing.append(f"`{item.name}`")
            if item.published is not None and item.published not in listed:
                listed.add(item.published)
                every = [
                    table
                    for other in items
                    if other.published == item.published
                    for _, table in tables[paper, other.name]
                ]
                parts.append(_without_verdict(item, every))
        if missing:
            parts.append(f"Not run yet: {', '.join(missing)}.")
    parts.append(_text(folder / "tail.md"))
    return "\n\n".join(part for part in parts if part) + "\n"


def _read(folder: Path, paper: str, item: Item) -> list[tuple[str, pd.DataFrame]]:
    """(how it was run, table) of every csv file of an item."""
    found = []
    for path in sorted(folder.glob(f"{paper}-{item.name}-*.csv")):
        found.append((_said(path), pd.read_csv(path, dtype={"predicted_class": str, "lam": str})))
    return found


def _said(path: Path) -> str:
    """How many trainings a table or picture is of, and with which settings."""
    settings = _SETTINGS.search(path.stem)
    if settings is None:
        raise SystemExit(f"{path.name} is not named as `attnaudit reproduce` names its tables.")
    sample, epochs, seeds = settings.groups()
    count = seeds.count(".") + 1
    audited = "all test texts" if sample == "all" else f"{sample} test texts"
    trained = "the paper's epochs" if epochs == "paper" else f"{epochs} epochs"
    return f"{count} training{'s' if count > 1 else ''}, {trained}, {audited}"


def _counts(tables: dict[tuple[str, str], list[tuple[str, pd.DataFrame]]]) -> str:
    """Verdicts by paper; a published number that several items show counts once."""
    seen: set[tuple[str, ...]] = set()
    lines = ["| " + " | ".join(_HEADS) + " |", "|---" * len(_HEADS) + "|"]
    total: Counter[str] = Counter()
    for paper, items in PAPERS.items():
        counts: Counter[str] = Counter()
        for item in items:
            for _, table in tables[paper, item.name]:
                for line in table.astype(object).where(table.notna(), "").to_dict("records"):
                    if not line["verdict"]:
                        continue
                    keys = {k: str(v) for k, v in line.items() if k not in (*NUMBERS, *JUDGED)}
                    what = item.name if line["claim"] else str(item.published)
                    cell = (paper, what, *(f"{k}={v}" for k, v in sorted(keys.items()) if v))
                    if cell in seen:
                        continue
                    seen.add(cell)
                    counts["claims" if line["claim"] else "cells"] += 1
                    counts["of the corpus"] += bool(_OF_CORPUS.match(str(line.get("metric"))))
                    counts[line["verdict"]] += 1
        counts["published"] = sum(
            len(published(name)) for name in {item.published for item in items} - {None}
        )
        counts["items run"] = sum(bool(tables[paper, item.name]) for item in items)
        counts["items"] = len(items)
        total += counts
        lines.append(_count_line(paper, counts))
    lines.append(_count_line("**all**", total))
    return "\n".join(lines)


def _count_line(name: str, counts: Counter[str]) -> str:
    numbers = [counts[head] for head in ("of the corpus", "claims", *VERDICTS)]
    cells = [
        name,
        f"{counts['items run']} of {counts['items']}",
        f"{counts['cells']} of {counts['published']}",
        *map(str, numbers),
    ]
    return "| " + " | ".join(cells) + " |"


def _section(paper: str, item: Item, found: list[tuple[str, pd.DataFrame]]) -> str:
    end = "" if item.shows.endswith("?") else "."
    lines = [f"### {paper} {item.name}\n\n{item.shows}{end}"]
    for said in dict.fromkeys(said for said, _ in found):
        tables = [table for how, table in found if how == said]
        together = pd.concat(tables, ignore_index=True)
        judged = together[together["verdict"].notna() & (together["verdict"] != "")]
        rest = len(together) - len(judged)
        lines.append(f"{said[0].upper()}{said[1:]}.")
        if len(judged):
            lines.append(_table(judged))
        if rest:
            lines.append(f"{rest} more numbers, with nothing published, are in the csv files.")
    for image in sorted(IMAGES.glob(f"{paper}-{item.name}-*.png")):
        lines.append(f"![{item.shows}](images/reproduction/{image.name})")
        said = [] if {said for said, _ in found} == {_said(image)} else [_said(image)]
        if item.pictured or said:
            lines.append(f"(The picture: {'; '.join([item.pictured, *said]).strip('; ')}.)")
    return "\n\n".join(lines)


def _without_verdict(item: Item, tables: list[pd.DataFrame]) -> str:
    """The published cells of an item that are not compared, and why."""
    rest = uncompared(item, tables)
    if not len(rest):
        return ""
    keys = [name for name in rest.columns if name not in (*NOT_KEYS, "ours", "why")]
    keys = [name for name in keys if (rest[name].notna() & (rest[name] != "")).any()]
    several = rest["ours"].notna().any()
    heads = ["dataset", *keys, "published", *(["ours"] if several else []), "why no verdict"]
    lines = [
        f"{len(rest)} published numbers of `{item.name}` have no verdict:",
        "",
        "| " + " | ".join(heads) + " |",
        "|---" * len(heads) + "|",
    ]
    for line in rest.to_dict("records"):
        other = _number(line.get("other", float("nan")))
        value = _number(line["value"]) + (f" ({other})" if other != "–" else "")
        cells = [line["dataset"], *(_word(line[key]) for key in keys), value]
        cells += [_number(line["ours"])] if several else []
        lines.append("| " + " | ".join([*cells, line["why"]]) + " |")
    return "\n".join(lines)


def _table(judged: pd.DataFrame) -> str:
    keys = [name for name in judged.columns if name not in (*NUMBERS, *JUDGED)]
    keys = [name for name in keys if not judged[name].isna().all()]
    optional = [
        name for name in ("floor", "ceiling", "claim", "why") if not judged[name].isna().all()
    ]
    heads = [*keys, "published", "ours", *optional, "verdict"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for line in judged.to_dict("records"):
        cells = [_word(line[name]) for name in keys]
        cells += [_published(line), _ours(line)]
        cells += [
            _number(line[name]) if name in ("floor", "ceiling") else _word(line[name])
            for name in optional
        ]
        lines.append("| " + " | ".join([*cells, str(line["verdict"])]) + " |")
    return "\n".join(lines)


def _published(line: dict) -> str:
    value = _number(line["published"])
    other = _number(line["published_other"])
    return f"{value} ({other})" if other != "–" else value


def _ours(line: dict) -> str:
    value, low, high = (_number(line[name]) for name in ("ours", "low", "high"))
    return value if low == "–" else f"{value} [{low}, {high}]"


def _number(value: float) -> str:
    if value != value:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}"


def _word(value: object) -> str:
    if value != value:
        return ""
    return str(value).removeprefix("'")  # which keeps a spreadsheet from reading a formula


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def main() -> None:
    text = page()
    if "--check" in sys.argv[1:]:
        if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{PAGE.name} is not up to date: run `make reproduction`.")
        return
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
