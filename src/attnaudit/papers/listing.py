"""Every item with what it needs, what it costs and whether its data is here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from attnaudit.data.corpus_info import About
from attnaudit.data.datasets import DATASETS, data_folder, parse_choice
from attnaudit.data.listing import about_chosen
from attnaudit.papers.catalogue import find_items
from attnaudit.papers.grid_tables import as_grid, settings
from attnaudit.papers.item import Item, Plan
from attnaudit.papers.reproduced_item import Settings
from attnaudit.training.grids.cells import expand
from attnaudit.training.grids.costs import Costs
from attnaudit.training.grids.spec import read_spec
from attnaudit.training.grids.status import in_words

SEEDS = 3


def is_here(dataset: str, data_dir: Path | None) -> bool:
    """Whether the files of a dataset are in the data folder; simulated data always is."""
    about = _about(dataset)
    return about is None or about.look(data_dir or data_folder()) is not None


def need(dataset: str, data_dir: Path | None) -> None:
    """Raise an error that says how to get the files of a dataset, if they are not there."""
    about = _about(dataset)
    if about is not None:
        about.find(parse_choice(dataset)[0], data_dir or data_folder())


def _about(dataset: str) -> About | None:
    """What is known of a corpus of files; None if it is simulated or the user's own."""
    name, options = parse_choice(dataset)
    about = about_chosen(DATASETS[name], options) if name in DATASETS else None
    return about if about is not None and about.places else None


def item_list(
    paper: str = "all",
    *items: str,
    datasets: Sequence[str] | None = None,
    seeds: int = SEEDS,
    encoders: Sequence[str] | None = None,
    data_dir: str | Path | None = None,
) -> pd.DataFrame:
    """One line per item of a paper, or of every paper.

    Parameters
    ----------
    paper, *items : as for `reproduce`.
    datasets : names with options; if omitted, those of the paper.
    seeds : trainings of every model.
    encoders : count only models with these encoders; items that compare others have none.
    data_dir : folder of the corpora; if omitted, as for `attnaudit run`.

    Returns
    -------
    DataFrame
        paper, item, shows, published (numbers), models (cells per dataset and seed), datasets that
        are here, datasets that are missing, cost for those that are here (a rough guess, one
        process; empty if none is).

    Examples
    --------
    >>> listed = item_list("jain_wallace_2019")
    >>> "table2" in set(listed["item"])
    True
    """
    chosen = Settings(
        Path(),
        tuple(range(seeds)),
        data_dir=None if data_dir is None else Path(data_dir),
        encoders=None if encoders is None else tuple(encoders),
    )
    return pd.DataFrame(
        [_line(name, item, chosen, datasets) for name, item in find_items(paper, items)]
    )


def _line(
    paper: str, item: Item, chosen: Settings, datasets: Sequence[str] | None
) -> dict[str, object]:
    from attnaudit.papers.published import published

    listed = datasets or item.datasets
    here = [dataset for dataset in listed if is_here(dataset, chosen.data_dir)]
    first = Plan(listed[0])
    tables = chosen.tables(item, first)
    one_seed = {"vectors": None, "sample": None, "epochs": None}
    wanted = [{**table, **settings(first, [0], **one_seed)} for table in tables]
    cells = expand(read_spec(as_grid(wanted))) if wanted else ()
    costs = Costs()
    seconds = sum(
        (
            costs.of_run(cell.experiment.choices())
            if cell.intervention is None
            else costs.of_intervention(cell.intervention, cell.experiment.choices())
        ).seconds
        for cell in cells
    )
    return {
        "paper": paper,
        "item": item.name,
        "shows": item.shows,
        "published": 0 if item.published is None else len(published(item.published)),
        "models": len(cells),
        "here": ", ".join(here),
        "missing": ", ".join(dataset for dataset in listed if dataset not in here),
        "cost": _rounded(seconds * len(chosen.seeds) * len(here)) if here and cells else "",
    }


def _rounded(seconds: float) -> str:
    """A guess without the seconds that nobody knows."""
    return in_words(max(1, round(seconds / 60)) * 60).removesuffix(" 0 s")


def list_text(listed: pd.DataFrame, seeds: int = SEEDS) -> str:
    """The list for a terminal; `seeds` as for `item_list`."""
    lines = []
    for paper, part in listed.groupby("paper", sort=False):
        lines.append(f"\n{paper}")
        for line in part.itertuples():
            lines.append(f"  {line.item:22s} {line.shows}")
            needs = (
                f"{line.models} cell(s) per dataset and seed; {line.published} published numbers"
            )
            cost = f"; about {line.cost} for {seeds} seeds on what is here" if line.cost else ""
            lines.append(f"  {'':22s} {needs}{cost}")
            lines.append(
                f"  {'':22s} here: {line.here or 'none'}; missing: {line.missing or 'none'}"
            )
    if (listed["cost"] != "").any():
        lines.append(
            "\nCosts are rough guesses for one process, wrong by a factor of ten for some."
        )
    if (listed["missing"] != "").any():
        lines.append(
            "\nCorpora are looked for in --data-dir, else in the folder that ATTNAUDIT_DATA names; "
            "`attnaudit data` says how to get each."
        )
    return "\n".join(lines).lstrip("\n")
