"""What the stored tables must hold to be read: their columns and types.

Files may be damaged, or written by anyone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.results.rows import METRIC_KEY
from attnaudit.results.value_columns import ValueColumns
from attnaudit.results.value_file import read_columns


@dataclass(frozen=True)
class _Columns:
    text: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()


_TABLES = {
    "values": _Columns(
        ("example_id", "audit", "measure", "metric"),
        ("label", "predicted", "length", "row"),
        ("value",),
    ),
    "summary": _Columns(
        ("audit", "measure", "metric", "group"),
        ("row", "count"),
        ("mean", "low", "high", "sd", "nan_share", "floor", "ceiling", "relative", "compared"),
    ),
    "examples": _Columns(
        ("example_id", "query"),
        ("label", "predicted"),
        ("furthest_jsd", "furthest_upper"),
        ("probs", "tokens", "attention", "scores"),
    ),
}

# Columns that older runs lack, and what stands for them.
_LATER_COLUMNS: dict[str, dict[str, Any]] = {
    "summary": {
        "interval": "",
        "relative_low": math.nan,
        "relative_high": math.nan,
        "relative_interval": "",
    }
}


def read_parquet(path: Path) -> pd.DataFrame:
    """A parquet file; an InputError if it cannot be read."""
    import pyarrow as pa

    try:
        return pd.read_parquet(path)
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        KeyError,
        TypeError,
        OverflowError,
        MemoryError,
    ) as error:
        raise InputError(
            f"{path} is damaged ({str(error)[:200]}). Make the results again."
        ) from error


def read_table(path: Path, name: str, classes: int) -> pd.DataFrame:
    """Read a stored table with the columns and types that everything else relies on.

    Parameters
    ----------
    path : of the parquet file.
    name : "values", "summary" or "examples".
    classes : number of classes.
    """
    frame = read_parquet(path)
    if name == "examples" and not len(frame):
        return frame  # no example was kept
    columns = _TABLES[name]
    if name == "summary" and not len(frame):  # no audit applied, and columns have no type
        types = dict.fromkeys(columns.whole, "int64") | dict.fromkeys(columns.numbers, "float64")
        frame = frame.astype({key: kind for key, kind in types.items() if key in frame})
    integers, floats = pd.api.types.is_integer_dtype, pd.api.types.is_float_dtype
    wrong = [column for column in columns.text if not _holds_text(frame, column)]
    wrong += [column for column in columns.whole if not _holds(frame, column, integers)]
    wrong += [column for column in columns.numbers if not _holds(frame, column, floats)]
    wrong += [column for column in columns.lists if not _holds_lists(frame, column)]
    if not wrong and "predicted" in frame:
        wrong += [] if _within(frame, classes) else ["predicted or label"]
    if not wrong and name == "examples":
        wrong += _unequal(frame, classes)
    if wrong:
        raise InputError(
            f"{path} is damaged: {wrong[0]} is missing or does not hold what it should. "
            "Run it again with --force."
        )
    for column, missing in _LATER_COLUMNS.get(name, {}).items():
        if column not in frame:
            frame[column] = missing
    for column in METRIC_KEY:  # plain text if other tools have written the file
        if name == "values" and not isinstance(frame[column].dtype, pd.CategoricalDtype):
            frame[column] = frame[column].astype("category")
    return frame


def read_values(path: Path, version: int, classes: int) -> ValueColumns:
    """Read values.parquet by column.

    Parameters
    ----------
    path : of the parquet file.
    version : of the run's format; version 1 held one line per value.
    classes : number of classes.
    """
    if version == 1:
        return ValueColumns.from_long(read_table(path, "values", classes))
    columns = read_columns(path)
    if not _within(columns.examples, classes):
        raise InputError(
            f"{path} is damaged: predicted or label is not one of the {classes} classes. "
            "Run it again with --force."
        )
    return columns


def _within(frame: pd.DataFrame, classes: int) -> bool:
    """Whether every prediction is a class, and every label a class or -1."""
    predicted = frame["predicted"].between(0, classes - 1)
    return bool((predicted & frame["label"].between(-1, classes - 1)).all())


def _holds(frame: pd.DataFrame, column: str, check: Callable[[Any], bool]) -> bool:
    return (
        column in frame
        and bool(check(frame[column].dtype))
        and isinstance(frame[column].dtype, np.dtype)
    )


def _holds_text(frame: pd.DataFrame, column: str) -> bool:
    if column not in frame:
        return False
    values = frame[column]
    if isinstance(values.dtype, pd.StringDtype):
        return not values.isna().any()
    known = values.cat.categories if isinstance(values.dtype, pd.CategoricalDtype) else values
    return not values.isna().any() and all(isinstance(value, str) for value in known)


def _holds_lists(frame: pd.DataFrame, column: str) -> bool:
    return column in frame and all(isinstance(value, np.ndarray | list) for value in frame[column])


def _unequal(frame: pd.DataFrame, classes: int) -> list[str]:
    """Columns of examples whose lists do not match in length.

    There is one weight per item and row, and one probability per class.
    """
    names = ("tokens", "attention", "probs", "scores", "furthest", "evidence", "readout")
    # Not itertuples, which takes longer than the checks.
    columns = (frame[name].tolist() if name in frame else [None] * len(frame) for name in names)
    for line in zip(*columns, strict=True):
        tokens, stored_attention, stored_probs, scores, furthest, evidence, readout = line
        count = len(tokens)
        attention, probs = _numbers(stored_attention), _numbers(stored_probs)
        if not all(issubclass(kind, str) for kind in set(map(type, tokens))):
            return ["tokens"]
        if attention is None or (len(attention) % count if count else len(attention)):
            return ["attention"]
        if probs is None or len(probs) != classes:
            return ["probs"]
        for name, stored, size in (
            ("furthest", furthest, len(attention)),
            ("evidence", evidence, count),
            ("readout", readout, count * classes),
        ):
            if (
                stored is not None
                and not _is_nan(stored)
                and ((numbers := _numbers(stored)) is None or len(numbers) != size)
            ):
                return [name]
        if not _are_scores(scores, (count, len(attention))):
            return ["scores"]
    return []


def _are_scores(scores: Any, sizes: tuple[int, int]) -> bool:
    """Whether these are scores with names, each of one of these lengths."""
    try:
        arrays = [score["values"] for score in scores if type(score["measure"]) is str]
        kinds = {(type(array), array.dtype.char, array.shape) for array in arrays}
    except (TypeError, KeyError, IndexError, AttributeError):
        kinds, arrays = set(), []
    fitting = {(np.ndarray, "d", (size,)) for size in sizes}
    if len(arrays) == len(scores) and kinds <= fitting:  # nearly always, and quick to see
        return True
    for score in scores:
        if not (isinstance(score, dict) and isinstance(score.get("measure"), str)):
            return False
        numbers = _numbers(score.get("values"))
        if numbers is None or len(numbers) not in sizes:
            return False
    return True


def _numbers(values: Any) -> np.ndarray | None:
    if isinstance(values, np.ndarray) and values.dtype.char == "d":
        return values if values.ndim == 1 else None
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
