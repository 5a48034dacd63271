"""One cell of the grid: a dataset, a model's choices, a recipe and a seed. What is made of it is in running.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from attnaudit.core import registry
from attnaudit.core.option_limits import COUNT, Number, check
from attnaudit.core.paths import file_name
from attnaudit.data import choice_without_folders
from attnaudit.models import Architecture
from attnaudit.models.architecture import PARTS
from attnaudit.training.presets import preset_dataset, preset_options
from attnaudit.training.trainer import Recipe


@dataclass(frozen=True)
class ExperimentConfig:
    """Everything that decides the numbers. Two cells with equal choices give equal values."""

    dataset: str = "babi:task=1"
    architecture: Architecture = field(default_factory=Architecture)
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0
    sample: int | None = None  # test examples audited, stratified by label; None: all
    illustrated: int | None = (
        None  # audited examples kept whole, for the page; None: all, within bounds
    )
    other_seeds: int = 0  # further trainings that show whether the attention is stable
    variant: str = "ordinary"  # how its training departs from the ordinary; see variants.py
    base: str | None = None  # name of the run, in the same folder, that the variant starts from
    vectors: str | None = None
    audits: tuple[str, ...] | None = None
    measures: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        none_or_more = Number(least=0, whole=True)
        check(
            {
                "sample": COUNT,
                "illustrated": none_or_more,
                "other_seeds": none_or_more,
            },
            vars(self),
        )

    def choices(self) -> dict[str, Any]:
        """As stored and as the run's name is made of: of a path that begins at the root, its last part."""
        flat = {**asdict(self), **self.architecture.as_dict(), "recipe": self.recipe.as_dict()}
        del flat["architecture"]
        return {
            **flat,
            "dataset": choice_without_folders(self.dataset),
            "vectors": file_name(self.vectors),
        }


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


def make_experiment(dataset: str, *, preset: str | None = None, **given: Any) -> ExperimentConfig:
    """A cell from flat choices by name; those that are None are the preset's, or what suits the dataset, or else the defaults.

    A part that is named as the preset's or the suited one has its options too, except those that are given: --encoder bilstm on bAbI is
    bilstm:hidden=30.
    """
    known = {key: value for key, value in given.items() if value is not None}
    if preset is None:
        name = registry.parse(dataset)[0]
        suited = _SUITED.get("babi" if name == "babi_files" else name, {})
    else:
        suited, dataset = preset_options(preset, dataset), preset_dataset(preset, dataset)
    wanted = {**suited, **known}
    for part in ("model", *PARTS):
        if part in suited and part in known:
            wanted[part] = registry.with_options_of(known[part], suited[part])

    def take(kind: type) -> dict[str, Any]:
        return {
            field.name: wanted.pop(field.name) for field in fields(kind) if field.name in wanted
        }

    architecture, recipe = Architecture(**take(Architecture)), Recipe(**take(Recipe))
    return ExperimentConfig(dataset, architecture, recipe, **wanted)
