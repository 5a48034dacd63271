"""What any process needs to audit the citations of a saved language model: all of it plain data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.citation_job import citation_battery
from attnaudit.auditing.jobs.citation_examples import QUESTIONS, batches_by
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.shard_worker import shard_task
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
        return shard_task(load_reader, address, job, shard, reader)


def load_reader(store: JobStore, reader: dict[str, Any]) -> tuple[Battery, StoredShards]:
    """The battery of a saved language model, and the questions; reader: fields of `SavedReader`."""
    saved = SavedReader(**reader)
    battery = saved.battery(saved.load())
    return battery, StoredShards(store, QUESTIONS, batches_by(battery.model))
