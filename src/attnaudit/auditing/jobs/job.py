"""A job and its folder: what decides its numbers, and whether finished parts can be kept."""

from __future__ import annotations

import hashlib
import json
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

Identity = Mapping[str, Any]  # JSON: everything that decides the numbers


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
    if before is not None and store.names(PARTS):
        changed = [key for key in wanted if before.get(key) != wanted[key]]
        notice(
            f"what {store.address} holds of an earlier audit no longer fits and is removed: "
            f"{', '.join(changed)} changed"
        )
    if before is None and store.local is not None and any(store.local.iterdir()):
        _check_ours(store)
    for name in (JOB, PLAN, PARTS, EXAMPLES):
        store.remove(name)
    return False


def begin(store: JobStore, identity: Identity) -> None:
    """Mark the folder as that of this job, once all that its parts need is stored."""
    content = {**identity, "versions": versions()}
    store.write(JOB, json.dumps(content, indent=1).encode())


def finished_shards(store: JobStore) -> set[str]:
    """The names of the shards whose part is there."""
    return store.names(PARTS)


def part_name(shard: int) -> str:
    """The name of the part of a shard."""
    return f"{PARTS}/{shard_name(shard)}"


def digest_of(*contents: bytes) -> str:
    """A SHA-256 of several contents, in hexadecimal."""
    digest = hashlib.sha256()
    for content in contents:
        digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def _stored(store: JobStore) -> dict[str, Any] | None:
    try:
        content = json.loads(store.read(JOB))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _check_ours(store: JobStore) -> None:
    """Reject a folder with files that no job wrote."""
    assert store.local is not None
    foreign = [
        path.name
        for path in store.local.iterdir()
        if path.name not in (JOB, PLAN, PARTS, EXAMPLES, "model") and not path.name.startswith(".")
    ]
    if foreign:
        raise InputError(
            f"{store.address} is where unfinished work is kept, but it holds {foreign[0]}, which "
            "attnaudit did not write. Move it away, or give another --out."
        )
