"""Several experiments: run one after another, or at the same time by workers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from attnaudit.core import progress
from attnaudit.core.devices import check_device
from attnaudit.core.errors import WorkError
from attnaudit.core.output_files import check_writable
from attnaudit.core.tasks import Outcome, Task, Workers, run_tasks
from attnaudit.models import Architecture
from attnaudit.training.experiment import ExperimentConfig
from attnaudit.training.recipe import Recipe
from attnaudit.training.run_place import Place, find_place, read_data
from attnaudit.training.runner import check_experiment, run_experiment


def run_experiments(
    experiments: Sequence[ExperimentConfig],
    out: Path,
    *,
    data_dir: Path | None = None,
    device: str = "cpu",
    show_progress: bool = True,
    workers: Workers = Workers(),  # noqa: B008  # frozen
) -> list[Path]:
    """Train and audit experiments that do not depend on each other; complete runs are left.

    Parameters
    ----------
    experiments : those that are equal are run once.
    out, data_dir, device, show_progress : as for `run_experiment`.
    workers : each task is one experiment.

    Returns
    -------
    The run directories, one per experiment.

    Raises
    ------
    WorkError
        If an experiment failed in its worker, after the others have ended.
    """
    how: dict[str, Any] = {"data_dir": data_dir, "device": device}
    if workers.in_this_process:
        return [
            run_experiment(experiment, out, show_progress=show_progress, **how)
            for experiment in experiments
        ]
    check_device(device)
    check_writable(out)
    read = cache(read_data)
    places = [
        find_place(experiment, out, data_dir=data_dir, read=read) for experiment in experiments
    ]
    waiting = {
        place.folder: experiment
        for experiment, place in zip(experiments, places, strict=True)
        if not place.done
    }
    for experiment in waiting.values():
        check_experiment(experiment)
    near = data_dir or os.environ.get("ATTNAUDIT_DATA")  # a cluster has not our environment
    where = (None if near is None else str(Path(near).resolve()), device)
    tasks = [
        Task(folder.name, _run_member, (asdict(experiment), str(folder.resolve()), *where))
        for folder, experiment in waiting.items()
    ]
    _run(tasks, workers, show_progress)
    return [place.folder for place in places]


def _run(tasks: Sequence[Task], workers: Workers, show: bool) -> None:
    """Run all tasks to their end; an error names the first that failed."""
    failed: list[Outcome] = []
    if not tasks:
        return
    with progress.bar("Training and auditing models", len(tasks), show=show) as advance:
        for outcome in run_tasks(tasks, workers):
            if outcome.error is not None:
                failed.append(outcome)
            advance(f"{len(failed)} failed" if failed else "", 1)
    if failed:
        raise WorkError(
            f"{len(failed)} of {len(tasks)} models could not be trained and audited; the others "
            f"are kept. The first, {failed[0].key}: {failed[0].error}. The same command goes on "
            "from there."
        )


def _run_member(fields: Mapping[str, Any], folder: str, data_dir: str | None, device: str) -> None:
    """What a worker does for one experiment.

    Parameters
    ----------
    fields : of the experiment, as `asdict` gives them.
    folder : of the run.
    data_dir, device : as for `run_experiment`.
    """
    experiment = ExperimentConfig(
        **{
            **fields,
            "architecture": Architecture(**fields["architecture"]),
            "recipe": Recipe(**fields["recipe"]),
        }
    )
    run_experiment(
        experiment,
        Path(folder).parent,
        data_dir=None if data_dir is None else Path(data_dir),
        device=device,
        show_progress=False,
        place=Place(Path(folder), done=False),
    )
