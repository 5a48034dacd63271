"""What items are made on: the datasets of each, and the models that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attnaudit.core import registry
from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.papers.catalogue import closest
from attnaudit.papers.conditions import corpus_of_paper
from attnaudit.papers.item import Item, Plan
from attnaudit.papers.listing import is_here
from attnaudit.papers.reproduced_item import Settings
from attnaudit.training.presets import preset_dataset


class ItemPlans(NamedTuple):
    """An item of a paper, and a plan for each dataset that it is made on."""

    paper: str
    item: Item
    plans: list[Plan]


def item_plans(
    items: Sequence[tuple[str, Item]], datasets: Sequence[str] | None, chosen: Settings
) -> list[ItemPlans]:
    """The plans of (paper, item)s that have a model with one of the chosen encoders.

    Parameters
    ----------
    datasets : names with options; None for those of the papers that are in the data folder.
    """
    plans = [
        ItemPlans(
            paper, item, [Plan(name, chosen.fast) for name in _datasets(item, datasets, chosen)]
        )
        for paper, item in items
    ]
    if not chosen.fast:
        _note_other_corpora(plans)
    return plans if chosen.encoders is None else _with_encoders(plans, chosen)


def has_published_vectors(plans: Sequence[ItemPlans]) -> bool:
    """Whether a paper has a model of one of the corpora with pretrained vectors; bAbI has none."""
    return any(
        corpus_for(item, plan.dataset) and not plan.name.startswith("babi")
        for _, item, listed in plans
        for plan in listed
    )


def corpus_for(item: Item, dataset: str) -> str | None:
    """The corpus, if the paper has the item for it and the dataset is as the preset prepares it."""
    corpus, *of_item = (
        corpus_of_paper(preset_dataset(item.preset, name), item.preset)
        for name in (dataset, *item.datasets)
    )
    return corpus if corpus in of_item else None


def _note_other_corpora(plans: Sequence[ItemPlans]) -> None:
    """Say of each dataset for which items it is none of the paper's corpora."""
    for dataset in dict.fromkeys(plan.dataset for _, _, listed in plans for plan in listed):
        of_others = [
            item.name
            for _, item, listed in plans
            if any(plan.dataset == dataset for plan in listed) and not corpus_for(item, dataset)
        ]
        if of_others:
            notice(
                f"{dataset}: the papers have {', '.join(of_others)} for other corpora, or prepared "
                "otherwise: nothing published stands next to these"
            )


def _datasets(item: Item, datasets: Sequence[str] | None, chosen: Settings) -> list[str]:
    if chosen.fast:
        return [item.fast_dataset]
    if datasets is not None:
        return list(dict.fromkeys(datasets))
    return [dataset for dataset in item.datasets if is_here(dataset, chosen.data_dir)]


def _with_encoders(plans: Sequence[ItemPlans], chosen: Settings) -> list[ItemPlans]:
    """The plans that have models with one of the encoders; an error if an encoder is in none."""
    names = {
        registry.parse(encoder)[0]
        for _, item, listed in plans
        for plan in listed or [Plan(item.datasets[0], chosen.fast)]
        for table in item.tables(plan)
        for encoder in table["encoders"]
    }
    known = f"Choose from: {', '.join(sorted(names))}."
    if not chosen.encoders:
        raise InputError(f"No encoder is named. {known}")
    for name in chosen.encoders:
        if name not in names:
            hint = closest(name, names)
            raise InputError(f"No model of these items has the encoder {name!r}.{hint} {known}")
    kept, reasons = [], []
    for paper, item, listed in plans:
        some = [plan for plan in listed if chosen.tables(item, plan)]
        if listed and not some:
            why = "needs other encoders, too" if item.compares_encoders else "is of other encoders"
            reasons.append(f"{paper} {item.name} {why}")
        else:
            kept.append(ItemPlans(paper, item, some))
    if not kept:
        raise InputError(
            f"Nothing is left to reproduce with these encoders: {'; '.join(reasons)}. Leave out "
            "--encoders, or name other items."
        )
    for reason in reasons:
        notice(f"left out: {reason}")
    return kept
