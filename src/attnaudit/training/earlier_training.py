"""The same model, trained before: a run with other audits need not train it a second time."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.results import store
from attnaudit.results.checksums import check_files
from attnaudit.training.checkpoint import fill, foreign_code
from attnaudit.training.preparation import Preparation
from attnaudit.training.trainer import History

# Choices that say what is audited and kept, and leave the weights as they are.
_OF_THE_AUDIT = ("audits", "measures", "sample", "illustrated", "other_seeds")


def earlier_training(ready: Preparation, folder: Path, *, device: str) -> History | None:
    """Fill the fresh model with the weights of a finished run that was trained in the same way.

    Training is deterministic, so these are the weights that it would give: the same choices but
    for those of the audit, the same data and vectors, number of threads, device and versions. A
    model with parts from outside the package, whose code may have changed, or with a base, which
    may have been trained again, is not used.

    Parameters
    ----------
    ready : the experiment, with its fresh model.
    folder : of the run that is to be made; runs next to it are considered.
    device : that it would be trained on.

    Returns
    -------
    The history of that training, or None if there is no such run or its files are damaged.
    """
    if ready.experiment.base is not None:
        return None
    wanted = {**ready.identity(), "versions": store.versions()}
    for other in _same_name(folder):
        try:
            details = store.read_run(other)
            trained = details["training"]
            if _identity(details) != _weights_only(wanted) or trained["device"] != device:
                continue
            if foreign_code(details):
                continue
            check_files(other, details, ("model.safetensors",))
            fill(ready.fresh, other / "model.safetensors")
        except (InputError, KeyError):  # no such run, damaged, or of an early version
            continue
        notice(f"{folder.name}: the model of {other.name} is used, trained with the same choices")
        return History(
            tuple(trained["losses"]),
            tuple(trained["dev"]),
            trained.get("score", ""),
            trained["kept_epoch"],
            trained_in=other.name,
            device=device,
        )
    return None


def _same_name(folder: Path) -> Iterator[Path]:
    """The runs next to this one whose names differ in the hash of all choices alone."""
    readable = folder.name.rsplit("-", 1)[0]
    found = folder.parent.glob(f"{glob.escape(readable)}-*")
    return (other for other in sorted(found) if other != folder and store.is_complete(other))


def _identity(details: Mapping[str, Any]) -> dict[str, Any]:
    """What decided the weights of a finished run, as `Preparation.identity` says it."""
    return _weights_only(
        {
            "choices": details["choices"],
            "data": details["data"]["fingerprint"],
            "vectors": details["data"]["vectors"],
            "threads": details["threads"],
            "versions": details["versions"],
        }
    )


def _weights_only(identity: Mapping[str, Any]) -> dict[str, Any]:
    choices = {key: value for key, value in identity["choices"].items() if key not in _OF_THE_AUDIT}
    return {**identity, "choices": choices}
