"""One cell of the grid: a dataset, a model's choices and a seed; trained, audited, stored, and skipped when done."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save_file

from attnaudit import choices, datasets, models, statistics, store
from attnaudit.auditing import audit, find_audits, find_measures
from attnaudit.batching import collate, in_batches
from attnaudit.datasets.reading.fingerprint import fingerprint
from attnaudit.datasets.splits import Example, Splits
from attnaudit.errors import InputError
from attnaudit.models import Architecture, build
from attnaudit.performance import performance
from attnaudit.presets import preset_dataset, preset_options
from attnaudit.results import Results
from attnaudit.sampling import sampled
from attnaudit.train import Recipe, fit, predictions
from attnaudit.variants import VARIANTS, Setting, make_training
from attnaudit.vectors import load_vectors
from attnaudit.vocabulary import Vocabulary

_AUDIT_BATCH = 128


@dataclass(frozen=True)
class Cell:
    """Everything that decides the numbers. Two cells with equal choices give equal values."""

    dataset: str = "babi:task=1"
    architecture: Architecture = field(default_factory=Architecture)
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0
    sample: int | None = None  # test examples audited, stratified by label; None: all
    illustrated: int | None = None  # audited examples kept whole, for the page; None: all, within bounds
    other_seeds: int = 0  # further trainings that show whether the attention is stable
    variant: str = "ordinary"  # how its training departs from the ordinary; see variants.py
    base: str | None = None  # name of the run, in the same folder, that the variant starts from
    vectors: str | None = None
    audits: tuple[str, ...] | None = None
    measures: tuple[str, ...] | None = None

    def choices(self) -> dict[str, Any]:
        flat = {**asdict(self), **self.architecture.as_dict(), "recipe": self.recipe.as_dict()}
        del flat["architecture"]
        return flat


# What suits a dataset where nothing else is asked for. bAbI: Jain & Wallace's sizes; simulators stop once they are solved.
_SUITED: dict[str, dict[str, Any]] = {
    "babi": {
        "encoder": "bilstm:hidden=30",
        "embedding": 50,
        "batch_size": 50,
        "epochs": 40,
        "good_enough": 0.995,
    },
    "keyword": {"encoder": "bilstm:hidden=32", "embedding": 50, "epochs": 6},
    "movie_reviews": {"encoder": "bilstm:hidden=64", "embedding": 100, "epochs": 6, "patience": 2},
}


def make_cell(dataset: str, *, preset: str | None = None, **given: Any) -> Cell:
    """A cell from flat choices by name; those that are None are the preset's, or what suits the dataset, or else the defaults."""
    known = {key: value for key, value in given.items() if value is not None}
    if preset is None:
        name = choices.parse(dataset)[0]
        suited = _SUITED.get("babi" if name == "babi_files" else name, {})
    else:
        suited, dataset = preset_options(preset, dataset), preset_dataset(preset, dataset)
    wanted = {**suited, **known}

    def take(kind: type) -> dict[str, Any]:
        return {field.name: wanted.pop(field.name) for field in fields(kind) if field.name in wanted}

    architecture, recipe = Architecture(**take(Architecture)), Recipe(**take(Recipe))
    return Cell(dataset, architecture, recipe, **wanted)


class Run(NamedTuple):
    """A finished run: the model and what was found of it."""

    model: Any
    results: Results
    vocabulary: Vocabulary
    folder: Path


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
    fresh = _build(made, vocabulary, seed=cell.seed, vectors=vectors)
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
    """The same model from the seeds that follow, each a run of its own with few audits."""
    cells = [
        replace(
            cell, seed=cell.seed + step, other_seeds=0, audits=("uniform_attention",), measures=("random",)
        )
        for step in range(1, cell.other_seeds + 1)
    ]
    # Runs of this very plan: their parts were chosen here.
    return [load(run_cell(each, out, **how), trust_code=True).model for each in cells]


