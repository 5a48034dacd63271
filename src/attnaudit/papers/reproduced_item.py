"""An item made again on one dataset, the settings it was made with, and its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from attnaudit.core import registry
from attnaudit.core.errors import NotApplicable
from attnaudit.core.notices import notice
from attnaudit.core.output_files import recovery_advice, write_file
from attnaudit.papers.finished_cells import FinishedCells
from attnaudit.papers.grid_tables import FAST, as_grid, pretrained, settings
from attnaudit.papers.item import Item, Plan, Table
from attnaudit.report.figures import style
from attnaudit.report.tables.formats import csv_text
from attnaudit.results.run_names import file_name

ALL = "all"  # the corpora of an item together


class Reproduction(NamedTuple):
    """An item made again on one dataset: the table, its file, and the figures."""

    paper: str
    item: str
    dataset: str
    table: pd.DataFrame
    path: Path
    figures: tuple[Path, ...] = ()

    def __str__(self) -> str:
        hidden = ["texts_low", "texts_high", "least", "largest", "by_training"]
        shown = self.table.drop(columns=hidden)
        shown = shown.loc[:, [not _is_empty(shown[name]) for name in shown.columns]]
        counts = self.table["verdict"].replace("", "nothing published").value_counts()
        counted = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
        body = shown.to_string(index=False, float_format="{:.3f}".format, na_rep="–")
        return f"{self.paper} {self.item}, {self.dataset}: {counted}\n{body}\nTable: {self.path}"


class Reproductions(list[Reproduction]):
    """What `reproduce` made; failed: cells that failed; grid: the grid file, if one was written."""

    failed: tuple[Any, ...] = ()
    grid: Path | None = None


@dataclass(frozen=True)
class Settings:
    """What is common to all items of a call; see `reproduce`."""

    out: Path
    seeds: tuple[int, ...]
    fast: bool = False
    vectors: str | None = None
    sample: int | None = None
    epochs: int | None = None
    data_dir: Path | None = None
    encoders: tuple[str, ...] | None = None

    def spec(self, item: Item, plan: Plan) -> dict[str, Any]:
        """The grid of an item on a dataset."""
        shared = settings(
            plan, self.seeds, vectors=self.vectors, sample=self.sample, epochs=self.epochs
        )
        return as_grid([{**table, **shared} for table in self.tables(item, plan)])

    def tables(self, item: Item, plan: Plan) -> list[Table]:
        """The models of an item that have one of the encoders; none if it compares encoders."""
        tables = item.tables(plan)
        if self.encoders is None:
            return tables
        kept = [{**table, "encoders": self._chosen(table["encoders"])} for table in tables]
        if item.compares_encoders and kept != tables:
            return []
        return [table for table in kept if table["encoders"]]

    def has_every_model(self, item: Item, plan: Plan) -> bool:
        """Whether no model of an item is left out."""
        return self.tables(item, plan) == item.tables(plan)

    def _made(self, item: Item, plan: Plan) -> list[str]:
        """The encoders of the models that are made, by name, in the order of the item."""
        tables = self.tables(item, plan)
        names = [registry.parse(name)[0] for table in tables for name in table["encoders"]]
        return list(dict.fromkeys(names))

    def _chosen(self, encoders: Sequence[str]) -> list[str]:
        return [name for name in encoders if registry.parse(name)[0] in (self.encoders or ())]

    def stem(self, paper: str, item: Item, dataset: str) -> Path:
        """The files of an item, without their ending: with all that decides the numbers."""
        seeds = "+".join(map(str, self.seeds))
        sample, epochs = self.sample, self.epochs
        if self.fast:  # whatever was asked for
            sample, epochs = FAST["sample"], FAST["epochs"]
        name_parts = [paper, item.name, dataset]
        if pretrained(self.vectors, dataset) and not self.fast:
            name_parts.append(f"vectors_{Path(str(self.vectors)).stem}")
        if dataset != ALL and not self.has_every_model(item, Plan(dataset, self.fast)):
            name_parts.append(f"encoders_{'+'.join(self._made(item, Plan(dataset, self.fast)))}")
        name_parts.append(f"sample_{sample or ALL}")
        name_parts += [f"epochs_{epochs or 'paper'}", f"seeds_{seeds}", *["fast"] * self.fast]
        return self.out / "reproductions" / file_name("-".join(name_parts).replace("+", "."))


def save_item(
    paper: str,
    item: Item,
    dataset: str,
    table: pd.DataFrame,
    chosen: Settings,
    cells: Sequence[FinishedCells],
) -> Reproduction:
    stem = chosen.stem(paper, item, dataset)
    with recovery_advice(f"The runs in {chosen.out} are complete and will be used again."):
        path = write_file(stem.with_name(f"{stem.name}.csv"), csv_text(table), kind="table")
        figures: list[Path] = []
        if item.draw is not None and cells:
            try:
                with style.paper():
                    figures = style.save(item.draw(cells, table), stem, ("svg", "png"))
            except NotApplicable as error:
                notice(f"{paper} {item.name}, {dataset}: no figure: {error}")
    return Reproduction(paper, item.name, dataset, table, path, tuple(figures))


def _is_empty(column: pd.Series) -> bool:
    return bool(column.isna().all() or (column.astype(str) == "").all())
