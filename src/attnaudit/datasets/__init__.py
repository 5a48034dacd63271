"""Corpora and simulators: each gives Splits. A new one is one file and one line here."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attnaudit import choices
from attnaudit.datasets.babi_simulated import babi
from attnaudit.datasets.keyword import keyword
from attnaudit.datasets.splits import Splits
from attnaudit.datasets.sst import sst
from attnaudit.errors import InputError

DATASETS: dict[str, Callable[..., Splits]] = {
    "babi": babi,
    "keyword": keyword,
    "sst": sst,
}


def load(choice: str, *, data_dir: Path | None = None, seed: int = 0) -> Splits:
    """The dataset a choice such as "babi:task=2" names.

    Readers of real corpora get `data_dir`, or else the folder in the environment variable ATTNAUDIT_DATA; simulators get
    `seed`, unless the choice gives its own; the seed of a model is another matter and does not change its data.
    """
    name, options = choices.parse(choice)
    reader = choices.find(DATASETS, name, "dataset")
    given: dict[str, Any] = dict(options)
    takes = inspect.signature(reader).parameters
    unknown = [each for each in options if each not in takes]
    if unknown and not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in takes.values()):
        raise InputError(
            f"The dataset {name!r} has no option {unknown[0]!r}. Choose from: {', '.join(takes) or 'none'}."
        )
    if "folder" in takes:
        given["folder"] = _folder(name, given.get("folder", data_dir))
    if "seed" in takes:
        given.setdefault("seed", seed)
    return reader(**given)


def _folder(name: str, folder: Path | str | None) -> Path:
    where = folder or os.environ.get("ATTNAUDIT_DATA")
    if not where:
        raise InputError(
            f"The dataset {name!r} is read from files and no folder is given. "
            "Give the data folder, or set the environment variable ATTNAUDIT_DATA to it."
        )
    if not Path(where).is_dir():
        raise InputError(
            f"The data folder {str(where)!r} for the dataset {name!r} does not exist. "
            "Check the path given, or the environment variable ATTNAUDIT_DATA."
        )
    return Path(where)
