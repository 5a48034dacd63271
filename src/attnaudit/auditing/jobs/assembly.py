"""All parts of a job as one table of values, with what is kept of it and known about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from attnaudit.auditing.collector import Facts
from attnaudit.auditing.jobs.job import part_name
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.part_file import Part
from attnaudit.core.errors import InputError
from attnaudit.results.value_columns import Key, ValueColumns
from attnaudit.results.value_file import GROUP_BYTES, ValueFileWriter, read_columns
from attnaudit.results.value_table import P_VALUE, family_key, significant_in_family


class Assembled(NamedTuple):
    """The values of all shards, the examples kept whole, and the facts."""

    columns: ValueColumns
    kept: list[dict[str, Any]]
    facts: Facts


def assemble(store: JobStore, job: str, shards: int, path: Path) -> Assembled:
    """Write the values of all parts to one file; never more than a row group is in memory.

    Parameters
    ----------
    store : of the job, with the parts of all shards.
    job : its id.
    shards : their number.
    path : of the new values.parquet.
    """
    keys: dict[Key, None] = {}
    facts, kept, p_values = [], [], []
    for part in _parts(store, job, shards):
        keys.update(dict.fromkeys(part.keys))
        facts.append(part.facts)
        kept += part.kept()
        own = [key for key in part.keys if key[2] == P_VALUE]
        p_values.append((own, part.matrix(own)))
    judged = _judged(p_values, [key for key in keys if key[2] == P_VALUE])
    every_key = [*keys, *map(family_key, judged)]
    groups = partial(_judged_groups, store, job, shards, list(keys), judged)
    try:
        with ValueFileWriter(path, every_key) as writer:
            for examples, matrix in groups():
                writer.write(examples, matrix)
        columns = read_columns(path)
    except OSError:  # no room: everything in memory, so that there is at least a card
        parts = list(groups())
        columns = ValueColumns.from_matrix(
            pd.concat([examples for examples, _ in parts], ignore_index=True),
            every_key,
            np.concatenate([matrix for _, matrix in parts]),
        )
    return Assembled(columns, kept, Facts.together(facts))


def _judged_groups(
    store: JobStore, job: str, shards: int, keys: list[Key], judged: dict[Key, np.ndarray]
) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """`_groups` with a column per family of p-values."""
    start = 0
    for examples, matrix in _groups(store, job, shards, keys):
        group = slice(start, start + len(examples))
        start = group.stop
        families = [significant[group] for significant in judged.values()]
        yield examples, np.column_stack([matrix, *families])


def _parts(store: JobStore, job: str, shards: int) -> Iterator[Part]:
    return (_checked(store, part_name(job, shard)) for shard in range(shards))


def _checked(store: JobStore, name: str) -> Part:
    """A part whose checksum is right; a damaged one is removed, so that it is made again."""
    try:
        return Part(store.read(name))
    except (OSError, ValueError, KeyError, TypeError) as error:  # pyarrow's errors are among these
        store.remove(name)
        raise InputError(
            f"{store.address}/{name} is damaged ({error}) and was removed. Give the same command "
            "again: it makes this part again and keeps the others."
        ) from error


def _judged(
    p_values: Sequence[tuple[list[Key], np.ndarray]], keys: Sequence[Key]
) -> dict[Key, np.ndarray]:
    """Which p-values hold up among all examples', by the key of the p-values.

    p_values: of each part, its keys and their values (examples, keys).
    """
    judged = {}
    for key in keys:
        columns = [
            part[:, own.index(key)] if key in own else np.full(len(part), np.nan)
            for own, part in p_values
        ]
        judged[key] = significant_in_family(np.concatenate(columns))
    return judged


def _groups(
    store: JobStore, job: str, shards: int, keys: list[Key]
) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:
    """The examples and values of consecutive parts, about `GROUP_BYTES` at a time."""
    examples: list[pd.DataFrame] = []
    matrices: list[np.ndarray] = []
    size = 0
    for part in _parts(store, job, shards):
        examples.append(part.examples())
        matrices.append(part.matrix(keys))
        size += matrices[-1].nbytes
        if size >= GROUP_BYTES:
            yield pd.concat(examples, ignore_index=True), np.concatenate(matrices)
            examples, matrices, size = [], [], 0
    if examples:
        yield pd.concat(examples, ignore_index=True), np.concatenate(matrices)
