"""One experiment: a dataset, an architecture, a training recipe and a seed."""

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
from attnaudit.training.recipe import Recipe

# Names that run.json and the names of run directories keep from earlier versions.
_STORED_NAMES = {"keep_examples": "illustrated"}


@dataclass(frozen=True)
class ExperimentConfig:
    """Everything that determines the numbers: equal configurations give equal values.

    Parameters
    ----------
    dataset : name with options, or a file: "babi:task=2", "reviews.csv:label=stars".
    architecture, recipe : the model and how it is trained.
    seed : of the initial weights, the batches and every random draw.
    sample : number of test examples to audit, stratified by label; None for all.
    keep_examples : number of audited examples stored with their words for the report; None for
        all, up to 200,000 words.
    other_seeds : number of further trainings that show whether the attention is stable.
    variant : how the training departs from the ordinary one; see variants.py.
    base : name of the run, in the same folder, that the variant starts from.
    vectors : file of pretrained word vectors.
    audits, measures : names; None for the defaults.

    Examples
    --------
    >>> ExperimentConfig("keyword", seed=3).architecture.projection
    'softmax'
    """

    dataset: str = "babi:task=1"
    architecture: Architecture = field(default_factory=Architecture)
    recipe: Recipe = field(default_factory=Recipe)
    seed: int = 0
    sample: int | None = None
    keep_examples: int | None = None
    other_seeds: int = 0
    variant: str = "ordinary"
    base: str | None = None
    vectors: str | None = None
    audits: tuple[str, ...] | None = None
    measures: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        zero_or_more = Number(least=0, whole=True)
        limits = {"sample": COUNT, "keep_examples": zero_or_more, "other_seeds": zero_or_more}
        check(limits, vars(self))

    def choices(self) -> dict[str, Any]:
        """The flat dictionary that is stored and named by; absolute paths by their last part."""
        flat = {**asdict(self), **self.architecture.as_dict(), "recipe": self.recipe.as_dict()}
        del flat["architecture"]
        stored = {_STORED_NAMES.get(key, key): value for key, value in flat.items()}
        return {
            **stored,
            "dataset": choice_without_folders(self.dataset),
            "vectors": file_name(self.vectors),
        }


# Defaults per dataset. bAbI: the sizes of Jain & Wallace; simulated data stops once it is solved.
_DATASET_DEFAULTS: dict[str, dict[str, Any]] = {
    "babi": {
        "encoder": "bilstm:hidden=30",
        "embedding": 50,
        "batch_size": 50,
        "epochs": 40,
        "target_score": 0.995,
    },
    "keyword": {"encoder": "bilstm:hidden=32", "embedding": 50, "epochs": 6},
    "movie_reviews": {"encoder": "bilstm:hidden=64", "embedding": 100, "epochs": 6, "patience": 2},
}


def make_experiment(dataset: str, *, preset: str | None = None, **choices: Any) -> ExperimentConfig:
    """Build an experiment from flat choices by name, as the command line gives them.

    Parameters
    ----------
    dataset : name with options, or a file.
    preset : a paper's settings, such as "meister:encoder=transformer".
    **choices : fields of `ExperimentConfig`, `Architecture` and `Recipe`. Those that are omitted
        or None come from the preset, else from the defaults of the dataset, else from the
        classes. A part named without options keeps the options of the preset or the dataset:
        "bilstm" on bAbI is "bilstm:hidden=30".

    Examples
    --------
    >>> make_experiment("babi:task=2", encoder="bilstm", epochs=3).architecture.encoder
    'bilstm:hidden=30'
    """
    given = {key: value for key, value in choices.items() if value is not None}
    if preset is None:
        name = registry.parse(dataset)[0]
        defaults = _DATASET_DEFAULTS.get("babi" if name == "babi_files" else name, {})
    else:
        defaults, dataset = preset_options(preset, dataset), preset_dataset(preset, dataset)
    options = {**defaults, **given}
    for part in ("model", *PARTS):
        if part in defaults and part in given:
            options[part] = registry.with_options_of(given[part], defaults[part])

    def take(kind: type) -> dict[str, Any]:
        return {
            field.name: options.pop(field.name) for field in fields(kind) if field.name in options
        }

    architecture, recipe = Architecture(**take(Architecture)), Recipe(**take(Recipe))
    return ExperimentConfig(dataset, architecture, recipe, **options)
