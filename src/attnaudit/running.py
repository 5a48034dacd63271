"""From a cell to a finished run: train, audit the test split, store; skipped when done."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from attnaudit import choices, datasets, models, statistics, store
from attnaudit.asked import find_audits, find_measures
from attnaudit.auditing import audit
from attnaudit.batching import batches_of
from attnaudit.cell import Cell
from attnaudit.datasets.reading.fingerprint import fingerprint
from attnaudit.datasets.splits import Splits
from attnaudit.errors import InputError
from attnaudit.loading import build_from, load
from attnaudit.performance import performance
from attnaudit.sampling import sampled
from attnaudit.train import fit, predictions
from attnaudit.variants import VARIANTS, Setting, make_training
from attnaudit.vectors import load_vectors
from attnaudit.vocabulary import Vocabulary

OTHER_SEEDS = (
    "other_seeds"  # the folder, beside the runs, of trainings that only serve to see whether one is stable
)


def run_cell(
    cell: Cell,
    out: Path,
    *,
    data_dir: Path | None = None,
    device: str = "cpu",
    force: bool = False,
    show_progress: bool = True,
) -> Path:
    """Train, audit the test split, write the run directory below out; a complete one is left as it is, unless its data changed."""
    folder = out / store.run_name(cell.choices())
    if not force and is_done(cell, out, data_dir=data_dir):
        return folder
    _check(cell)
    check_device(device)
    store.check_writable(out)
    started = time.monotonic()
    splits = datasets.load(cell.dataset, data_dir=data_dir)
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
    training = make_training(cell.variant, Setting(fresh, base, vocabulary, cell.seed))
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
    others = _other_trainings(cell, out, data_dir=data_dir, device=device, show_progress=show_progress)
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
        illustrated=cell.illustrated,
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
    with store.draft(folder) as working:
        state = {name: value.cpu().contiguous() for name, value in fresh.state_dict().items()}
        save_file(state, working / "model.safetensors")
        store.write_json(working / "vocabulary.json", list(vocabulary.words))
        store.write_results(results, working, run=run)
    return folder


def is_done(cell: Cell, out: Path, *, data_dir: Path | None = None) -> bool:
    """Is this very run complete, on the data as it is now? Data that is no longer there cannot have changed."""
    folder = out / store.run_name(cell.choices())
    if not store.is_complete(folder):
        return False
    if not datasets.reads_files(cell.dataset):
        return True
    try:
        now = fingerprint(datasets.load(cell.dataset, data_dir=data_dir))
    except InputError:
        return True
    return now == store.read_run(folder)["data"]["fingerprint"]


def _other_trainings(cell: Cell, out: Path, **how: Any) -> list[Any]:
    """The same model from the seeds that follow, each a run of its own with few audits, in a folder apart."""
    cells = [
        replace(
            cell, seed=cell.seed + step, other_seeds=0, audits=("uniform_attention",), measures=("random",)
        )
        for step in range(1, cell.other_seeds + 1)
    ]
    # Runs of this very plan: their parts were chosen here.
    return [load(run_cell(each, out / OTHER_SEEDS, **how), trust_code=True).model for each in cells]


def _check(cell: Cell) -> None:
    """Names and files that are wrong are told now, not after minutes of training."""
    models.check(cell.architecture)
    choices.find(VARIANTS, cell.variant, "variant")
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
        "accuracy_interval": None if interval.low.isnan() else [float(interval.low), float(interval.high)],
        "majority": float(torch.bincount(labels).max() / len(labels)),
    }
