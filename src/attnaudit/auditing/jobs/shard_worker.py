"""What any process does for one shard of a job: load the models of the job once, then audit."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.jobs.fingerprints import model_fingerprint
from attnaudit.auditing.jobs.job import check_model
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.sharded_audit import ShardedAudit
from attnaudit.auditing.jobs.shards import StoredShards
from attnaudit.core.tasks import Task

# From the store of a job and plain data: what to run, and the examples in shards.
Load = Callable[[JobStore, dict[str, Any]], tuple[Battery, StoredShards]]


def shard_task(load: Load, address: str, job: str, shard: int, work: dict[str, Any]) -> Task:
    """What a worker does for one shard.

    Parameters
    ----------
    load : a function of a module, which other processes import.
    address, job : where the job is, and its id.
    shard : its number.
    work : plain data for `load`.
    """
    return Task(f"part {shard}", audit_shard, (load, address, job, shard, work))


def audit_shard(load: Load, address: str, job: str, shard: int, work: dict[str, Any]) -> None:
    """Audit one shard; its part is written to the folder of the job. As for `shard_task`."""
    _audit_of(load, address, job, json.dumps(work, sort_keys=True)).do(shard)


@lru_cache(maxsize=1)
def _audit_of(load: Load, address: str, job: str, work: str) -> ShardedAudit:
    """The audit of a job, its models loaded once per process."""
    store = JobStore(address)
    battery, shards = load(store, json.loads(work))
    check_model(store, job, model_fingerprint(battery.model))
    return ShardedAudit(job, store, battery, shards).planned()
