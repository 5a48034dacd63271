"""`reproduce`: train what items need, compare with the papers, and save tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.papers.catalogue import find_items
from attnaudit.papers.comparison import as_frame, compare, not_run
from attnaudit.papers.finished_cells import FinishedCells, FinishedRun
from attnaudit.papers.grid_tables import as_grid, write_grid
from attnaudit.papers.item import Item, Plan
from attnaudit.papers.item_plans import corpus_for, has_published_vectors, item_plans
from attnaudit.papers.listing import is_here, need
from attnaudit.papers.reproduced_item import ALL, Reproduction, Reproductions, Settings, save_item
from attnaudit.training import grid
from attnaudit.training.grids.cells import expand
from attnaudit.training.grids.spec import read_spec

MOST_SEEDS = 1000


def reproduce(
    paper: str,
    *items: str,
    datasets: Sequence[str] | None = None,
    seeds: int | Sequence[int] = 3,
    fast: bool = False,
    workers: int = 1,
    out: str | Path = "runs",
    vectors: str | Path | None = None,
    sample: int | None = None,
    epochs: int | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    encoders: Sequence[str] | None = None,
    grid_file: str | Path | None = None,
    retry_failed: bool = False,
    show_progress: bool = True,
) -> Reproductions:
    """Reproduce items of a paper: train and audit its models, with ours next to the published.

    Does what `attnaudit reproduce` does. Finished runs are used again.

    Parameters
    ----------
    paper : "jain_wallace_2019", …, or "all"; `item_list` has every paper and item.
    *items : tables, figures and claims of the paper; all if omitted.
    datasets : names with options; if omitted, those of the paper that are in the data folder.
    seeds : number of trainings of every model, or their seeds. A verdict needs three.
    fast : tiny simulated data and one epoch, to try an item out; its numbers mean nothing.
    workers : processes that train at the same time.
    out : folder of the run directories; tables and figures go to `reproductions` in it.
    vectors : file of pretrained word vectors; the papers use 300 dimensions.
    sample : number of test examples to audit; None for all.
    epochs : None for those of the paper.
    data_dir : folder of the corpora; if omitted, the environment variable ATTNAUDIT_DATA, else the
        user's cache folder.
    encoders : only models with these encoders, by name without options; None for all. Items that
        need models of other encoders, too, are left out.
    grid_file : write the grid of all models to this TOML file, and train nothing.
    retry_failed : run only the models that failed before.

    Examples
    --------
    >>> made = reproduce("meister_2021", "table1", datasets=["sst"])  # doctest: +SKIP
    >>> made[0].table[["encoder", "ours", "published", "verdict"]]  # doctest: +SKIP
    """
    chosen = find_items(paper, items)
    if isinstance(encoders, str):
        raise InputError(f"encoders must be a list of names, such as [{encoders!r}]; got a string.")
    folder = None if data_dir is None else Path(data_dir)
    with_settings = Settings(
        Path(out),
        tuple(range(min(seeds, MOST_SEEDS + 1)) if isinstance(seeds, int) else seeds),
        fast,
        None if vectors is None else str(vectors),
        sample,
        epochs,
        folder,
        None if encoders is None else tuple(dict.fromkeys(encoders)),
    )
    _check_seeds(with_settings.seeds, seeds)
    if fast and any((datasets, vectors, sample, epochs)):
        notice("fast: one epoch on tiny simulated data, whatever else is chosen")
    plans = item_plans(chosen, datasets, with_settings)
    if grid_file is None and not fast:
        for dataset in datasets or ():
            need(dataset, folder)  # an error before anything is trained
        if vectors is None and has_published_vectors(plans):
            notice(
                "no --vectors: embeddings are random at the start, where the papers' are "
                "pretrained, and tau depends on them"
            )
    reproductions = Reproductions()
    specs = [with_settings.spec(item, plan) for _, item, listed in plans for plan in listed]
    status = None
    if specs:
        tables = [
            table
            for spec in specs
            for table in (
                {key: value for key, value in spec.items() if key != "include"},
                *spec.get("include", []),
            )
        ]
        merged = as_grid(list({repr(table): table for table in tables}.values()))
        if grid_file is not None:
            reproductions.grid = write_grid(merged, Path(grid_file))
            return reproductions
        status = grid(
            merged,
            out,
            workers=workers,
            data_dir=folder,
            device=device,
            retry_failed=retry_failed,
            show_progress=show_progress,
        )
        reproductions.failed = status.failed
    elif grid_file is not None:
        raise InputError(
            f"There is nothing to train: the corpora of {paper} are not in the data folder. Name "
            "others with --datasets."
        )
    folders = {} if status is None else {cell.name: cell.folder for cell in status.cells}
    for name, item, listed in plans:
        reproductions += _make(
            name, item, listed, folders, with_settings, everything=datasets is None
        )
    return reproductions


def _check_seeds(chosen: Sequence[int], given: int | Sequence[int]) -> None:
    if not chosen:
        raise InputError(f"seeds must be at least 1, got {given}: a number needs a training.")
    if len(chosen) > MOST_SEEDS:
        raise InputError(
            f"seeds must be at most {MOST_SEEDS} trainings of every model, got {given}. To choose "
            "the seeds themselves, give several: 3,4."
        )
    if len(set(chosen)) < len(chosen):
        raise InputError(f"seeds must differ: the same training counts once; got {given}.")


def _make(
    paper: str,
    item: Item,
    plans: Sequence[Plan],
    folders: dict[str, Path | None],
    chosen: Settings,
    *,
    everything: bool,
) -> list[Reproduction]:
    """One item on all its datasets, and on all of them together."""
    reproductions, raw = [], []
    for plan in plans:
        cells = finished_cells(item, plan, folders, chosen)
        if not cells:
            notice(f"{paper} {item.name}, {plan.dataset}: left out, some of its cells failed")
            continue
        ours = as_frame(
            [(plan.dataset, part.seed, number) for part in cells for number in item.numbers(part)]
        )
        raw.append(ours)
        corpus = corpus_for(item, plan.dataset)
        table = compare(item, ours, corpus)
        reproductions.append(save_item(paper, item, plan.dataset, table, chosen, cells))
    has_every_model = all(chosen.has_every_model(item, plan) for plan in plans)
    if item.pool is not None and raw and not has_every_model:
        notice(f"{paper} {item.name}: no numbers over all corpora, which are of all encoders")
    elif item.pool is not None and raw:
        complete = {part["dataset"].iloc[0] for part in raw} >= set(item.datasets)
        table = compare(item, item.pool(pd.concat(raw, ignore_index=True)), ALL)
        if not complete:
            published = table["published"].notna()
            table.loc[published, "verdict"] = "not possible here"
            table.loc[published, "why"] = "published over corpora that are not all here"
        reproductions.append(save_item(paper, item, ALL, table, chosen, ()))
    if everything and not chosen.fast and chosen.encoders is None:
        for dataset in item.datasets:
            corpus = corpus_for(item, dataset)
            if not is_here(dataset, chosen.data_dir) and corpus is not None:
                name = dataset.partition(":")[0]
                how = f"the corpus is not in the data folder: attnaudit data get {name}"
                table = not_run(item, corpus, how)
                if len(table):
                    reproductions.append(save_item(paper, item, dataset, table, chosen, ()))
    return reproductions


def finished_cells(
    item: Item, plan: Plan, folders: dict[str, Path | None], chosen: Settings
) -> list[FinishedCells]:
    """The cells of an item on a dataset by seed; empty if one of them is not finished."""
    cells = expand(read_spec(chosen.spec(item, plan)))
    finished = {name: folder for name, folder in folders.items() if folder is not None}
    if any(cell.name not in finished for cell in cells):
        return []
    by_seed = []
    for seed in chosen.seeds:
        here = [cell for cell in cells if cell.experiment.seed == seed]
        runs = [
            FinishedRun(finished[cell.name], cell.experiment, chosen.data_dir, plan.fast)
            for cell in here
            if cell.intervention is None
        ]
        findings = {
            (cell.intervention, finished[cell.base].name): finished[cell.name]
            for cell in here
            if cell.intervention is not None and cell.base is not None
        }
        by_seed.append(FinishedCells(plan.dataset, seed, tuple(runs), findings))
    return by_seed
