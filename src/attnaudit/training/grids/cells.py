"""From a spec to cells: every combination, with what is included and without what is excluded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from attnaudit import models
from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.core.paths import without_folders
from attnaudit.models import Architecture
from attnaudit.results.run_names import run_name
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.grids.ledger import ListedCell
from attnaudit.training.grids.spec import Spec, Values
from attnaudit.training.intervention_runs import findings_folder_name

Choices = dict[str, Any]  # what `run` or `intervene` is called with


@dataclass(frozen=True)
class Cell:
    """One run, or one intervention on a run.

    Attributes
    ----------
    name : of its folder.
    choices : dataset, preset and the others, as `run` takes them.
    experiment : what these choices make.
    intervention : name with options; None for a run.
    base : name of the cell that an intervention starts from; None for a run.
    label : the choices in which it differs from other cells, for display.
    """

    name: str
    choices: Choices
    experiment: ExperimentConfig
    intervention: str | None = None
    base: str | None = None
    label: str = ""

    def listed(self) -> ListedCell:
        """The cell as the ledger lists it."""
        choices = self.experiment.choices()
        return ListedCell(self.name, self.label, choices, self.intervention, self.base)


def expand(spec: Spec) -> tuple[Cell, ...]:
    """The cells of a grid, runs and interventions, each once and a base before what needs it.

    Parameters
    ----------
    spec : every combination of its values is a run, unless an [[exclude]] matches all its keys.
        An [[include]] is the same grid again with its own keys replaced; nothing is excluded
        from it. Each intervention adds a cell to each run.

    Raises
    ------
    InputError
        For choices that do not fit together, an [[exclude]] that matches nothing, no cells.

    Examples
    --------
    >>> from attnaudit.training.grids.spec import read_spec
    >>> spec = read_spec({"dataset": "keyword", "encoders": ["average", "cnn"], "seeds": [0, 1],
    ...                   "exclude": [{"encoder": "cnn", "seed": 1}]})
    >>> [cell.label for cell in expand(spec)]
    ['encoder average, seed 0', 'encoder average, seed 1', 'encoder cnn, seed 0']
    """
    combined = list(_combinations(spec.values))
    for number, rule in enumerate(spec.excludes):
        kept = [choices for choices in combined if not _matches(choices, rule)]
        if len(kept) == len(combined):
            raise InputError(
                f"{spec.places.of(None, 'exclude', number)}: it matches no cell, so it excludes "
                "nothing. Correct it or remove it."
            )
        combined = kept
    for table in spec.includes:
        combined += _combinations({**spec.values, **table})
    if not combined:
        raise InputError(f"{spec.places.of()}: the grid is empty: every cell is excluded.")
    return _labelled(_distinct(combined, spec))


def _combinations(values: Values) -> Iterator[Choices]:
    """Every combination; interventions are cells next to the run they start from."""
    values = {"dataset": ("babi:task=1",), **values}
    interventions = (None, *values.pop("intervention", ()))
    for combination in product(*values.values()):
        choices = dict(zip(values, combination, strict=True))
        for intervention in interventions:
            yield {**choices, **({} if intervention is None else {"intervention": intervention})}


def _matches(choices: Choices, rule: Values) -> bool:
    """Whether every key of the rule has one of the rule's values.

    A name without options matches it with any: "cnn" matches "cnn:filters=16".
    """
    return all(
        any(_is_same(choices.get(key), value) for value in values) for key, values in rule.items()
    )


def _is_same(value: Any, wanted: Any) -> bool:
    if value == wanted:
        return True
    return isinstance(value, str) and ":" not in wanted and registry.parse(value)[0] == wanted


def _distinct(combined: list[Choices], spec: Spec) -> list[Cell]:
    cells: dict[str, Cell] = {}
    architectures: set[Architecture] = set()
    for choices in combined:
        for cell in _with_base(choices, spec, architectures):
            other = cells.setdefault(cell.name, cell)
            if other.experiment != cell.experiment:
                raise InputError(
                    f"{spec.places.of()}: two cells would have the same folder {cell.name}, "
                    f"because a file counts by its name: {other.choices['dataset']} and "
                    f"{cell.choices['dataset']}. Rename one of the files."
                )
    return list(cells.values())


def _with_base(choices: Choices, spec: Spec, architectures: set[Architecture]) -> Iterator[Cell]:
    """The run of these choices and, if they name one, the intervention on it."""
    rest = {key: value for key, value in choices.items() if key != "intervention"}
    try:
        experiment = make_experiment(**rest)
        if experiment.architecture not in architectures:
            models.check(experiment.architecture)
            architectures.add(experiment.architecture)
    except InputError as error:
        said = ", ".join(f"{key} {_words(value)}" for key, value in rest.items())
        raise InputError(f"{spec.places.of()}: the cell {said}: {error}") from error
    base = Cell(run_name(experiment.choices()), rest, experiment)
    yield base
    intervention = choices.get("intervention")
    if intervention is not None:
        name = findings_folder_name(experiment, intervention)
        yield Cell(name, rest, experiment, intervention, base.name)


def _labelled(cells: list[Cell]) -> tuple[Cell, ...]:
    """Name each cell by the choices that are not the same in all of them."""
    first = cells[0].choices
    keys = list(dict.fromkeys(key for cell in cells for key in cell.choices))
    varied = [
        key for key in keys if any(cell.choices.get(key) != first.get(key) for cell in cells)
    ] or ["dataset"]

    def label(cell: Cell) -> str:
        said = [f"{key} {_words(cell.choices[key])}" for key in varied if key in cell.choices]
        return ", ".join([*said, *([cell.intervention] if cell.intervention else [])])

    return tuple(replace(cell, label=label(cell)) for cell in cells)


def _words(value: Any) -> str:
    return without_folders("+".join(value) if isinstance(value, tuple) else str(value))
