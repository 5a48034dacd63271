"""Put tables of further trainings together with those in benchmarks/reproduction.

    python tools/pool_trainings.py runs/reproductions

Trainings take long, and seeds can be trained later, or on another machine, without those that were
there before: a table keeps the number of every training. For every csv file of `reproduce` in the
folder, a stored table of the same item, dataset and settings, but of other seeds, is replaced by
one of all seeds, judged again by the same rule. A table of something that is not stored is copied,
and one of all the seeds that are stored, and more, replaces it; one of some of them is left alone.
A table of some encoders (`--encoders`) is pooled with the lines of a stored table that it has, too;
the other lines then stand in a table of their own, whose name has their encoders.
Afterwards: `make reproduction`.

Tables that were stored before they kept the number of every training have it from the mean, the
least and the largest of three: in ascending order, not in that of their seeds.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
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
_NAME = re.compile(r"(?P<of>.+-seeds_)(?P<seeds>\d+(\.\d+)*)$")
_ENCODERS = re.compile(r"-encoders_[\w.]+-sample_")


def read(path: Path) -> pd.DataFrame:
    """A table as `reproduce` saved it; keys that look like numbers stay words."""
    return pd.read_csv(path, dtype={"predicted_class": str, "lam": str})


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
    made: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*.csv")):
        made.setdefault(_parts(path)[0], []).append(path)
    texts: dict[str, str] = {}
    removed: list[Path] = []
    done = []
    for of, news in made.items():
        new = _by_seed(news)
        tables = {path: _checked(path) for path in news}
        olds = _by_seed(_stored(stored, of))
        whole = _ENCODERS.sub("-sample_", of)
        if not olds and whole != of:
            for path in _stored(stored, whole):
                part, rest = split(read(path), tables[news[0]])
                olds |= dict.fromkeys(_parts(path)[1], stored / _renamed(path, part))
                tables[stored / _renamed(path, part)] = part
                texts[_renamed(path, rest)] = csv_text(rest)
                removed.append(path)
                done.append(f"split: {path.name}")
        if olds.keys() & new.keys() and not olds.keys() <= new.keys():
            done += [f"left alone: {path.name}, some of its seeds are stored" for path in news]
            continue
        together = new if olds.keys() <= new.keys() else new | olds
        paths = list(dict.fromkeys(path for _, path in sorted(together.items())))
        name = f"{of}{'.'.join(map(str, sorted(together)))}.csv"
        try:
            texts[name] = (
                paths[0].read_text(encoding="utf-8")
                if len(paths) == 1
                else csv_text(
                    pool([tables[path] if path in tables else read(path) for path in paths])
                )
            )
        except ValueError as error:
            raise SystemExit(f"{name}: {error}") from error
        removed += [path for path in {*olds.values()} if path.name != name]
        verb = "pooled" if len(paths) > 1 else "replaced" if olds else "copied"
        done.append(f"{verb}: {name}")
    for name, text in texts.items():
        (stored / name).write_text(text, encoding="utf-8")
    for path in removed:
        path.unlink(missing_ok=True)  # a part of a table that was split is no file
    return done


def split(old: pd.DataFrame, new: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The lines of a table that another one, of some of its encoders, has too; the others."""
    keys = [name for name in old.columns if name not in (*NUMBERS, *JUDGED)]
    if keys != [name for name in new.columns if name not in (*NUMBERS, *JUDGED)]:
        raise SystemExit("The tables have different columns: they are not of the same item.")
    known, held = (
        list(map(tuple, table[keys].astype(str).to_numpy().tolist())) for table in (new, old)
    )
    here = np.array([line in set(known) for line in held])
    if here.all() or not here.any():
        raise SystemExit("A table of some encoders has no line, or every line, of the stored one.")
    return old[here], old[~here]


def _renamed(path: Path, table: pd.DataFrame) -> str:
    """The name of a part of a table, with its encoders."""
    encoders = ".".join(dict.fromkeys(table["encoder"].dropna()))
    return path.name.replace("-sample_", f"-encoders_{encoders}-sample_", 1)


def _stored(folder: Path, of: str) -> list[Path]:
    """The stored tables of something, of any seeds."""
    return [path for path in sorted(folder.glob("*-seeds_*.csv")) if _parts(path)[0] == of]


def _by_seed(paths: Sequence[Path]) -> dict[int, Path]:
    """The table of every seed."""
    found = [(seed, path) for path in paths for seed in _parts(path)[1]]
    if len(dict(found)) < len(found):
        raise SystemExit(f"A seed is in two tables: {', '.join(path.name for path in paths)}.")
    return dict(found)


def _parts(path: Path) -> tuple[str, list[int]]:
    """What a table is of, by its name, and its seeds."""
    if path.stem.endswith("-fast"):
        raise SystemExit(f"{path.name} was made with --fast: its numbers mean nothing.")
    match = _NAME.match(path.stem)
    if match is None:
        raise SystemExit(f"{path.name} is not named as `attnaudit reproduce` names its tables.")
    return match["of"], [int(seed) for seed in match["seeds"].split(".")]


def _checked(path: Path) -> pd.DataFrame:
    """The table, if it is what its name says."""
    of, seeds = _parts(path)
    try:
        table = read(path)
        counts = {len(json.loads(numbers)) for numbers in table["by_training"]}
        dataset = str(table["dataset"].iloc[0])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise SystemExit(f"{path.name} is no table of `attnaudit reproduce`: {error}") from error
    items = [f"{paper}-{item.name}-" for paper, listed in PAPERS.items() for item in listed]
    if not any(of.startswith(f"{item}{file_name(dataset)}-") for item in items):
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
