"""Audit a trained model on the test split of its data, as a job that can be continued."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.run_job import ExampleSource, run_job
from attnaudit.auditing.jobs.shard_bounds import TOKENS_PER_SHARD
from attnaudit.core.tasks import Workers
from attnaudit.data.sampling import sampled
from attnaudit.results.results import Results
from attnaudit.training.checkpoint import load
from attnaudit.training.preparation import Preparation
from attnaudit.training.run_examples import EXAMPLES, batches_with
from attnaudit.training.trained_model import run_battery, worker_task


def audit_run(
    ready: Preparation,
    job: JobStore,
    scratch: Path,
    *,
    out: Path,
    others: Sequence[Path],
    device: str,
    workers: Workers,
    show_progress: bool,
) -> Results:
    """The results of a trained model.

    Parameters
    ----------
    ready : with its model trained.
    job : its folder, which holds the trained weights for workers.
    scratch : folder for the values, which the results are read from.
    out : folder of the runs, among them the one that the experiment is based on.
    others : runs of other trainings of the same model.
    """
    experiment, vocabulary = ready.experiment, ready.vocabulary
    examples = sampled(ready.splits.test, experiment.sample, experiment.seed)
    names = ("variant", "seed", "audits", "measures")
    work: dict[str, Any] = {
        "model": ready.model,
        "words": list(vocabulary.words),
        "choices": {name: getattr(experiment, name) for name in names},
        "base": None if experiment.base is None else str((out / experiment.base).resolve()),
        "others": [str(other.resolve()) for other in others],
        "device": device,
    }
    # Trusted: these runs were made by this experiment, with its own parts.
    other_models = [load(other, trust_code=True).model for other in others]
    to_batches = batches_with(vocabulary, len(ready.splits.classes))
    return run_job(
        job,
        run_battery(experiment, ready.training.model, vocabulary, other_models, device),
        ExampleSource(examples, EXAMPLES, to_batches, TOKENS_PER_SHARD),
        scratch,
        identity=ready.identity(),
        class_names=ready.splits.classes,
        keep_examples=experiment.keep_examples,
        workers=workers,
        task=lambda name, shard: worker_task(job, name, shard, work),
        show_progress=show_progress,
    )
