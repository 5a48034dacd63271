"""A trained model in the folder of its job: kept if the audit is interrupted, read by workers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as deserialise
from safetensors.torch import save as serialise

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.jobs.job import MODEL
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.sealed_json import sealed, unsealed
from attnaudit.auditing.jobs.shard_worker import shard_task
from attnaudit.auditing.jobs.shards import StoredShards
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.audits import AUDITS
from attnaudit.core.tasks import Task
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.results.store import versions
from attnaudit.training.checkpoint import build_from, fill_whole, load
from attnaudit.training.experiment import ExperimentConfig
from attnaudit.training.run_examples import EXAMPLES, batches_with
from attnaudit.training.trainer import History
from attnaudit.training.variants import VariantContext, make_training

_WEIGHTS, _TRAINING = f"{MODEL}/model.safetensors", f"{MODEL}/training.json"


def state_bytes(model: torch.nn.Module) -> bytes:
    """The parameters of a model as a safetensors file."""
    # Not safetensors' save_file, whose error on a full disk is not an OSError.
    return serialise({name: each.cpu().contiguous() for name, each in model.state_dict().items()})


def keep_training(
    store: JobStore, identity: Mapping[str, Any], fresh: torch.nn.Module, history: History
) -> None:
    """Store a trained model; identity: what decides its weights, besides the versions."""
    weights = state_bytes(fresh)
    store.write(_WEIGHTS, weights)
    content = {
        "identity": {**identity, "versions": versions()},
        "weights": hashlib.sha256(weights).hexdigest(),
        "history": asdict(history),
    }
    store.write(_TRAINING, sealed(content))


def kept_training(
    store: JobStore, identity: Mapping[str, Any], fresh: torch.nn.Module
) -> History | None:
    """Fill a fresh model with the stored weights of the same training; None if there are none."""
    wanted = json.loads(json.dumps({**identity, "versions": versions()}))
    try:
        content, weights = unsealed(store.read(_TRAINING)), store.read(_WEIGHTS)
        is_whole = hashlib.sha256(weights).hexdigest() == content["weights"]
        if content["identity"] != wanted or not is_whole:
            return None
        kept = content["history"]
        history = History(
            tuple(kept["losses"]),
            tuple(kept["dev_scores"]),
            kept["score_name"],
            kept["best_epoch"],
            kept["trained_in"],
            kept["device"],
        )
        fill_whole(fresh, deserialise(weights))  # last: a model that was touched is not trained
        return history
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError):
        return None  # damaged, or of another version: train again


def run_battery(
    experiment: ExperimentConfig, model: Any, vocabulary: Vocabulary, others: list[Any], device: str
) -> Battery:
    """The audits and measures of an experiment on its trained model."""
    audits = find_audits(experiment.audits)
    if others:
        audits["stability"] = partial(AUDITS["stability"], other_models=tuple(others))
    return Battery(
        model,
        audits,
        find_measures(experiment.measures),
        seed=experiment.seed,
        words=vocabulary.words,
        device=device,
        other_models=tuple(others),
    )


def worker_task(store: JobStore, job: str, shard: int, work: dict[str, Any]) -> Task:
    """What a worker does for one shard of a run; work: as for `load_run`."""
    return shard_task(load_run, store.address, job, shard, work)


def load_run(store: JobStore, work: dict[str, Any]) -> tuple[Battery, StoredShards]:
    """The battery of a run whose weights are in the store of its job, and its examples.

    Parameters
    ----------
    store : of the job.
    work : plain data: `model` (as in run.json), `words`, `choices` (variant, seed, audits and
        measures), `base` and `others` (folders of runs) and `device`.
    """
    choices = work["choices"]
    vocabulary = Vocabulary(tuple(work["words"]))
    fresh = build_from(work["model"], vocabulary)
    # Trusted: the parts were chosen by the process that started this one.
    base = None if work["base"] is None else load(work["base"], trust_code=True).model
    context = VariantContext(fresh, base, vocabulary, choices["seed"])
    model = make_training(choices["variant"], context).model
    fresh.load_state_dict(deserialise(store.read(_WEIGHTS)))
    others = [load(Path(folder), trust_code=True).model for folder in work["others"]]
    experiment = ExperimentConfig(
        seed=choices["seed"], audits=choices["audits"], measures=choices["measures"]
    )
    battery = run_battery(experiment, model.eval(), vocabulary, others, work["device"])
    to_batches = batches_with(vocabulary, work["model"]["classes"])
    return battery, StoredShards(store, EXAMPLES, to_batches)
