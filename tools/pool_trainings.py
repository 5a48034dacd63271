"""Put tables of further trainings together with those in benchmarks/reproduction.

    python tools/pool_trainings.py runs/reproductions

Trainings take long, and seeds can be trained later, or on another machine, without those that were
there before: a table keeps the number of every training. Every line of a csv file of `reproduce` in
the folder is put together with the stored line of the same number, of other seeds, and judged again
by the same rule. Lines that are not stored are copied, and those of all the seeds that are stored,
and more, replace them; those of stored seeds alone change nothing. A table is left alone if all its
lines are such, or if a line has some, but not all, of the stored seeds and others.

A table may be of some encoders (`reproduce --encoders`). Where lines then have different seeds,
those of each seeds stand in a file of their own, whose name has their encoders. Afterwards:
`make reproduction`.

Tables that were stored before they kept the number of every training have it from the mean, the
least and the largest of three: in ascending order, not in that of their seeds.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.papers.catalogue import PAPERS
from attnaudit.papers.comparison import JUDGED, NUMBERS, of_trainings
from attnaudit.papers.verdict import Verdict, judge, judge_claim
from attnaudit.report.tables.formats import csv_text
from attnaudit.results.run_names import file_name

TABLES = Path(__file__).parents[1] / "benchmarks" / "reproduction"
_NAME = re.compile(
    r"(?P<of>.+?)(-encoders_[\w.]+)?(?P<settings>-sample_\w+-epochs_\w+)"
    r"-seeds_(?P<seeds>\d+(\.\d+)*)$"
)
Cell = tuple[str, ...]  # what a line is of: its keys


@dataclass(frozen=True, eq=False)
class Stored:
    """A table with its file and its seeds."""

    path: Path
    seeds: tuple[int, ...]
    table: pd.DataFrame

    @cached_property
    def cells(self) -> list[Cell]:
        """What each line is of."""
        return list(map(tuple, self.table[_keys(self.table)].astype(str).to_numpy().tolist()))

    def lines(self, cells: set[Cell]) -> pd.DataFrame:
        """The lines of these cells."""
        return self.table[[cell in cells for cell in self.cells]]


def read(path: Path) -> pd.DataFrame:
    """A table as `reproduce` saved it; keys that look like numbers stay words."""
    return pd.read_csv(path, dtype={"predicted_class": str, "lam": str})


def _keys(table: pd.DataFrame) -> list[str]:
    return [name for name in table.columns if name not in (*NUMBERS, *JUDGED)]


def pool(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One table of all trainings of the same numbers.

    The numbers of trainings are in the order of the tables. Floors and ceilings are means over all
    trainings. If the tables state different spreads of a published number, the least counts.
    """
    columns = list(tables[0].columns)
    keys = [name for name in columns if name not in (*NUMBERS, *JUDGED)]
    if any(list(table.columns) != columns for table in tables):
        raise ValueError("The tables have different columns: they are not of the same item.")
    trainings = [tuple(table["by_training"]) for table in tables]
    if len({*trainings}) < len(trainings) and set(trainings[0]) != {"[]"}:
        raise ValueError("Two tables have the same trainings.")
    lines: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for table in tables:
        for line in table.to_dict("records"):
            lines.setdefault(tuple(str(line[key]) for key in keys), []).append(line)
    for of, parts in lines.items():
        if len(parts) != len(tables):
            raise ValueError(f"{dict(zip(keys, of, strict=True))} is not once in each table.")
        for name in ("published", "claim"):
            if len({str(part[name]) for part in parts} - {"nan", ""}) > 1:
                raise ValueError(f"{dict(zip(keys, of, strict=True))} differs in {name!r}.")
    return pd.DataFrame([_line(parts) for parts in lines.values()], columns=columns)


