"""All papers with their items, and how an item is found by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.papers import (
    jain_wallace_2019,
    meister_2021,
    neely_schouten_2020,
    serrano_smith_2019,
    wen_2022,
    wiegreffe_pinter_2019,
)
from attnaudit.papers.item import Item

PAPERS: dict[str, tuple[Item, ...]] = {
    "jain_wallace_2019": jain_wallace_2019.ITEMS,
    "wiegreffe_pinter_2019": wiegreffe_pinter_2019.ITEMS,
    "serrano_smith_2019": serrano_smith_2019.ITEMS,
    "meister_2021": meister_2021.ITEMS,
    "neely_schouten_2020": neely_schouten_2020.ITEMS,
    "wen_2022": wen_2022.ITEMS,
}
# Names of earlier versions.
_OLD = {
    "meister_table1": ("meister_2021", "table1"),
    "meister_table6": ("meister_2021", "table6"),
    "meister_figure2": ("meister_2021", "figure2"),
    "neely_schouten_table2": ("neely_schouten_2020", "table2"),
    "wen_weighted_tau": ("wen_2022", "figure2"),
}


def find_items(paper: str, names: Sequence[str] = ()) -> list[tuple[str, Item]]:
    """(paper, item) of every item that is named; all of the paper, or of all papers, without names.

    Parameters
    ----------
    paper : a name of `PAPERS`, "all", or the name of a table in an earlier version.
    names : of items.

    Examples
    --------
    >>> [(paper, item.name) for paper, item in find_items("meister_2021", ["table6"])]
    [('meister_2021', 'table6')]
    """
    if paper in _OLD:
        paper, name = _OLD[paper]
        notice(f"this item is now called: attnaudit reproduce {paper} {name}")
        names = [name]
    if paper == "all":
        if names:
            raise InputError(
                "`reproduce all` makes every item of every paper. Name a paper, or "
                "leave out the items."
            )
        return [(each, item) for each, items in PAPERS.items() for item in items]
    if paper not in PAPERS:
        raise InputError(
            f"There is no paper {paper!r}.{closest(paper, PAPERS)} Choose from: "
            f"{', '.join(PAPERS)}, all."
        )
    by_name = {item.name: item for item in PAPERS[paper]}
    for name in names:
        if name not in by_name:
            raise InputError(
                f"{paper} has no item {name!r}.{closest(name, by_name)} Choose from: "
                f"{', '.join(by_name)}."
            )
    return [(paper, by_name[name]) for name in dict.fromkeys(names or by_name)]


def closest(name: str, known: Iterable[str]) -> str:
    """The question whether a known name was meant; empty if none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
