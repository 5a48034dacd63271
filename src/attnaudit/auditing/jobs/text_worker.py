"""What any process needs to audit texts with a saved Hugging Face model: all of it plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.explanations import (
    ExplanationChoice,
    find_explanations,
    with_explanations,
)
from attnaudit.auditing.jobs.fingerprints import model_fingerprint
from attnaudit.auditing.jobs.job import check_model
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.sharded_audit import ShardedAudit
from attnaudit.auditing.jobs.shards import StoredShards
from attnaudit.auditing.jobs.text_examples import TEXTS, batches_by
from attnaudit.auditing.jobs.worker_choices import reject_functions
from attnaudit.auditing.selection import Choice, find_audits, find_measures
from attnaudit.audits import AUDITS
from attnaudit.core.tasks import Task
from attnaudit.models.huggingface import from_huggingface


class SavedModels(NamedTuple):
    """The audited model and other trainings of it, and what to run on them.

    Parameters
    ----------
    folders : of the audited model, then of the others.
    options : of `from_huggingface`.
    audits, measures, seed, explanations : as for `audit`.
    """

    folders: Sequence[str]
    options: dict[str, Any]
    audits: Sequence[Choice] | None
    measures: Sequence[Choice] | None
    seed: int
    explanations: ExplanationChoice = None

    def load(self) -> Battery:
        """Load the models."""
        model, *others = (from_huggingface(folder, **self.options) for folder in self.folders)
        audits = find_audits(self.audits)
        if others:
            audits["stability"] = partial(AUDITS["stability"], other_models=tuple(others))
        compared = find_explanations(self.explanations)
        audits, measures = with_explanations(audits, find_measures(self.measures), compared)
        return Battery(
            model,
            audits,
            measures,
            seed=self.seed,
            other_models=tuple(others),
            explanations=tuple(compared),
        )

    def task(self, address: str, job: str, shard: int) -> Task:
        """What a worker does for one shard; it may be in another folder."""
        folders = [str(Path(folder).resolve()) for folder in self.folders]
        models = {**self._asdict(), "folders": folders}
        return Task(f"part {shard}", audit_text_shard, (address, job, shard, models))

    def check_names(self) -> None:
        """Reject functions: other processes find audits and measures by name."""
        reject_functions(
            {"audits": self.audits, "measures": self.measures, "explanations": self.explanations}
        )


def audit_text_shard(address: str, job: str, shard: int, models: dict[str, Any]) -> None:
    """Audit one shard of a job; its part is written to the folder of the job.

    Parameters
    ----------
    address, job : where the job is, and its id.
    shard : its number.
    models : the fields of `SavedModels`.
    """
    _worker(address, job, json.dumps(models, sort_keys=True)).do(shard)


@lru_cache(maxsize=1)
def _worker(address: str, job: str, models: str) -> ShardedAudit:
    """The models of a job, loaded once per process."""
    battery = SavedModels(**json.loads(models)).load()
    store = JobStore(address)
    check_model(store, job, model_fingerprint(battery.model))
    shards = StoredShards(store, TEXTS, batches_by(battery.model))
    return ShardedAudit(job, store, battery, shards).planned()
