"""From an experiment to a finished run: train, audit the test split, store; skipped if done."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from attnaudit import data, models
from attnaudit.auditing.jobs.job import finish
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.leftovers import remove_leftovers
from attnaudit.auditing.jobs.run_job import opened, parts_folder
from attnaudit.auditing.report_file import write_report
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.core import registry
from attnaudit.core.devices import check_device
from attnaudit.core.errors import InputError
from attnaudit.core.folder_marks import mark_of
from attnaudit.core.notices import notice
from attnaudit.core.output_files import check_file, check_writable
from attnaudit.core.output_folders import set_aside
from attnaudit.core.tasks import Workers, as_workers
from attnaudit.core.thread_limits import threads_of_small_models, torch_threads
from attnaudit.results import store
from attnaudit.results.results import Results
from attnaudit.results.run_log import recording
from attnaudit.training.earlier_training import earlier_training
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.preparation import Preparation, prepare
from attnaudit.training.run_audit import audit_run
from attnaudit.training.run_directory import write_run
from attnaudit.training.run_lock import working_on
from attnaudit.training.run_place import Place, find_place
from attnaudit.training.trained_model import keep_training, kept_training
from attnaudit.training.trainer import History, fit
from attnaudit.training.variants import VARIANTS

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
    workers: Workers | int = 1,
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
    workers : how many processes share the audit, or `Workers` for more choices, such as a cluster.

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
    workers: Workers | int = 1,
) -> Path:
    """Train, audit the test split, and write the run directory below `out`.

    A complete run is left as it is unless `force`.

    Parameters
    ----------
    place : what `find_place` returned, if it was called before.
    workers : how many processes share the audit, or `Workers` for more choices, such as a cluster.

    Returns
    -------
    The run directory.
    """
    place = place or find_place(experiment, out, data_dir=data_dir)
    if place.done and not force:
        remove_leftovers(place.folder)
        return place.folder
    check_experiment(experiment)
    check_device(device)
    check_writable(out)
    with working_on(place.folder), recording() as log:
        if not force and store.is_complete(place.folder):  # by another process, meanwhile
            return place.folder
        if place.folder.exists() and mark_of(place.folder) is None:
            set_aside(place.folder)
        check_file(place.folder / "report.html")
        started = time.monotonic()
        log.phase("data")
        splits = place.splits or data.load(experiment.dataset, data_dir=data_dir)
        ready = prepare(experiment, splits, out)
        how: dict[str, Any] = {"device": device, "show_progress": show_progress}
        shared = as_workers(workers)
        with (
            torch_threads(threads_of_small_models(shared.threads)),
            opened(parts_folder(place.folder), shared) as job,
            TemporaryDirectory() as scratch,
        ):
            log.phase("training")
            history = _train(ready, job, place.folder, reuse=not force, **how)
            trained = time.monotonic()
            log.phase("other trainings")
            others = _other_trainings(experiment, out, data_dir=data_dir, **how)
            log.phase("audit")
            results = audit_run(
                ready, job, Path(scratch), out=out, others=others, workers=shared, **how
            )
            seconds = {"training": trained - started, "audit": time.monotonic() - trained}
            write_run(ready, history, results, place.folder, log, seconds)
            finish(job)
    return place.folder


def _train(
    ready: Preparation,
    job: JobStore,
    folder: Path,
    *,
    reuse: bool,
    device: str,
    show_progress: bool,
) -> History:
    """Train the model, unless an interrupted run, or one with other audits, has done so."""
    history = kept_training(job, ready.identity(), ready.fresh)
    if history is not None:
        notice(f"continuing {folder.name}: the model was trained before")
    elif reuse:
        history = earlier_training(ready, folder, device=device)
        if history is not None:
            keep_training(job, ready.identity(), ready.fresh, history)
    if history is not None:
        ready.training.model.to(device).eval()
        return history
    recipe = ready.experiment.recipe
    if ready.training.select is not None:
        recipe = replace(recipe, select=ready.training.select)
    history = fit(
        ready.training.model,
        ready.splits,
        ready.vocabulary,
        recipe,
        ready.training.objective,
        keep=ready.training.keep,
        seed=ready.experiment.seed,
        device=device,
        show_progress=show_progress,
    )
    keep_training(job, ready.identity(), ready.fresh, history)
    return history


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


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def check_experiment(experiment: ExperimentConfig) -> None:
    """Reject wrong names and missing files now, not after minutes of training."""
    models.check(experiment.architecture)
    registry.find(VARIANTS, experiment.variant, "variant")
    find_audits(experiment.audits)
    find_measures(experiment.measures)
    if experiment.vectors is not None and not Path(experiment.vectors).is_file():
        raise InputError(f"There is no file of word vectors at {experiment.vectors}.")
