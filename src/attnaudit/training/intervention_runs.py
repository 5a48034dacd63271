"""Run an intervention: train the models it compares and store what it found."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from attnaudit.core import registry
from attnaudit.core.tasks import Workers, as_workers
from attnaudit.core.thread_limits import threads_of_small_models, torch_threads
from attnaudit.results.run_names import run_name
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.interventions import INTERVENTIONS, Findings, InterventionContext
from attnaudit.training.run_lock import working_on


class InterventionOutput(NamedTuple):
    """What an intervention found, and the folder where it is stored."""

    findings: Findings
    folder: Path


def intervene(
    intervention: str,
    dataset: str = "babi:task=1",
    *,
    out: str | Path = "runs",
    preset: str | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    show_progress: bool = True,
    workers: Workers | int = 1,
    **choices: Any,
) -> InterventionOutput:
    """Train the models that an intervention needs, compare them, and store the findings.

    Does what `attnaudit run --intervention` does. Finished runs are used again.

    Parameters
    ----------
    intervention : name with options: "seeds:count=3", "adversarial:lams=0.001+0.01".
    dataset, preset, **choices : of the base model, as for `make_experiment`.
    out : folder that holds the run directories and the findings.
    data_dir : folder of the corpora; if omitted, the environment variable ATTNAUDIT_DATA, else the
        user's cache folder.
    workers : how many processes train models at the same time, or `Workers` for more choices, such
        as a cluster. A model that starts from another waits for it.

    Raises
    ------
    WorkError
        If a worker could not train its model. The others are complete, and used again.

    Examples
    --------
    >>> print(intervene("uniform", "keyword", epochs=1).findings.answer)  # doctest: +SKIP
    """
    experiment = make_experiment(dataset, preset=preset, **choices)
    function = registry.find(INTERVENTIONS, intervention, "intervention")
    folder = None if data_dir is None else Path(data_dir)
    shared = as_workers(workers)
    context = InterventionContext(experiment, Path(out), folder, device, show_progress, shared)
    place = context.out / findings_folder_name(experiment, intervention)
    with working_on(place), torch_threads(threads_of_small_models(shared.threads)):
        findings = function(context)
        name = findings_folder_name(experiment, intervention, findings.name)
        return InterventionOutput(findings, findings.save(context.out / name))


def findings_folder_name(
    experiment: ExperimentConfig, intervention: str, name: str | None = None
) -> str:
    """The name of the folder in which the findings of an intervention are stored.

    Parameters
    ----------
    experiment : the base.
    intervention : name with options.
    name : what the findings call themselves; the name of the intervention if omitted.

    Examples
    --------
    >>> findings_folder_name(make_experiment("keyword", seed=1), "seeds:count=2")[:20]
    'seeds-keyword-bilstm'
    """
    return run_name(
        {
            **experiment.choices(),
            "dataset": f"{name or registry.parse(intervention)[0]}-{experiment.dataset}",
            "intervention": intervention,
        }
    )
