"""Where a run is stored, whether it is there already, and what of an old run still fits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from attnaudit import data
from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.core.output_files import sha256
from attnaudit.data.reading.fingerprint import fingerprint
from attnaudit.data.splits import Splits
from attnaudit.results import store
from attnaudit.results.run_names import run_name
from attnaudit.training.experiment import ExperimentConfig


class Place(NamedTuple):
    """The folder of a run, and whether a complete run is there already."""

    folder: Path
    done: bool
    splits: Splits | None = None  # the data, if it was read to find out


def read_data(dataset: str, data_dir: Path | None) -> tuple[Splits, str]:
    """A dataset as it is now, and its fingerprint."""
    splits = data.load(dataset, data_dir=data_dir)
    return splits, fingerprint(splits)


def find_place(
    experiment: ExperimentConfig,
    out: Path,
    *,
    data_dir: Path | None = None,
    read: Callable[[str, Path | None], tuple[Splits, str]] = read_data,
) -> Place:
    """The folder of this experiment on the data as it is now, and whether its run is complete.

    If the data has changed since, the folder is a new one next to the old run's. Data that is no
    longer there counts as unchanged.

    Parameters
    ----------
    read : how data is read; for many experiments, a function that remembers what it has read.
    """
    folder = out / run_name(experiment.choices())
    reads_files = data.reads_files(experiment.dataset)
    if not store.is_complete(folder) or (experiment.vectors is None and not reads_files):
        return Place(folder, store.is_complete(folder))
    before = store.read_run(folder)["data"]
    try:
        splits, digest = (
            read(experiment.dataset, data_dir) if reads_files else (None, before["fingerprint"])
        )
    except InputError:
        return Place(folder, True)
    now = (digest, _digest(experiment.vectors))
    if now[0] == before["fingerprint"] and before.get("vectors") in (None, now[1]):
        return Place(folder, True, splits)
    digest = hashlib.blake2b("".join(map(str, now)).encode(), digest_size=4).hexdigest()
    other = folder.with_name(f"{folder.name}-{digest}")
    if not store.is_complete(other):
        notice(
            f"the data has changed since {folder} was run; that run is kept, and this one goes to "
            f"{other.name}"
        )
    return Place(other, store.is_complete(other), splits)


def _digest(path: str | None) -> str | None:
    return None if path is None or not Path(path).is_file() else sha256(Path(path))


def still_fits(findings: Path, draft: Path) -> bool:
    """Whether a corpus audit of a replaced run is valid for the new one: same weights and data."""
    try:
        old = store.read_run(findings.parent)
    except InputError:
        return False
    weights = old.get("files", {}).get("model.safetensors", {}).get("sha256")
    new = store.read_run(draft, draft=True)
    return (
        weights == sha256(draft / "model.safetensors")
        and old["data"]["fingerprint"] == new["data"]["fingerprint"]
    )
