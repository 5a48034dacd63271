"""An item of a paper: a table, figure or claim, declared as data and reproduced by one function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from attnaudit.data.datasets import parse_choice
from attnaudit.papers.finished_cells import FinishedCells

Table = dict[str, Any]  # choices and lists of choices, as a table of a grid file
NAN = math.nan
_ASKED = ("babi", "babi_files", "cnn_qa", "snli")  # corpora with a question or a hypothesis


@dataclass(frozen=True)
class Plan:
    """What an item is made on: one dataset, in full or, with `fast`, in seconds.

    Parameters
    ----------
    dataset : name with options.
    fast : few settings, to try an item out; its numbers mean nothing.
    """

    dataset: str
    fast: bool = False

    @property
    def name(self) -> str:
        """Of the dataset, without options."""
        return parse_choice(self.dataset)[0]

    @property
    def has_query(self) -> bool:
        """Whether the corpus has a question or a hypothesis."""
        return self.name in _ASKED

    def few(self, values: Sequence[Any], count: int = 2) -> list[Any]:
        """All the values or, to be fast, the first and the last few."""
        return [values[0], *values[1 - count :]] if self.fast else list(values)

    def table(self, preset: str, **choices: Any) -> Table:
        """A table of a grid file with all its keys, so that several can be put together.

        Parameters
        ----------
        preset : the paper's settings.
        **choices : encoders, scorers, projections, audits, measures, interventions.
        """
        defaults = {"scorers": ["additive"], "projections": ["softmax"], "interventions": []}
        return {"dataset": self.dataset, "preset": preset, **defaults, **choices}


@dataclass(frozen=True)
class Number:
    """One number of one training.

    Parameters
    ----------
    metric : its name.
    value : NaN if it is undefined.
    keys : what it is of: encoder, measure, predicted_class, …
    low, high : its interval over texts, if there is one.
    floor, ceiling : what chance and the best possible would give.
    texts : of the test split that have it.
    claim : the range in which a claim of the paper has it.
    """

    metric: str
    value: float
    keys: Mapping[str, str] = field(default_factory=dict)
    low: float = NAN
    high: float = NAN
    floor: float = NAN
    ceiling: float = NAN
    texts: int = 0
    claim: tuple[float, float] | None = None


@dataclass(frozen=True)
class Item:
    """A table, figure or claim of a paper.

    Parameters
    ----------
    name : as in the paper: "table2", "figure3", "claim_dot".
    shows : in one sentence.
    datasets : all that the paper has it for.
    tables : the models to train, as tables of a grid, on one dataset.
    numbers : (finished cells of one dataset and seed) -> our numbers.
    published : name of the published table; None if no numbers were published.
    preset : how the paper prepares corpora; decides where published numbers apply.
    draw : (finished cells of every seed, our table) -> figure; None for a table.
    pictured : which of its models the figure is drawn of; empty if of all.
    spread : by how much a published number is uncertain, if the table does not say.
    impossible : dataset or "" for all -> why its published numbers cannot be compared here.
    pool : (numbers of all datasets and seeds) -> numbers of all corpora together.
    compares_encoders : whether its numbers are of models of several encoders together.
    fast_dataset : simulated data on which it is tried out.
    """

    name: str
    shows: str
    datasets: tuple[str, ...]
    tables: Callable[[Plan], list[Table]]
    numbers: Callable[[FinishedCells], Iterable[Number]]
    preset: str
    published: str | None = None
    draw: Callable[[Sequence[FinishedCells], pd.DataFrame], Any] | None = None
    pictured: str = ""
    spread: float = 0.0
    impossible: Mapping[str, str] = field(default_factory=dict)
    pool: Callable[[pd.DataFrame], pd.DataFrame] | None = None
    compares_encoders: bool = False
    fast_dataset: str = "keyword:train=40,dev=16,test=24,length=10,jitter=2"

    def why_not(self, corpus: str | None) -> str:
        """Why published numbers of a corpus cannot be compared; empty if they can."""
        return self.impossible.get(corpus or "", self.impossible.get("", ""))
