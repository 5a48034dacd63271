"""Put tables of further trainings together with those in benchmarks/reproduction.

    python tools/pool_trainings.py runs/reproductions

Trainings take long, and seeds can be trained later, or on another machine, without those that were
there before: a table keeps the number of every training. For every csv file of `reproduce` in the
folder, a stored table of the same item, dataset and settings, but of other seeds, is replaced by
one of all seeds, judged again by the same rule. A table of something that is not stored is copied;
one of seeds that are stored already is left alone. Afterwards: `make reproduction`.

Tables that were stored before they kept the number of every training have it from the mean, the
least and the largest of three: in ascending order, not in that of their seeds.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.papers.comparison import JUDGED, NUMBERS, of_trainings
from attnaudit.papers.verdict import Verdict, judge, judge_claim
from attnaudit.report.tables.formats import csv_text

TABLES = Path(__file__).parents[1] / "benchmarks" / "reproduction"
_NAME = re.compile(r"(?P<of>.+-seeds_)(?P<seeds>\d+(\.\d+)*)$")


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
    lines: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for table in tables:
        for line in table.to_dict("records"):
            lines.setdefault(tuple(str(line[key]) for key in keys), []).append(line)
    for of, parts in lines.items():
        if len(parts) != len(tables):
            raise ValueError(f"{dict(zip(keys, of, strict=True))} is not once in each table.")
        if len({str(part["published"]) for part in parts}) > 1:
            raise ValueError(f"{dict(zip(keys, of, strict=True))} has two published numbers.")
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
    """Pool every table of a folder with the stored ones; a line per table says what was done."""
    done = []
    for path in sorted(folder.glob("*-seeds_*.csv")):
        of, seeds = _parts(path)
        found = [_parts(other) for other in sorted(stored.glob("*-seeds_*.csv"))]
        same = [theirs for name, theirs in found if name == of]
        if any(set(theirs) & set(seeds) for theirs in same):
            done.append(f"left alone: {path.stem}, some of its seeds are stored")
            continue
        if not same:
            shutil.copyfile(path, stored / path.name)
            done.append(f"copied: {path.name}")
            continue
        places = {min(theirs): stored / _file(of, theirs) for theirs in same}
        together = sorted({*seeds, *(seed for theirs in same for seed in theirs)})
        try:
            table = pool([read(each) for _, each in sorted({**places, min(seeds): path}.items())])
        except ValueError as error:
            raise SystemExit(f"{path.name}: {error} Were they made by the same version?") from error
        (stored / _file(of, together)).write_text(csv_text(table), encoding="utf-8")
        for old in places.values():
            old.unlink()
        done.append(f"pooled: {_file(of, together)}")
    return done


def _parts(path: Path) -> tuple[str, list[int]]:
    match = _NAME.match(path.stem)
    if match is None:
        raise SystemExit(f"{path.name} is not named as `attnaudit reproduce` names its tables.")
    return match["of"], [int(seed) for seed in match["seeds"].split(".")]


def _file(of: str, seeds: Sequence[int]) -> str:
    return f"{of}{'.'.join(map(str, seeds))}.csv"


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit(__doc__)
    print("\n".join(pool_folder(Path(sys.argv[1]))) or "There is no table in that folder.")


if __name__ == "__main__":
    main()
