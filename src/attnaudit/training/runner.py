"""From a cell to a finished run: train, audit the test split, store; skipped if done."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import save_file

from attnaudit import data, models, statistics
from attnaudit.auditing.audit import audit
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.core import registry
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
from attnaudit.statistics.classification import performance
from attnaudit.training.checkpoint import build_from, load
from attnaudit.training.experiment import ExperimentConfig
from attnaudit.training.trainer import fit, predictions
from attnaudit.training.variants import VARIANTS, VariantContext, make_training

OTHER_SEEDS = "other_seeds"  # the folder, beside the runs, of trainings that only serve to see whether one is stable


class Place(NamedTuple):
    """Where a run lies, and whether it is there already."""

    folder: Path
    done: bool
    splits: Splits | None = None  # the data, if it had to be read to find out


def run_experiment(
    cell: ExperimentConfig,
    out: Path,
    *,
    data_dir: Path | None = None,
    device: str = "cpu",
    force: bool = False,
    show_progress: bool = True,
    place: Place | None = None,
) -> Path:
    """Train, audit the test split, write the run directory below out; a complete one is left as it is unless `force`.

    place: what `find_place` said, if it was asked before.
    """
    folder, done, splits = place or find_place(cell, out, data_dir=data_dir)
    if done and not force:
        return folder
    _check(cell)
    check_device(device)
    check_writable(out)
    if folder.exists() and mark_of(folder) is None:
        set_aside(folder)
    check_file(folder / "report.html")
    started = time.monotonic()
    splits = splits or data.load(cell.dataset, data_dir=data_dir)
    if not splits.test:
        raise InputError(f"{splits.name}: the test split is empty, so there is nothing to audit.")
    vocabulary = Vocabulary.build(splits.train, min_count=splits.min_count)
    vectors, coverage = None, None
    architecture = cell.architecture
    if cell.vectors is not None:
        vectors, coverage = load_vectors(Path(cell.vectors), vocabulary, seed=cell.seed)
        architecture = replace(architecture, embedding=vectors.shape[1])  # the file decides
    made = {
        **architecture.as_dict(),
        "with_query": splits.train[0].query is not None,
        "classes": len(splits.classes),
    }
    fresh = build_from(made, vocabulary, seed=cell.seed, vectors=vectors)
    # The base is a run of this very plan: its parts were chosen here.
    base = None if cell.base is None else load(out / cell.base, trust_code=True).model
    training = make_training(cell.variant, VariantContext(fresh, base, vocabulary, cell.seed))
    history = fit(
        training.model,
        splits,
        vocabulary,
        cell.recipe,
        training.objective,
        keep=training.keep,
        seed=cell.seed,
        device=device,
        show_progress=show_progress,
    )
    trained = time.monotonic()
    others = _other_trainings(
        cell, out, data_dir=data_dir, device=device, show_progress=show_progress
    )
    results = audit(
        training.model,
        batches_of(sampled(splits.test, cell.sample, cell.seed), vocabulary, len(splits.classes)),
        audits=cell.audits,
        measures=cell.measures,
        seed=cell.seed,
        device=device,
        class_names=splits.classes,
        words=vocabulary.words,
        other_models=others,
        keep_examples=cell.illustrated,
        show_progress=show_progress,
    )
    audited = time.monotonic()
    run = {
        "choices": cell.choices(),
        "model": made,
        "data": {
            "name": splits.name,
            "tokeniser": splits.tokeniser,
            "sizes": {name: len(getattr(splits, name)) for name in ("train", "dev", "test")},
            "vocabulary": len(vocabulary),
            "vector_coverage": coverage,
            "vectors": None if cell.vectors is None else sha256(Path(cell.vectors)),
            "fingerprint": fingerprint(splits),
            "notes": splits.notes,
        },
        "training": {
            "kept_epoch": history.best_epoch,
            "dev": list(history.dev_scores),
            "losses": list(history.losses),
        },
        "performance": measured(training.model, splits, vocabulary, cell.seed),
        "threads": torch.get_num_threads(),  # sums of floats hang on it, in their last bits
        "seconds": {"training": trained - started, "audit": audited - trained},
    }

    def write(draft: Path) -> None:
        state = {name: value.cpu().contiguous() for name, value in fresh.state_dict().items()}
        write_json(draft / "vocabulary.json", list(vocabulary.words))
        save_file(state, draft / "model.safetensors")
        (draft / "model.safetensors").chmod(
            (draft / "vocabulary.json").stat().st_mode
        )  # its own is for nobody else
        store.write_results(results, draft, run=run)

    try:
        return write_folder(folder, write, replace=True, keep=_still_fits)
    except OutputError as error:
        error.results = results
        raise


def find_place(cell: ExperimentConfig, out: Path, *, data_dir: Path | None = None) -> Place:
    """The folder of this very run, on the data as it is now. Data that has changed gets a folder next to the old run's.

    Data that is no longer there cannot have changed.
    """
    folder = out / store.run_name(cell.choices())
    reads_files = data.reads_files(cell.dataset)
    if not store.is_complete(folder) or (cell.vectors is None and not reads_files):
        return Place(folder, store.is_complete(folder))
    before = store.read_run(folder)["data"]
    try:
        splits = data.load(cell.dataset, data_dir=data_dir) if reads_files else None
    except InputError:
        return Place(folder, True)
    now = (before["fingerprint"] if splits is None else fingerprint(splits), _digest(cell.vectors))
    if now[0] == before["fingerprint"] and before.get("vectors") in (None, now[1]):
        return Place(folder, True, splits)
    mark = hashlib.blake2b("".join(map(str, now)).encode(), digest_size=4).hexdigest()
    other = folder.with_name(f"{folder.name}-{mark}")
    if not store.is_complete(other):
        notice(
            f"the data has changed since {folder} was run; that run is kept, and this one goes to {other.name}"
        )
    return Place(other, store.is_complete(other), splits)


def _digest(path: str | None) -> str | None:
    return None if path is None or not Path(path).is_file() else sha256(Path(path))


def _still_fits(findings: Path, draft: Path) -> bool:
    """A corpus audit of the run that is replaced belongs to the new one if the model and the data are the same, byte for byte."""
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


def _other_trainings(cell: ExperimentConfig, out: Path, **how: Any) -> list[Any]:
    """The same model from the seeds that follow, each a run of its own with few audits, in a folder apart."""
    cells = [
        replace(
            cell,
            seed=cell.seed + step,
            other_seeds=0,
            audits=("uniform_attention",),
            measures=("random",),
        )
        for step in range(1, cell.other_seeds + 1)
    ]
    # Runs of this very plan: their parts were chosen here.
    return [
        load(run_experiment(each, out / OTHER_SEEDS, **how), trust_code=True).model
        for each in cells
    ]


def _check(cell: ExperimentConfig) -> None:
    """Names and files that are wrong are told now, not after minutes of training."""
    models.check(cell.architecture)
    registry.find(VARIANTS, cell.variant, "variant")
    find_audits(cell.audits)
    find_measures(cell.measures)
    if cell.vectors is not None and not Path(cell.vectors).is_file():
        raise InputError(f"There is no file of word vectors at {cell.vectors}.")


def check_device(device: str) -> None:
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise InputError(f"There is no device {device!r}. Use cpu, cuda or cuda:1.") from error
    if kind == "cuda" and not torch.cuda.is_available():
        raise InputError(
            "There is no CUDA device here, or this torch was built without it. Use --device cpu."
        )


def measured(model: Any, splits: Splits, vocabulary: Vocabulary, seed: int) -> dict[str, Any]:
    """Scores on test, with an interval of the accuracy over examples; None where one example has none."""
    labels, probs = predictions(model, splits.test, vocabulary, len(splits.classes))
    right = (probs.argmax(-1) == labels).double()
    interval = statistics.bootstrap(right, seed=seed)
    return {
        **performance(labels, probs),
        "accuracy_interval": None
        if interval.low.isnan()
        else [float(interval.low), float(interval.high)],
        "majority": float(torch.bincount(labels).max() / len(labels)),
    }