def _check(cell: Cell) -> None:
    """Names and files that are wrong are told now, not after minutes of training."""
    models.check(cell.architecture)
    choices.find(VARIANTS, cell.variant, "variant")
    find_audits(cell.audits)
    find_measures(cell.measures)
    if cell.vectors is not None and not Path(cell.vectors).is_file():
        raise InputError(f"There is no file of word vectors at {cell.vectors}.")


def check_device(device: str) -> None:
    if torch.device(device).type == "cuda" and not torch.cuda.is_available():
        raise InputError(
            "There is no CUDA device here, or this torch was built without it. Use --device cpu."
        )


def load(folder: str | Path, *, trust_code: bool = False) -> Run:
    """The model and the results of a finished run.

    A run may name parts outside the package (package.module:name), and importing one runs its code: only with trust_code=True.
    """
    folder = Path(folder)
    details = store.read_run(folder)
    if "model" not in details:
        raise InputError(f"{folder} holds results without a model; attnaudit.store.load_results reads those.")
    vocabulary = Vocabulary(tuple(json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))))
    chosen = details["choices"]
    named = [*details["model"].values(), chosen["dataset"], chosen["variant"]]
    foreign = [
        str(part) for part in named if ":" in choices.parse(str(part))[0] and not Path(str(part)).is_file()
    ]
    if chosen["base"] is not None and Path(str(chosen["base"])).name != chosen["base"]:
        raise InputError(f"{folder}: the base {chosen['base']!r} is no name of a run in the same folder.")
    if foreign and not trust_code:
        raise InputError(
            f"{folder} is made with code from outside: {', '.join(foreign)}. Loading would run it; "
            "if you trust the run, attnaudit.load(folder, trust_code=True)."
        )
    fresh = _build(details["model"], vocabulary)
    fresh.load_state_dict(load_file(folder / "model.safetensors"))
    model = fresh
    if choices.parse(chosen["variant"])[0] == "imposed":  # its attention is not among its parameters
        base = (
            None
            if chosen["base"] is None
            else load(folder.parent / chosen["base"], trust_code=trust_code).model
        )
        model = make_training(chosen["variant"], Setting(fresh, base, vocabulary, chosen["seed"])).model
    return Run(model.eval(), store.load_results(folder), vocabulary, folder)


def audited_batches(
    folder: Path, *, data_dir: Path | None = None, trust_code: bool = False
) -> tuple[Any, list[Any]]:
    """The model of a finished run and the batches it was audited on. Data that has changed since is refused."""
    run = load(folder, trust_code=trust_code)
    details = store.read_run(folder)
    splits = datasets.load(details["choices"]["dataset"], data_dir=data_dir)
    if fingerprint(splits) != details["data"]["fingerprint"]:
        raise InputError(
            f"The data of {folder} has changed since it was run. Run it again, or give the old data with --data-dir."
        )
    chosen = sampled(splits.test, details["choices"].get("sample"), details["choices"]["seed"])
    return run.model, batches_of(chosen, run.vocabulary, len(splits.classes))


def _build(
    made: dict[str, Any], vocabulary: Vocabulary, *, seed: int = 0, vectors: torch.Tensor | None = None
) -> Any:
    """A fresh model from what run.json says of it."""
    names = [field.name for field in fields(Architecture)]
    return build(
        Architecture(**{name: made[name] for name in names}),
        words=len(vocabulary),
        classes=made["classes"],
        with_query=made["with_query"],
        seed=seed,
        vectors=vectors,
    )


def batches_of(examples: Sequence[Example], vocabulary: Vocabulary, classes: int) -> list[Any]:
    return [collate(group, vocabulary, classes) for group in in_batches(examples, _AUDIT_BATCH)]


def measured(model: Any, splits: Splits, vocabulary: Vocabulary, seed: int) -> dict[str, Any]:
    """Scores on test, with an interval of the accuracy over examples."""
    labels, probs = predictions(model, splits.test, vocabulary, len(splits.classes))
    right = (probs.argmax(-1) == labels).double()
    interval = statistics.bootstrap(right, seed=seed)
    return {
        **performance(labels, probs),
        "accuracy_interval": [float(interval.low), float(interval.high)],
        "majority": float(torch.bincount(labels).max() / len(labels)),
    }
