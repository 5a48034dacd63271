"""The examples of a job, one file per shard, so that any process can read the ones it works on."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import pyarrow as pa

from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.sealed_parquet import sealed_table, unsealed_table
from attnaudit.auditing.jobs.shard_bounds import in_shards
from attnaudit.core.errors import InputError

FOLDER = "examples"
Row = TypeVar("Row")


@dataclass(frozen=True)
class RowFormat(Generic[Row]):
    """How one kind of example is stored.

    Parameters
    ----------
    schema : of its columns, with example_id and label (null if there is none).
    to_columns : example -> its columns by name.
    from_columns : the same back.
    token_count : example -> its number of tokens, roughly; decides where shards end.
    """

    schema: pa.Schema
    to_columns: Callable[[Row], dict[str, Any]]
    from_columns: Callable[[dict[str, Any]], Row]
    token_count: Callable[[Row], int]


@dataclass
class ExampleIndex:
    """What is known of all examples at once: little enough for millions of them."""

    ids: list[str] = field(default_factory=list)
    labels: array[int] = field(default_factory=lambda: array("q"))  # -1 if there is none
    tokens: int = 0
    shards: int = 0
    fingerprint: str = ""  # SHA-256 of all stored columns

    def label_share(self) -> float | None:
        """Accuracy of the majority-class baseline; None unless all examples have labels."""
        if not self.labels or min(self.labels) < 0:
            return None
        counts: dict[int, int] = {}
        for label in self.labels:
            counts[label] = counts.get(label, 0) + 1
        return max(counts.values()) / len(self.labels)


def index_examples(
    examples: Iterable[Row],
    kind: RowFormat[Row],
    tokens_per_shard: int,
    store: JobStore | None = None,
) -> ExampleIndex:
    """Go through the examples once, and store them in shards if there is a `store`."""
    index = ExampleIndex()
    digest = hashlib.sha256(f"{tokens_per_shard}".encode())
    counted = ((example, kind.token_count(example)) for example in examples)
    for shard in in_shards(counted, tokens_per_shard):
        rows = [kind.to_columns(example) for example in shard]
        for row in rows:
            index.ids.append(row["example_id"])
            index.labels.append(-1 if row["label"] is None else row["label"])
            digest.update(repr(list(row.values())).encode("utf-8", "surrogatepass"))
        index.tokens += sum(map(kind.token_count, shard))
        if store is not None:
            table = pa.Table.from_pylist(rows, schema=kind.schema)
            store.write(f"{FOLDER}/{shard_name(index.shards)}", sealed_table(table))
        index.shards += 1
    index.fingerprint = digest.hexdigest()
    return index


def read_examples(store: JobStore, shard: int, kind: RowFormat[Row]) -> Sequence[Row]:
    """The examples of one shard; an InputError if its file is damaged."""
    name = f"{FOLDER}/{shard_name(shard)}"
    try:
        table = unsealed_table(store.read(name))
    except (OSError, ValueError) as error:  # pyarrow's errors are among these
        raise InputError(
            f"{store.address}/{name}, the examples of one part, cannot be read ({error}). Give "
            "the same command again: it stores the examples again and keeps the finished parts."
        ) from error
    return [kind.from_columns(row) for row in table.to_pylist()]


def shard_name(shard: int) -> str:
    """The name of the file of a shard."""
    return f"{shard:07d}.parquet"
