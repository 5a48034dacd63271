"""From an experiment to a finished run: train, audit the test split, store; skipped if done."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch

from attnaudit import data, models
from attnaudit.auditing.jobs.run_job import ExampleSource, opened, parts_folder, run_job
from attnaudit.auditing.jobs.shard_bounds import TOKENS_PER_SHARD
from attnaudit.auditing.report_file import write_report
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.core import registry
from attnaudit.core.devices import check_device
from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.folder_marks import mark_of
from attnaudit.core.notices import notice
from attnaudit.core.output_files import check_file, check_writable, sha256
from attnaudit.core.output_folders import set_aside, write_folder
from attnaudit.core.tasks import Workers
from attnaudit.data.reading.fingerprint import fingerprint
from attnaudit.data.sampling import sampled
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.data.word_vectors import load_vectors
from attnaudit.results import store
from attnaudit.results.checksums import write_json
from attnaudit.results.results import Results
from attnaudit.training.checkpoint import build_from, load
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.run_examples import EXAMPLES, batches_with
from attnaudit.training.run_lock import working_on
from attnaudit.training.run_log import RUN_LOG, RunLog, recording
from attnaudit.training.run_place import Place, find_place, still_fits
from attnaudit.training.trained_model import (
    keep_training,
    kept_training,
    run_battery,
    state_bytes,
    worker_task,
)
from attnaudit.training.trainer import fit, scores_on_test
from attnaudit.training.variants import VARIANTS, VariantContext, make_training

# The folder, next to the runs, of the trainings that only show whether the attention is stable.
OTHER_SEEDS = "other_seeds"


class RunOutput(NamedTuple):
    """What `run` made: the run directory, the results in it, and the HTML report.

    was_complete: the run was there already and was not run again.
    """

    folder: Path
    results: Results
    report: Path
    was_complete: bool


def run(
    dataset: str = "babi:task=1",
    *,
    out: str | Path = "runs",
    preset: str | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    force: bool = False,
    show_progress: bool = True,
    workers: Workers | None = None,
    **choices: Any,
) -> RunOutput:
    """Train one model, audit it on the test split, and write a run directory with a report.

    Does what `attnaudit run` does.

    Parameters
    ----------
    dataset, preset, **choices : as for `make_experiment`: encoder, epochs, audits, seed, …
    out : folder that holds the run directories.
    data_dir : folder of the corpora; if omitted, the environment variable ATTNAUDIT_DATA, else the
        user's cache folder.
    device : "cpu" or "cuda".
    force : run again even if the same run is complete.
    workers : processes or a cluster that share the audit; this process alone if omitted.

    Examples
    --------
    >>> output = run("keyword", encoder="average", epochs=1)  # doctest: +SKIP
    >>> print(output.results.card())  # doctest: +SKIP
    """
    experiment = make_experiment(dataset, preset=preset, **choices)
    place = find_place(experiment, Path(out), data_dir=_path(data_dir))
    folder = run_experiment(
        experiment,
        Path(out),
        data_dir=_path(data_dir),
        device=device,
        force=force,
        show_progress=show_progress,
        place=place,
        workers=workers,
    )
    results = store.load_results(folder)
    return RunOutput(folder, results, write_report(results, folder), place.done and not force)


def run_experiment(
    experiment: ExperimentConfig,
    out: Path,
    *,
    data_dir: Path | None = None,
    device: str = "cpu",
    force: bool = False,
    show_progress: bool = True,
    place: Place | None = None,
    workers: Workers | None = None,
) -> Path:
    """Train, audit the test split, and write the run directory below `out`.

    A complete run is left as it is unless `force`.

    Parameters
    ----------
    place : what `find_place` returned, if it was called before.
    workers : processes or a cluster that share the audit; this process alone if omitted.

    Returns
    -------
    The run directory.
    """
    place = place or find_place(experiment, out, data_dir=data_dir)
    if place.done and not force:
        return place.folder
    _check(experiment)
    check_device(device)
    check_writable(out)
    with working_on(place.folder), recording() as log:
        if not force and store.is_complete(place.folder):  # by another process, meanwhile
            return place.folder
        return _run(experiment, out, place, log, data_dir, device, show_progress, workers)


def _run(
    experiment: ExperimentConfig,
    out: Path,
    place: Place,
    log: RunLog,
    data_dir: Path | None,
    device: str,
    show_progress: bool,
    workers: Workers | None,
) -> Path:
    """Train, audit and write, whatever is there."""
    folder, _, splits = place
    if folder.exists() and mark_of(folder) is None:
        set_aside(folder)
    check_file(folder / "report.html")
    started = time.monotonic()
    log.phase("data")
    splits = splits or data.load(experiment.dataset, data_dir=data_dir)
    if not splits.test:
        raise InputError(f"{splits.name}: the test split is empty, so there is nothing to audit.")
    vocabulary = Vocabulary.build(splits.train, min_count=splits.min_count)
    vectors, coverage = None, None
    architecture = experiment.architecture
    if experiment.vectors is not None:
        vectors, coverage = load_vectors(Path(experiment.vectors), vocabulary, seed=experiment.seed)
        architecture = replace(architecture, embedding=vectors.shape[1])  # the file decides
    details = {
        **architecture.as_dict(),
        "with_query": splits.train[0].query is not None,
        "classes": len(splits.classes),
    }
    fresh = build_from(details, vocabulary, seed=experiment.seed, vectors=vectors)
    # Trusted: the base was trained by the same intervention, with parts chosen here.
    base = None if experiment.base is None else load(out / experiment.base, trust_code=True).model
    training = make_training(
        experiment.variant, VariantContext(fresh, base, vocabulary, experiment.seed)
    )
    whole = sampled(splits.test, experiment.sample, experiment.seed)
    data_print = fingerprint(splits)
    vectors_print = None if experiment.vectors is None else sha256(Path(experiment.vectors))
    identity = {
        "choices": experiment.choices(),
        "data": data_print,
        "vectors": vectors_print,
        "threads": torch.get_num_threads(),
    }
    with opened(parts_folder(folder)) as job, TemporaryDirectory() as scratch:
        log.phase("training")
        history = kept_training(job, identity, fresh)
        if history is None:
            history = fit(
                training.model,
                splits,
                vocabulary,
                experiment.recipe,
                training.objective,
                keep=training.keep,
                seed=experiment.seed,
                device=device,
                show_progress=show_progress,
            )
            keep_training(job, identity, fresh, history)
        else:
            notice(f"continuing {folder.name}: the model was trained before")
        training.model.eval()
        trained = time.monotonic()
        log.phase("other trainings")
        others = _other_trainings(
            experiment, out, data_dir=data_dir, device=device, show_progress=show_progress
        )
        log.phase("audit")
        work = {
            "model": details,
            "words": list(vocabulary.words),
            "choices": {
                name: getattr(experiment, name)
                for name in ("variant", "seed", "audits", "measures")
            },
            "base": None if experiment.base is None else str((out / experiment.base).resolve()),
            "others": [str(other.resolve()) for other in others],
            "device": device,
        }
        # Trusted: these runs are made here, with parts chosen here.
        other_models = [load(other, trust_code=True).model for other in others]
        results = run_job(
            job,
            run_battery(experiment, training.model, vocabulary, other_models, device),
            ExampleSource(
                whole, EXAMPLES, batches_with(vocabulary, len(splits.classes)), TOKENS_PER_SHARD
            ),
            Path(scratch),
            identity=identity,
            class_names=splits.classes,
            keep_examples=experiment.keep_examples,
            workers=workers,
            task=lambda shard: worker_task(job, shard, work),
            show_progress=show_progress,
        )
        audited = time.monotonic()
        log.phase("performance on the test split")
        stored: dict[str, Any] = {
            "choices": experiment.choices(),
            "model": details,
            "data": {
                "name": splits.name,
                "tokeniser": splits.tokeniser,
                "sizes": {name: len(getattr(splits, name)) for name in ("train", "dev", "test")},
                "vocabulary": len(vocabulary),
                "vector_coverage": coverage,
                "vectors": vectors_print,
                "fingerprint": data_print,
                "notes": splits.notes,
            },
            "training": {
                "kept_epoch": history.best_epoch,
                "dev": list(history.dev_scores),
                "losses": list(history.losses),
            },
            "performance": scores_on_test(training.model, splits, vocabulary, experiment.seed),
            "threads": torch.get_num_threads(),  # the last bits of float sums depend on it
            "seconds": {"training": trained - started, "audit": audited - trained},
        }
        log.phase("writing")
        said = log.text(folder.name, stored["choices"], store.versions(), stored["threads"])

        def write(draft: Path) -> None:
            (draft / RUN_LOG).write_text(said, encoding="utf-8")
            write_json(draft / "vocabulary.json", list(vocabulary.words))
            (draft / "model.safetensors").write_bytes(state_bytes(fresh))
            store.write_results(results, draft, run=stored)

        try:
            write_folder(folder, write, replace=True, keep=still_fits)
        except OutputError as error:
            error.results = replace(results, columns=results.columns.in_memory())
            raise
        job.remove()
    return folder


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _other_trainings(experiment: ExperimentConfig, out: Path, **how: Any) -> list[Path]:
    """Runs trained from the seeds that follow, with few audits, in a folder of their own."""
    experiments = [
        replace(
            experiment,
            seed=experiment.seed + step,
            other_seeds=0,
            audits=("uniform_attention",),
            measures=("random",),
        )
        for step in range(1, experiment.other_seeds + 1)
    ]
    return [run_experiment(other, out / OTHER_SEEDS, **how) for other in experiments]


def _check(experiment: ExperimentConfig) -> None:
    """Reject wrong names and missing files now, not after minutes of training."""
    models.check(experiment.architecture)
    registry.find(VARIANTS, experiment.variant, "variant")
    find_audits(experiment.audits)
    find_measures(experiment.measures)
    if experiment.vectors is not None and not Path(experiment.vectors).is_file():
        raise InputError(f"There is no file of word vectors at {experiment.vectors}.")
