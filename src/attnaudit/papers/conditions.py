"""What a published number is of: it may stand only next to the same corpus and the same model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from attnaudit.core import registry
from attnaudit.data.corpus_info import corpus_of
from attnaudit.data.datasets import DATASETS, parse_choice
from attnaudit.models import MODELS
from attnaudit.models.architecture import PARTS
from attnaudit.training.presets import preset_dataset

# Options of readers that leave texts, classes and the official splits as they are. Whether numbers
# become one word differs between the papers' texts and their code; `part` says which files of the
# training pairs are read, and the counts of table 1 show how many there are.
_SAME_CORPUS = ("tokeniser", "replace_numbers", "skip_bad", "seed", "part", "format")
_SAME_VALUES = {"splits": ("auto", "released")}  # seeded ones are of other admissions
_SIMULATED = ("babi", "keyword")


def corpus_of_paper(dataset: str, preset: str) -> str | None:
    """The corpus that a dataset choice is, if it is prepared as in a paper; else None.

    Parameters
    ----------
    dataset : name with options.
    preset : name of the paper's settings, some of which prepare the corpus.

    Examples
    --------
    >>> corpus_of_paper("sst:tokeniser=regex", "jain_wallace")
    'sst'
    >>> corpus_of_paper("imdb:labels=stars", "jain_wallace") is None
    True
    >>> corpus_of_paper("babi_files:task=2", "wen")
    'babi:task=2'
    """
    name, options = parse_choice(dataset)
    if name not in DATASETS or name in _SIMULATED:
        return None
    expected = _with_defaults(DATASETS[name], registry.parse(preset_dataset(preset, name))[1])
    chosen = _with_defaults(DATASETS[name], options)
    named = {"task"}  # part of the corpus's own name
    differing = [
        key
        for key, value in chosen.items()
        if key not in _SAME_CORPUS
        and key not in named
        and value != expected.get(key)
        and not {value, expected.get(key)} <= {*_SAME_VALUES.get(key, ())}
    ]
    return None if differing else corpus_of(dataset)


def is_model(choices: Mapping[str, Any], **expected: str) -> bool:
    """Whether a run's model has these parts, options included.

    Parameters
    ----------
    choices : of the run, as run.json stores them.
    **expected : part -> choice, such as encoder="bilstm:hidden=128". Other than `projection`, a
        part that is not named must be the ordinary one.

    Examples
    --------
    >>> run = {"model": "attentive", "encoder": "bilstm", "variant": "ordinary"}
    >>> is_model(run, encoder="bilstm:hidden=128"), is_model(run, encoder="bilstm:hidden=64")
    (True, False)
    """
    wanted = {"model": "attentive", "variant": "ordinary", **expected}
    return all(_is_same_part(part, str(choices.get(part)), name) for part, name in wanted.items())


def _is_same_part(part: str, ours: str, theirs: str) -> bool:
    known: Mapping[str, Callable[..., Any]] = MODELS if part == "model" else PARTS.get(part, {})
    (name, options), (other, others) = registry.parse(ours), registry.parse(theirs)
    if name != other or name not in known:
        return ours == theirs
    return _with_defaults(known[name], options) == _with_defaults(known[name], others)


def _with_defaults(part: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(part).parameters.values()
    defaults = {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.default is not parameter.empty
    }
    return {**defaults, **options}
