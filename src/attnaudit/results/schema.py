"""What stored results must hold to be read: the keys of run.json, the columns of each table.

Files may be damaged, or written by anyone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.results.rows import METRIC_KEY

Check = Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _dict_of(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_interval(value: Any) -> bool:
    return _list_of(_or_none(_is_number))(value) and len(value) == 2


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _are_classes(value: Any) -> bool:
    return _list_of(_is_text)(value) and len(value) > 1 and len(set(value)) == len(value)


_ABOUT: Mapping[str, tuple[Check, str]] = {
    "seed": (lambda value: isinstance(value, int), "a whole number"),
    "classes": (_are_classes, "a list of at least two different names"),
    "has_readout": (_is_bool, "true or false"),
}
# What results of earlier versions, or of another kind, may lack.
_ABOUT_OPTIONAL: Mapping[str, tuple[Check, str]] = {
    "audits": (_list_of(_is_text), "a list of names"),
    "measures": (_list_of(_is_text), "a list of names"),
    "not_applicable": (_dict_of(_is_text), "reasons by name"),
    "measures_not_applicable": (_dict_of(_is_text), "reasons by name"),
    "rows": (_is_count, "a count"),
    "row_names": (_or_none(_list_of(_is_text)), "a list of names"),
    "illustrated": (_is_count, "a count"),
    "majority": (_or_none(_is_number), "a share"),
    "model": (_is_dict, "an object"),
    "truncated": (_is_count, "a count"),
    "texts": (_is_dict, "an object"),
}
_TEXTS: Mapping[str, tuple[Check, str]] = {
    "file": (_is_text, "a name"),
    "model": (_is_text, "a name"),
    "read": (_is_count, "a count"),
    "audited": (_is_count, "a count"),
    "skipped": (_is_dict, "an object"),
}
_RUN_OPTIONAL: Mapping[str, tuple[Check, str]] = {
    "versions": (_dict_of(_is_text), "versions by name"),
    "choices": (_is_dict, "an object"),
    "model": (_is_dict, "an object"),
    "data": (_is_dict, "an object"),
    "training": (_is_dict, "an object"),
    "performance": (_is_dict, "an object"),
    "seconds": (_dict_of(_is_number), "seconds by stage"),
    "threads": (_is_count, "a count"),
}
# The keys that each of these must have if it is there.
_PARTS: Mapping[str, Mapping[str, tuple[Check, str]]] = {
    "choices": {
        "dataset": (_is_text, "a choice"),
        "seed": (lambda value: isinstance(value, int), "a whole number"),
        "variant": (_is_text, "a choice"),
        "base": (_or_none(_is_text), "a name"),
        "recipe": (_is_dict, "an object"),
    },
    "model": {
        **dict.fromkeys(
            ("model", "encoder", "scorer", "projection", "output"), (_is_text, "a choice")
        ),
        "embedding": (_is_count, "a count"),
        "classes": (_is_count, "a count"),
        "with_query": (_is_bool, "true or false"),
    },
    "data": {
        "name": (_is_text, "a name"),
        "tokeniser": (_is_text, "a name"),
        "sizes": (_dict_of(_is_count), "counts by split"),
        "vocabulary": (_is_count, "a count"),
        "fingerprint": (_is_text, "a checksum"),
    },
    "training": {
        "kept_epoch": (_is_count, "a count"),
        "dev": (_list_of(_or_none(_is_number)), "a list of scores"),
    },
    "performance": {
        "accuracy": (_is_number, "a share"),
        "accuracy_interval": (_or_none(_is_interval), "two numbers"),
        "majority": (_is_number, "a share"),
    },
}
_RECIPE: Mapping[str, tuple[Check, str]] = {
    "optimiser": (_is_text, "a name"),
    "learning_rate": (_is_number, "a number"),
    "batch_size": (_is_count, "a count"),
}


def check_details(path: Path, details: dict[str, Any]) -> None:
    """Reject a run.json in which something that is read later is missing or of the wrong type."""
    about = details.get("about")
    if not isinstance(about, dict):
        raise InputError(f"{path} is damaged: `about` is missing. Run it again with --force.")
    _check(path, "about", about, _ABOUT)
    _check(path, "about", about, _ABOUT_OPTIONAL, optional=True)
    _check(path, "about.texts", about.get("texts") or {}, _TEXTS, optional=not about.get("texts"))
    _check(path, "", details, _RUN_OPTIONAL, optional=True)
    for name, keys in _PARTS.items():
        if name in details:
            _check(path, name, details[name], keys)
    if "choices" in details:
        _check(path, "choices.recipe", details["choices"]["recipe"], _RECIPE)


def _check(
    path: Path,
    prefix: str,
    content: dict[str, Any],
    keys: Mapping[str, tuple[Check, str]],
    *,
    optional: bool = False,
) -> None:
    for key, (check, expected) in keys.items():
        if optional and key not in content:
            continue
        if key not in content or not check(content[key]):
            got = repr(content[key])[:60] if key in content else "nothing"
            name = f"{prefix}.{key}" if prefix else key
            raise InputError(
                f"{path} is damaged: `{name}` should be {expected}, got {got}. "
                "Run it again with --force."
            )


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
    integers, floats = pd.api.types.is_integer_dtype, pd.api.types.is_float_dtype
    wrong = [column for column in columns.text if not _holds_text(frame, column)]
    wrong += [column for column in columns.whole if not _holds(frame, column, integers)]
    wrong += [column for column in columns.numbers if not _holds(frame, column, floats)]
    wrong += [column for column in columns.lists if not _holds_lists(frame, column)]
    if not wrong and "predicted" in frame:
        inside = frame["predicted"].between(0, classes - 1) & frame["label"].between(
            -1, classes - 1
        )
        wrong += [] if inside.all() else ["predicted or label"]
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
    known = values.cat.categories if isinstance(values.dtype, pd.CategoricalDtype) else values
    return not values.isna().any() and all(isinstance(each, str) for each in known)


def _holds_lists(frame: pd.DataFrame, column: str) -> bool:
    return column in frame and all(isinstance(each, np.ndarray | list) for each in frame[column])


def _unequal(frame: pd.DataFrame, classes: int) -> list[str]:
    """Columns of examples whose lists do not match in length.

    There is one weight per item and row, and one probability per class.
    """
    for line in frame.itertuples():
        count = len(line.tokens)
        attention = _numbers(line.attention)
        if not all(isinstance(each, str) for each in line.tokens):
            return ["tokens"]
        if attention is None or (len(attention) % count if count else len(attention)):
            return ["attention"]
        probs = _numbers(line.probs)
        if probs is None or len(probs) != classes:
            return ["probs"]
        for name, size in (
            ("furthest", len(attention)),
            ("evidence", count),
            ("readout", count * classes),
        ):
            stored = getattr(line, name, None)
            if (
                stored is not None
                and not _is_nan(stored)
                and ((numbers := _numbers(stored)) is None or len(numbers) != size)
            ):
                return [name]
        for score in line.scores:
            if not (isinstance(score, dict) and isinstance(score.get("measure"), str)):
                return ["scores"]
            numbers = _numbers(score.get("values"))
            if numbers is None or len(numbers) not in (count, len(attention)):
                return ["scores"]
    return []


def _numbers(values: Any) -> np.ndarray | None:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 else None


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
