"""What any process needs to audit texts with a saved Hugging Face model: all of it plain data."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.explanations import (
    ExplanationChoice,
    find_explanations,
    with_explanations,
)
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.shard_worker import shard_task
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
        return shard_task(load_models, address, job, shard, models)

    def check_names(self) -> None:
        """Reject functions: other processes find audits and measures by name."""
        reject_functions(
            {"audits": self.audits, "measures": self.measures, "explanations": self.explanations}
        )


def load_models(store: JobStore, models: dict[str, Any]) -> tuple[Battery, StoredShards]:
    """The battery of saved models, and the texts; models: fields of `SavedModels`."""
    battery = SavedModels(**models).load()
    return battery, StoredShards(store, TEXTS, batches_by(battery.model))
