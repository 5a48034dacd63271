"""What any process needs to audit the citations of a saved language model: all of it plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.citation_job import citation_battery
from attnaudit.auditing.jobs.citation_examples import QUESTIONS, batches_by
from attnaudit.auditing.jobs.fingerprints import model_fingerprint
from attnaudit.auditing.jobs.job import check_model
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.sharded_audit import ShardedAudit
from attnaudit.auditing.jobs.shards import StoredShards
from attnaudit.auditing.selection import Choice
from attnaudit.core.tasks import Task
from attnaudit.models.huggingface import from_huggingface


class SavedReader(NamedTuple):
    """A saved language model, and what to run on it.

    Parameters
    ----------
    folder : of the model.
    options : of `from_huggingface`.
    audits, measures, seed, word_measures : as for `cite`; the measures with the heads that were
        chosen.
    """

    folder: str
    options: dict[str, Any]
    audits: Sequence[Choice] | None
    measures: Sequence[Choice] | None
    seed: int
    word_measures: Sequence[Choice] | None = None

    def load(self) -> Any:
        """Load the model."""
        return from_huggingface(self.folder, task="generation", **self.options)

    def battery(self, model: Any) -> Battery:
        """The model with its measures and audits."""
        return citation_battery(
            model, self.audits, self.measures, self.word_measures, seed=self.seed
        )

    def task(self, address: str, job: str, shard: int) -> Task:
        """What a worker does for one shard; it may be in another folder."""
        reader = {**self._asdict(), "folder": str(Path(self.folder).resolve())}
        return Task(f"part {shard}", audit_citation_shard, (address, job, shard, reader))


def audit_citation_shard(address: str, job: str, shard: int, reader: dict[str, Any]) -> None:
    """Audit one shard of a job; its part is written to the folder of the job.

    Parameters
    ----------
    address, job : where the job is, and its id.
    shard : its number.
    reader : the fields of `SavedReader`.
    """
    _worker(address, job, json.dumps(reader, sort_keys=True)).do(shard)


@lru_cache(maxsize=1)
def _worker(address: str, job: str, reader: str) -> ShardedAudit:
    """The model of a job, loaded once per process."""
    saved = SavedReader(**json.loads(reader))
    battery = saved.battery(saved.load())
    store = JobStore(address)
    check_model(store, job, model_fingerprint(battery.model))
    shards = StoredShards(store, QUESTIONS, batches_by(battery.model))
    return ShardedAudit(job, store, battery, shards).planned()
