"""Serrano & Smith 2019, "Is Attention Interpretable?".

Their IMDB is another corpus (ten classes), so its numbers never stand next to ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from attnaudit.data import load
from attnaudit.data.splits import Example
from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.item import Item, Number, Plan, Table
from attnaudit.papers.run_numbers import of_mean
from attnaudit.report.figures.flip_boxes import flip_boxes
from attnaudit.report.figures.top_item_scatter import top_item_scatter
from attnaudit.training.experiment import make_experiment

PRESET = "serrano_smith"
DATASETS = ("yahoo", "imdb", "amazon", "yelp")
RANKINGS = ("attention", "attention_gradient", "attention_times_gradient", "random")
_ENCODERS = {"rnn": "bigru", "conv": "cnn", "none": "none"}
_QUADRANTS = ("flips_both", "flips_only_top", "flips_only_random", "flips_neither")
_FAST = "babi:task=1,train=40,test=16"


def models(plan: Plan, flat: tuple[bool, ...] = (False, True)) -> list[Table]:
    """HAN and FLAN, each with three encoders."""
    encoders = ["rnn"] if plan.fast else list(_ENCODERS)
    return [
        plan.table(
            f"{PRESET}:encoder={encoder}" + (",flat=true" if is_flat else ""),
            encoders=[_ENCODERS[encoder]],
            audits=["top_item", "flip_fraction"],
            measures=list(RANKINGS),
        )
        for encoder in encoders
        for is_flat in flat
    ]


def only_han_rnn(plan: Plan) -> list[Table]:
    """The model of table 2."""
    return models(plan, (False,))[:1]


def architecture(run: FinishedRun) -> str:
    """Such as "han_rnn" and "flan_conv"."""
    names = {encoder: name for name, encoder in _ENCODERS.items()}
    kind = "han" if run.part("model") == "hierarchical" else "flan"
    return f"{kind}_{names[run.part('encoder')]}"


def table1(cells: FinishedCells) -> Iterator[Number]:
    """Words and sentences per text: means and standard deviations; sizes; classes."""
    prepared = make_experiment(cells.dataset, preset=PRESET).dataset
    splits = load(prepared, data_dir=cells.runs[0].data_dir)
    train: list[Example] = [*splits.train, *splits.dev]
    words = np.array([len(example.tokens) for example in train], dtype=float)
    yield Number("mean_length", float(words.mean()))
    yield Number("sd_length", float(words.std(ddof=1)))
    known = [len(set(example.segments)) for example in train if example.segments is not None]
    sentences = np.array(known, dtype=float)
    yield Number("mean_sentences", float(sentences.mean()) if len(known) else float("nan"))
    yield Number("sd_sentences", float(sentences.std(ddof=1)) if len(known) else float("nan"))
    yield Number("train_and_dev", len(train))
    yield Number("test", len(splits.test))
    yield Number("classes", len(splits.classes))


def table2(cells: FinishedCells) -> Iterator[Number]:
    """Shares of texts whose decision flips without the top item, a random one, both, neither."""
    for run in cells.runs:
        for metric in _QUADRANTS:
            yield of_mean(metric, run.line("top_item", metric), architecture=architecture(run))


def figure3(cells: FinishedCells) -> Iterator[Number]:
    """Mean difference of JS and of weight between the top item and a random one."""
    for run in cells.runs:
        for metric in ("delta_js", "delta_alpha"):
            yield of_mean(metric, run.line("top_item", metric), architecture=architecture(run))


def figure5(cells: FinishedCells) -> Iterator[Number]:
    """Share of items removed until the decision flips, by ranking, and the exact minimum."""
    for run in cells.runs:
        for ranking in (*RANKINGS, "smallest_set"):
            for metric in ("fraction", "flipped"):
                line = run.line("flip_fraction", metric, ranking)
                keys = {"architecture": architecture(run), "ranking": ranking}
                yield of_mean(metric, line, **keys)


def _of_first(draw: Any):  # type: ignore[no-untyped-def]
    pictured = {"encoder": "bigru", "model": "hierarchical"}
    return lambda cells, table: draw(cells[0].pictured(**pictured).source)


ITEMS = (
    Item(
        "table1",
        "Words and sentences per text with sd, sizes and classes",
        DATASETS,
        only_han_rnn,
        table1,
        PRESET,
        published="serrano_smith_2019_table1",
        fast_dataset=_FAST,
    ),
    Item(
        "table2",
        "Decision flips without the top item and without a random one (published: HAN, BiGRU)",
        DATASETS,
        models,
        table2,
        PRESET,
        published="serrano_smith_2019_table2",
        fast_dataset=_FAST,
    ),
    Item(
        "figure3",
        "Change of the output against the difference of weights, top item and random item",
        DATASETS,
        models,
        figure3,
        PRESET,
        draw=_of_first(top_item_scatter),
        pictured="HAN with a BiGRU, first training",
        fast_dataset=_FAST,
    ),
    Item(
        "figure5",
        "Share removed until the decision flips, by ranking, with the exact minimum",
        DATASETS,
        models,
        figure5,
        PRESET,
        draw=_of_first(flip_boxes),
        pictured="HAN with a BiGRU, first training; diamonds are means in which texts that never "
        "flip count as 1",
        fast_dataset=_FAST,
    ),
)
