"""From an experiment to a finished run: train, audit the test split, store; skipped if done."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import save as serialise

from attnaudit import data, models, statistics
from attnaudit.auditing.audit import audit
from attnaudit.auditing.report_file import write_report
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.core import registry
from attnaudit.core.devices import check_device
from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.notices import notice
from attnaudit.core.output_files import check_file, check_writable, sha256
from attnaudit.core.output_folders import mark_of, set_aside, write_folder
from attnaudit.data.batching import batches_of
from attnaudit.data.reading.fingerprint import fingerprint
from attnaudit.data.sampling import sampled
from attnaudit.data.splits import Splits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.data.word_vectors import load_vectors
from attnaudit.results import store
from attnaudit.results.checksums import write_json
from attnaudit.results.results import Results
from attnaudit.statistics.classification import performance
from attnaudit.training.checkpoint import build_from, load
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.trainer import fit, predictions
from attnaudit.training.variants import VARIANTS, VariantContext, make_training

# The folder, next to the runs, of the trainings that only show whether the attention is stable.
OTHER_SEEDS = "other_seeds"


class Place(NamedTuple):
    """The folder of a run, and whether a complete run is there already."""

    folder: Path
    done: bool
    splits: Splits | None = None  # the data, if it was read to find out


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
) -> Path:
    """Train, audit the test split, and write the run directory below `out`.

    A complete run is left as it is unless `force`.

    Parameters
    ----------
    place : what `find_place` returned, if it was called before.

    Returns
    -------
    The run directory.
    """
    folder, done, splits = place or find_place(experiment, out, data_dir=data_dir)
    if done and not force:
        return folder
    _check(experiment)
    check_device(device)
    check_writable(out)
    if folder.exists() and mark_of(folder) is None:
        set_aside(folder)
    check_file(folder / "report.html")
    started = time.monotonic()
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
    trained = time.monotonic()
    others = _other_trainings(
        experiment, out, data_dir=data_dir, device=device, show_progress=show_progress
    )
    results = audit(
        training.model,
        batches_of(
            sampled(splits.test, experiment.sample, experiment.seed),
            vocabulary,
            len(splits.classes),
        ),
        audits=experiment.audits,
        measures=experiment.measures,
        seed=experiment.seed,
        device=device,
        class_names=splits.classes,
        words=vocabulary.words,
        other_models=others,
        keep_examples=experiment.keep_examples,
        show_progress=show_progress,
    )
    audited = time.monotonic()
    stored = {
        "choices": experiment.choices(),
        "model": details,
        "data": {
            "name": splits.name,
            "tokeniser": splits.tokeniser,
            "sizes": {name: len(getattr(splits, name)) for name in ("train", "dev", "test")},
            "vocabulary": len(vocabulary),
            "vector_coverage": coverage,
            "vectors": None if experiment.vectors is None else sha256(Path(experiment.vectors)),
            "fingerprint": fingerprint(splits),
            "notes": splits.notes,
        },
        "training": {
            "kept_epoch": history.best_epoch,
            "dev": list(history.dev_scores),
            "losses": list(history.losses),
        },
        "performance": _scores_on_test(training.model, splits, vocabulary, experiment.seed),
        "threads": torch.get_num_threads(),  # the last bits of float sums depend on it
        "seconds": {"training": trained - started, "audit": audited - trained},
    }

    def write(draft: Path) -> None:
        state = {name: value.cpu().contiguous() for name, value in fresh.state_dict().items()}
        write_json(draft / "vocabulary.json", list(vocabulary.words))
        # Not safetensors' save_file, whose error on a full disk is not an OSError.
        (draft / "model.safetensors").write_bytes(serialise(state))
        store.write_results(results, draft, run=stored)

    try:
        return write_folder(folder, write, replace=True, keep=_still_fits)
    except OutputError as error:
        error.results = results
        raise


def find_place(experiment: ExperimentConfig, out: Path, *, data_dir: Path | None = None) -> Place:
    """The folder of this experiment on the data as it is now, and whether its run is complete.

    If the data has changed since, the folder is a new one next to the old run's. Data that is no
    longer there counts as unchanged.
    """
    folder = out / store.run_name(experiment.choices())
    reads_files = data.reads_files(experiment.dataset)
    if not store.is_complete(folder) or (experiment.vectors is None and not reads_files):
        return Place(folder, store.is_complete(folder))
    before = store.read_run(folder)["data"]
    try:
        splits = data.load(experiment.dataset, data_dir=data_dir) if reads_files else None
    except InputError:
        return Place(folder, True)
    now = (
        before["fingerprint"] if splits is None else fingerprint(splits),
        _digest(experiment.vectors),
    )
    if now[0] == before["fingerprint"] and before.get("vectors") in (None, now[1]):
        return Place(folder, True, splits)
    digest = hashlib.blake2b("".join(map(str, now)).encode(), digest_size=4).hexdigest()
    other = folder.with_name(f"{folder.name}-{digest}")
    if not store.is_complete(other):
        notice(
            f"the data has changed since {folder} was run; that run is kept, and this one goes to "
            f"{other.name}"
        )
    return Place(other, store.is_complete(other), splits)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _digest(path: str | None) -> str | None:
    return None if path is None or not Path(path).is_file() else sha256(Path(path))


def _still_fits(findings: Path, draft: Path) -> bool:
    """Whether a corpus audit of a replaced run is valid for the new one: same weights and data."""
    try:
        old = store.read_run(findings.parent)
    except InputError:
        return False
    weights = old.get("files", {}).get("model.safetensors", {}).get("sha256")
    new = store.read_run(draft, draft=True)
    return (
        weights == sha256(draft / "model.safetensors")
        and old["data"]["fingerprint"] == new["data"]["fingerprint"]
    )


def _other_trainings(experiment: ExperimentConfig, out: Path, **how: Any) -> list[Any]:
    """Models trained from the seeds that follow, each a run with few audits in its own folder."""
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
    # Trusted: these runs are made here, with parts chosen here.
    return [
        load(run_experiment(other, out / OTHER_SEEDS, **how), trust_code=True).model
        for other in experiments
    ]


def _check(experiment: ExperimentConfig) -> None:
    """Reject wrong names and missing files now, not after minutes of training."""
    models.check(experiment.architecture)
    registry.find(VARIANTS, experiment.variant, "variant")
    find_audits(experiment.audits)
    find_measures(experiment.measures)
    if experiment.vectors is not None and not Path(experiment.vectors).is_file():
        raise InputError(f"There is no file of word vectors at {experiment.vectors}.")


def _scores_on_test(
    model: Any, splits: Splits, vocabulary: Vocabulary, seed: int
) -> dict[str, Any]:
    """Scores on the test split, and an interval of the accuracy (None with fewer than 10)."""
    labels, probs = predictions(model, splits.test, vocabulary, len(splits.classes))
    correct = (probs.argmax(-1) == labels).double()
    interval = statistics.bootstrap(correct, limits=(0.0, 1.0), seed=seed)
    return {
        **performance(labels, probs),
        "accuracy_interval": None
        if interval.low.isnan()
        else [float(interval.low), float(interval.high)],
        "majority": float(torch.bincount(labels).max() / len(labels)),
    }
