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
from pool_trainings import parts_of_name
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
_MOST_UNPUBLISHED = 100  # of our numbers on the page, per item
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
                    for table in tables[paper, other.name].values()
                ]
                parts.append(_without_verdict(item, every))
        if missing:
            parts.append(f"Not run yet: {', '.join(missing)}.")
    parts.append(_text(folder / "tail.md"))
    return "\n\n".join(part for part in parts if part) + "\n"


def _read(folder: Path, paper: str, item: Item) -> dict[Path, pd.DataFrame]:
    """The table of every csv file of an item."""
    return {
        path: pd.read_csv(path, dtype={"predicted_class": str, "lam": str})
        for path in sorted(folder.glob(f"{paper}-{item.name}-*.csv"))
        if _said(path)
    }


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


def _counts(tables: dict[tuple[str, str], dict[Path, pd.DataFrame]]) -> str:
    """Verdicts by paper; a published number that several items show counts once."""
    seen: set[tuple[str, ...]] = set()
    lines = ["| " + " | ".join(_HEADS) + " |", "|---" * len(_HEADS) + "|"]
    total: Counter[str] = Counter()
    for paper, items in PAPERS.items():
        counts: Counter[str] = Counter()
        for item in items:
            for table in tables[paper, item.name].values():
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


def _section(paper: str, item: Item, found: dict[Path, pd.DataFrame]) -> str:
    end = "" if item.shows.endswith("?") else "."
    lines = [f"### {paper} {item.name}\n\n{item.shows}{end}"]
    for said in dict.fromkeys(map(_said, found)):
        paths = [path for path in found if _said(path) == said]
        together = pd.concat([found[path] for path in paths], ignore_index=True)
        judged = together["verdict"].notna() & (together["verdict"] != "")
        lines.append(f"{said[0].upper()}{said[1:]}.")
        if judged.any():
            lines.append(_table(together[judged]))
        if 0 < (~judged).sum() <= _MOST_UNPUBLISHED:
            lines += ["Ours, with nothing published:", _table(together[~judged])]
        elif not judged.all():
            lines.append(f"{(~judged).sum()} more numbers, with nothing published: see the files.")
    if found:
        lines.append(f"Files: `benchmarks/reproduction/{paper}-{item.name}-*.csv`.")
    for image in sorted(IMAGES.glob(f"{paper}-{item.name}-*.png")):
        caption = _caption(f"{paper}-{item.name}-", item, image, list(found))
        lines.append(f"![{item.shows}, {caption}](images/reproduction/{image.name})")
        lines.append(f"(Picture, {caption}.)")
    return "\n\n".join(lines)


def _caption(start: str, item: Item, image: Path, tables: list[Path]) -> str:
    """The corpus, the models and the trainings of a picture."""
    of, seeds = parts_of_name(image)
    of_tables = [part for table in tables for name, part in [parts_of_name(table)] if name == of]
    corpus = re.split("-(?:vectors|encoders|sample)_", image.stem.removeprefix(start))[0]
    count, rest = _said(image).split(", ", 1)
    some = re.search(r"-encoders_([\w.]+)-sample_", image.stem)
    models = f"models with {some[1].replace('.', ', ')}" if some else "all models"
    if of_tables and {*seeds} != {seed for part in of_tables for seed in part}:
        rest += "; the tables are of more trainings" if not item.pictured else ""
    elif len({*of_tables}) > 1:
        count = f"up to {count}"
    return f"{corpus}: {item.pictured or f'{models}, {count}'}, {rest}"


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


def _table(numbers: pd.DataFrame) -> str:
    """Lines with a verdict, or lines without."""
    keys = [name for name in numbers.columns if name not in (*NUMBERS, *JUDGED)]
    keys = [name for name in keys if not numbers[name].isna().all()]
    optional = [
        name for name in ("floor", "ceiling", "claim", "why") if not numbers[name].isna().all()
    ]
    has_verdict = bool((numbers["verdict"].notna() & (numbers["verdict"] != "")).any())
    heads = [*keys, "ours", *optional]
    if has_verdict:
        heads = [*keys, "published", "ours", *optional, "verdict"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for line in numbers.to_dict("records"):
        cells = [_word(line[name]) for name in keys]
        cells += [_published(line), _ours(line)] if has_verdict else [_ours(line)]
        cells += [
            _number(line[name]) if name in ("floor", "ceiling") else _word(line[name])
            for name in optional
        ]
        cells += [str(line["verdict"])] if has_verdict else []
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _published(line: dict) -> str:
    value = _number(line["published"])
    other = _number(line["published_other"])
    return f"{value} ({other})" if other != "–" else value


def _ours(line: dict) -> str:
    value, low, high = (_number(line[name]) for name in ("ours", "low", "high"))
    counted = bool(_OF_CORPUS.match(str(line["metric"])))  # without chance
    return value if counted or low == "–" else f"{value} [{low}, {high}]"


def _number(value: float) -> str:
    if value != value:
        return "–"
    if 0 < abs(value) < 0.0005:
        return f"{value:.1g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}"


def _word(value: object) -> str:
    if value != value:
        return ""
    text = str(value).removeprefix("'")  # which keeps a spreadsheet from reading a formula
    return text.replace("|", "\\|")  # which would end the cell


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