def _line(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    values = [np.array(json.loads(part["by_training"]), dtype=float) for part in parts]
    line = {
        **parts[0],
        **of_trainings(np.concatenate(values)),
        "texts_low": math.nan,  # of a single training
        "texts_high": math.nan,
        "spread": float(np.fmin.reduce([part["spread"] for part in parts])),
    }
    for name in ("floor", "ceiling"):
        line[name] = _mean([part[name] for part in parts], [len(of_part) for of_part in values])
    if line["verdict"] == Verdict.IMPOSSIBLE.value:
        return line
    known = (line["low"], line["high"], line["trainings"])
    if isinstance(line["claim"], str) and line["claim"]:  # NaN in a table that was read
        low, high = map(float, line["claim"].removeprefix("'").split(" to "))
        verdict, why = judge_claim((low, high), *known)
    else:
        verdict, why = judge(line["published"], *known, line["spread"])
    return {**line, "verdict": verdict.value, "why": why}


def _mean(values: Sequence[float], weights: Sequence[int]) -> float:
    known = ~np.isnan(values)
    if not known.any():
        return math.nan
    return float(np.average(np.array(values)[known], weights=np.array(weights)[known]))


def pool_folder(folder: Path, stored: Path = TABLES) -> list[str]:
    """Pool every table of a folder with the stored ones; a line per table says what was done.

    Every table is checked before anything is written.
    """
    news = _by_item(
        [Stored(path, parts_of_name(path)[1], _checked(path)) for path in _files(folder)]
    )
    olds = _by_item([Stored(path, parts_of_name(path)[1], read(path)) for path in _files(stored)])
    texts: dict[str, str] = {}
    removed: list[Path] = []
    done: list[str] = []
    for of, new in news.items():
        old = olds.get(of, [])
        _check_once(new)
        free, left = _free_to_pool(old, new)
        done += [f"left alone: {table.path.name}, its seeds, or some, are stored" for table in left]
        try:
            made = _together(old, free) if free else {}
        except ValueError as error:
            raise SystemExit(f"{of[0]}{of[1]}: {error}") from error
        for seeds, group in made.items():
            name = _file_name(of, seeds, group.table, several=len(made) > 1)
            texts[name] = csv_text(group.table)
            if group.new or name not in {part.path.name for part in old}:
                done.append(f"{group.verb({*_cells(old)})}: {name}")
        removed += [part.path for part in old if made and part.path.name not in texts]
    for name, text in texts.items():
        (stored / name).write_text(text, encoding="utf-8")
    for path in removed:
        path.unlink()
    return done


@dataclass
class Group:
    """Lines of the same seeds, and whether some are of old and of new tables."""

    parts: list[pd.DataFrame] = field(default_factory=list)
    cells: set[Cell] = field(default_factory=set)
    old: bool = False
    new: bool = False

    @property
    def table(self) -> pd.DataFrame:
        """The lines as one table."""
        return self.parts[0] if len(self.parts) == 1 else pd.concat(self.parts, ignore_index=True)

    def verb(self, stored: set[Cell]) -> str:
        """What was done to make it."""
        if self.old:
            return "pooled" if self.new else "split off"
        return "replaced" if self.cells & stored else "copied"


def _cells(tables: Sequence[Stored]) -> set[Cell]:
    return {cell for table in tables for cell in table.cells}


def _seeds_of(cell: Cell, tables: Sequence[Stored]) -> set[int]:
    return {seed for table in tables if cell in table.cells for seed in table.seeds}


def _free_to_pool(
    old: Sequence[Stored], new: Sequence[Stored]
) -> tuple[list[Stored], list[Stored]]:
    """The new tables that can be pooled, and those that cannot or say nothing new."""
    free, left = [], []
    for table in new:
        says_something, is_free = False, True
        for cell in table.cells:
            held, fresh = _seeds_of(cell, old), _seeds_of(cell, new)
            says_something |= not fresh < held
            is_free &= not held & fresh or held <= fresh or fresh <= held
        (free if says_something and is_free else left).append(table)
    return free, left


def _together(old: Sequence[Stored], new: Sequence[Stored]) -> dict[tuple[int, ...], Group]:
    """By their seeds, every line of the old and the new tables once."""
    _check_lines(old, new)
    sources: dict[Cell, tuple[int, ...]] = {}  # the tables that a line is made of
    tables = [*old, *new]
    for cell in dict.fromkeys(cell for table in tables for cell in table.cells):
        held, fresh = (_seeds_of(cell, part) for part in (old, new))
        chosen = range(len(tables))
        if held & fresh:  # the one that has all seeds of the other
            chosen = range(len(old), len(tables)) if held <= fresh else range(len(old))
        of_cell = [n for n in chosen if cell in tables[n].cells]
        sources[cell] = tuple(sorted(of_cell, key=lambda n: tables[n].seeds))
    groups: dict[tuple[int, ...], Group] = {}
    for numbers in dict.fromkeys(sources.values()):
        cells = {cell for cell, of_cell in sources.items() if of_cell == numbers}
        parts = [tables[n].lines(cells) for n in numbers]
        seeds = tuple(sorted(seed for n in numbers for seed in tables[n].seeds))
        group = groups.setdefault(seeds, Group())
        group.parts.append(parts[0] if len(parts) == 1 else pool(parts))
        group.cells |= cells
        group.old |= any(n < len(old) for n in numbers)
        group.new |= any(n >= len(old) for n in numbers)
    return groups


def _check_once(tables: Sequence[Stored]) -> None:
    """Raise an error if a training would count twice."""
    counts = Counter((cell, seed) for part in tables for cell in part.cells for seed in part.seeds)
    if any(count > 1 for count in counts.values()):
        names = ", ".join(part.path.name for part in tables)
        raise SystemExit(f"A seed is in two tables: {names}.")


def _check_lines(old: Sequence[Stored], new: Sequence[Stored]) -> None:
    """Raise an error if tables are not of the same numbers."""
    tables = [*old, *new]
    keys = _keys(tables[0].table)
    if any([*table.table.columns] != [*tables[0].table.columns] for table in tables):
        raise ValueError("The tables have different columns: they are not of the same item.")
    _check_once(old)
    for one in new:
        for other in old:
            if not {*one.cells} & {*other.cells}:
                continue
            both = {*one.cells} ^ {*other.cells}
            if "encoder" in keys:
                place = keys.index("encoder")
                known = {cell[place] for cell in one.cells} & {cell[place] for cell in other.cells}
                both = {cell for cell in both if cell[place] in known}
            for cell in sorted(both):
                of = dict(zip(keys, cell, strict=True))
                raise ValueError(f"{of} is not once in each table.")


def _file_name(
    of: tuple[str, str], seeds: tuple[int, ...], table: pd.DataFrame, *, several: bool
) -> str:
    """The name of a table; with its encoders if other lines of the item have other seeds."""
    start, settings = of
    if several and "encoder" not in table:
        raise SystemExit(
            f"{start}: its lines have different seeds, and no encoder to name them by."
        )
    encoders = dict.fromkeys(table["encoder"].dropna()) if several else ()
    start += f"-encoders_{'.'.join(encoders)}" if encoders else ""
    return f"{start}{settings}-seeds_{'.'.join(map(str, seeds))}.csv"


def _files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.csv")) if path.is_file()]


def _by_item(tables: Sequence[Stored]) -> dict[tuple[str, str], list[Stored]]:
    """The tables of each item, dataset and settings, of whatever encoders and seeds."""
    by_item: dict[tuple[str, str], list[Stored]] = {}
    for table in tables:
        by_item.setdefault(parts_of_name(table.path)[0], []).append(table)
    return by_item


def parts_of_name(path: Path) -> tuple[tuple[str, str], tuple[int, ...]]:
    """What a table is of, by its name, and its seeds."""
    if path.stem.endswith("-fast"):
        raise SystemExit(f"{path.name} was made with --fast: its numbers mean nothing.")
    match = _NAME.match(path.stem)
    if match is None:
        raise SystemExit(f"{path.name} is not named as `attnaudit reproduce` names its tables.")
    seeds = tuple(int(seed) for seed in match["seeds"].split("."))
    return (match["of"], match["settings"]), seeds


def _checked(path: Path) -> pd.DataFrame:
    """The table, if it is what its name says."""
    of, seeds = parts_of_name(path)
    try:
        table = read(path)
        counts = {len(json.loads(numbers)) for numbers in table["by_training"]}
        dataset = str(table["dataset"].iloc[0])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise SystemExit(f"{path.name} is no table of `attnaudit reproduce`: {error}") from error
    items = [f"{paper}-{item.name}-" for paper, listed in PAPERS.items() for item in listed]
    if not any(f"{of[0]}-".startswith(f"{item}{file_name(dataset)}-") for item in items):
        raise SystemExit(
            f"{path.name} is not named after an item of `attnaudit reproduce --list` and its "
            f"dataset, {dataset}."
        )
    if not counts <= {0, len(seeds)}:
        raise SystemExit(
            f"{path.name} has {max(counts)} numbers per line, and {len(seeds)} seeds in its name."
        )
    return table


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a folder. Give OUT/reproductions.")
    done = pool_folder(folder)
    if not done:
        raise SystemExit(f"There is no csv file in {folder}. Give OUT/reproductions.")
    print("\n".join(done))


if __name__ == "__main__":
    main()
