"""A job and its folder: what decides its numbers, and whether finished parts can be kept."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from attnaudit.auditing.jobs.example_files import FOLDER as EXAMPLES
from attnaudit.auditing.jobs.example_files import shard_name
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.results.store import versions

JOB = "job.json"
PLAN = "plan.json"  # what depends on all examples: options of audits, and which are kept whole
PARTS = "parts"
MODEL = "model"  # trained weights, of a run

# Everything in the folder of a job: its name, and for a folder the names of the files in it.
_OURS = {
    JOB: None,
    PLAN: None,
    EXAMPLES: re.compile(r"\d+\.parquet"),
    PARTS: re.compile(r"\d+-[0-9a-f]+\.parquet"),
    MODEL: re.compile(r"model\.safetensors|training\.json"),
}

Identity = Mapping[str, Any]  # JSON: everything that decides the numbers


def job_id(identity: Identity) -> str:
    """A name for the job: equal for equal identities and versions of the software.

    Parts are stored under it, so that a worker of an earlier job that is still running somewhere
    cannot add to this one.
    """
    return _id_of({**identity, "versions": versions()})


def was_begun(store: JobStore) -> bool:
    """Whether the folder holds a job; if not, what is left of one that was never begun is removed.

    Its examples can then be stored as they are gone through the first time.
    """
    if _stored(store) is not None:
        return True
    check_ours(store)
    _remove_all_but_model(store)
    return False


def continues(store: JobStore, identity: Identity) -> bool:
    """Whether the folder holds the beginning of this very job; what no longer fits is removed.

    Parameters
    ----------
    store : the folder of the job; new, or left by an earlier process.
    identity : of the job. Equal identities give equal values.
    """
    wanted = {**json.loads(json.dumps(identity)), "versions": versions()}
    before = _stored(store)
    if before == wanted:
        return True
    check_ours(store)
    if before is not None and store.names(PARTS):
        changed = [key for key in wanted if before.get(key) != wanted[key]]
        notice(
            f"what {store.address} holds of an earlier audit no longer fits and is removed: "
            f"{', '.join(changed)} changed"
        )
    _remove_all_but_model(store)
    return False


def _remove_all_but_model(store: JobStore) -> None:
    for name in (JOB, PLAN, PARTS, EXAMPLES):
        store.remove(name)


def begin(store: JobStore, identity: Identity) -> None:
    """Mark the folder as that of this job, once all that its parts need is stored."""
    content = {**identity, "versions": versions()}
    store.write(JOB, json.dumps(content, indent=1).encode())


def check_model(store: JobStore, job: str, fingerprint: str) -> None:
    """Reject, in a worker, a job or a model other than those that the job was begun with."""
    stored = _stored(store)
    if stored is None or _id_of(stored) != job:
        raise InputError(
            f"{store.address} no longer holds the audit that this worker belongs to: it "
            "was begun again, finished or removed by another process."
        )
    if stored["model"] != fingerprint:
        raise InputError(
            "The model that this worker has loaded is not the one that the audit was begun with. "
            "Were its files changed meanwhile, or are they others on this machine? Give the same "
            "command again when they are as they should be."
        )


def is_current(store: JobStore, job: str) -> bool:
    """Whether the folder is still that of the job."""
    stored = _stored(store)
    return stored is not None and _id_of(stored) == job


def finish(store: JobStore) -> None:
    """Remove what the job has stored, and the folder if there is nothing else in it."""
    for name in _OURS:
        store.remove(name)
    store.remove_if_empty()


def finished_shards(store: JobStore, job: str) -> set[int]:
    """The numbers of the shards whose part is there."""
    names = [name.removesuffix(".parquet").split("-") for name in store.names(PARTS)]
    return {int(shard) for shard, of in names if of == job}


def part_name(job: str, shard: int) -> str:
    """The name of the part of a shard."""
    return f"{PARTS}/{shard_name(shard).removesuffix('.parquet')}-{job}.parquet"


def _stored(store: JobStore) -> dict[str, Any] | None:
    try:
        content = json.loads(store.read(JOB))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _id_of(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def check_ours(store: JobStore) -> None:
    """Reject a folder with files that no job wrote."""
    foreign = [name for name in store.names("") if name not in _OURS and name[0] != "."]
    for folder, expected in _OURS.items():
        if expected is not None:
            names = store.names(folder)
            foreign += [f"{folder}/{name}" for name in names if not expected.fullmatch(name)]
    if foreign:
        raise InputError(
            f"{store.address} is where unfinished work is kept, but it holds {min(foreign)}, which "
            "attnaudit did not write. Move it away, or give another place."
        )
