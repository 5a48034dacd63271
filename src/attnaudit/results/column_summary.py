"""The summary of values that are read by column: as many at a time as a fixed memory holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd
import torch

from attnaudit.audits.declaration import Declaration
from attnaudit.results.groups import make_groups
from attnaudit.results.rows import EVERY_ROW, METRIC_KEY
from attnaudit.results.summary import summarise
from attnaudit.results.value_columns import Key, ValueColumns

_BLOCK_BYTES = 2**23  # of values that are summarised at once; a bootstrap takes eight times that


def summarise_columns(
    columns: ValueColumns,
    classes: list[str],
    declarations: Mapping[str, Declaration],
    *,
    seed: int = 0,
) -> pd.DataFrame:
    """`summarise` for any number of examples.

    Parameters
    ----------
    columns : the values.
    classes, declarations, seed : as for `summarise`.

    Returns
    -------
    The same lines in the same order as `summarise` of all columns at once; intervals may differ by
    rounding, since matrix products are cut differently.
    """
    predicted, labels = (columns.examples[name].to_numpy() for name in ("predicted", "label"))
    options = {"seed": seed, "labels": labels}
    frames = []
    for keys in _blocks(columns, max(1, _BLOCK_BYTES // max(1, 8 * len(columns)))):
        given = set(keys)
        bounds = [key for key in _bounds(columns, keys, declarations) if key not in given]
        matrix = torch.from_numpy(columns.matrix([*keys, *bounds]))
        lines = summarise(matrix, [*keys, *bounds], predicted, classes, declarations, **options)
        if bounds:
            metrics = {key[:3] for key in keys}
            of_lines = zip(*(lines[name] for name in METRIC_KEY), strict=True)
            lines = lines[[key in metrics for key in of_lines]]
        frames.append(lines)
    if len(frames) == 1:
        return frames[0]
    if not frames:
        return summarise(torch.empty(0, 0), [], predicted, classes, declarations)
    groups = list(make_groups(predicted, labels, classes))
    return _in_order(pd.concat(frames, ignore_index=True), columns, groups)


def _blocks(columns: ValueColumns, width: int) -> Iterator[list[Key]]:
    """The keys in blocks of at most `width`, or of one metric; its rows stay together."""
    metrics: dict[tuple[str, str, str], list[Key]] = {}
    for key in columns.keys:
        metrics.setdefault(key[:3], []).append(key)
    block: list[Key] = []
    for rows in metrics.values():
        if block and len(block) + len(rows) > width:
            yield block
            block = []
        block += rows
    if block:
        yield block


def _bounds(
    columns: ValueColumns, keys: list[Key], declarations: Mapping[str, Declaration]
) -> list[Key]:
    """The columns that are floors or ceilings of these."""
    needed: dict[Key, None] = {}
    for audit, _, metric, _ in keys:
        declared = declarations[audit].metrics.get(metric)
        for bound in () if declared is None else (declared.floor, declared.ceiling):
            if isinstance(bound, str):
                name, _, measure = bound.partition("@")
                needed.update(dict.fromkeys(columns.rows_of(audit, measure, name)))
    return list(needed)


def _in_order(lines: pd.DataFrame, columns: ValueColumns, groups: list[str]) -> pd.DataFrame:
    """The order of `summarise`: by group, then by key, with the means over rows last."""
    place = {key: index for index, key in enumerate(columns.keys)}
    for key in columns.keys:
        place.setdefault((*key[:3], EVERY_ROW), len(place))
    group = {name: index for index, name in enumerate(groups)}
    keys = zip(*(lines[name] for name in [*METRIC_KEY, "row"]), strict=True)
    order = pd.DataFrame({"group": lines["group"].map(group), "key": [place[key] for key in keys]})
    return lines.loc[order.sort_values(["group", "key"], kind="stable").index].reset_index(
        drop=True
    )
