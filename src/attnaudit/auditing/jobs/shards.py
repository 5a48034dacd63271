"""The examples of a job in shards: from files that any process can read, or batches in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol

from attnaudit.auditing.jobs.example_files import ExampleIndex, Row, RowFormat, read_examples
from attnaudit.auditing.jobs.fingerprints import batch_fingerprint
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.shard_bounds import in_shards
from attnaudit.core.contract import Batch

_LOOKED_AT = 16  # stored shards; only very long texts have all of them without padding


class Shards(Protocol):
    """Batches by the number of their shard."""

    def batches(self, shard: int) -> Sequence[Batch]:
        """The batches of one shard."""
        ...


@dataclass(frozen=True)
class StoredShards(Generic[Row]):
    """Shards whose examples are in the files of the job.

    Parameters
    ----------
    store : of the job.
    kind : how the examples are stored.
    to_batches : makes batches of the examples of one shard.
    """

    store: JobStore
    kind: RowFormat[Row]
    to_batches: Callable[[Sequence[Row]], Sequence[Batch]]

    def batches(self, shard: int) -> Sequence[Batch]:
        """The batches of one shard."""
        return self.to_batches(read_examples(self.store, shard, self.kind))


class MemoryShards:
    """Shards of batches that the caller made: consecutive ones, never cut.

    Parameters
    ----------
    batches : of the whole job.
    tokens_per_shard : as for `in_shards`.
    """

    def __init__(self, batches: Sequence[Batch], tokens_per_shard: int) -> None:
        sized = ((batch, int(batch.mask.sum())) for batch in batches)
        self._shards = list(in_shards(sized, tokens_per_shard))
        self.index = index_batches(batches)
        self.index.shards = len(self._shards)
        self.index.fingerprint = batch_fingerprint(batches)

    def batches(self, shard: int) -> Sequence[Batch]:
        """The batches of one shard."""
        return self._shards[shard]


def first_batches(shards: Shards, count: int) -> Iterator[Batch]:
    """The batches to look at before the work: all in memory; of stored shards, the first few.

    Parameters
    ----------
    shards : of a job.
    count : how many there are.
    """
    few = count if isinstance(shards, MemoryShards) else min(count, _LOOKED_AT)
    for shard in range(few):
        yield from shards.batches(shard)


def index_batches(batches: Sequence[Batch]) -> ExampleIndex:
    """What is known of all examples of some batches."""
    index = ExampleIndex()
    for batch in batches:
        index.ids += batch.example_id
        index.labels.extend([-1] * len(batch) if batch.labels is None else batch.labels.tolist())
        index.tokens += int(batch.mask.sum())
    return index
