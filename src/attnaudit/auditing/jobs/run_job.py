"""A whole job: store its examples, audit what is missing, and make results of all parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, Protocol

from attnaudit.auditing.battery import Battery, read
from attnaudit.auditing.jobs.assembly import assemble
from attnaudit.auditing.jobs.example_files import ExampleIndex, Row, RowFormat, index_examples
from attnaudit.auditing.jobs.fingerprints import choice_fingerprint, model_fingerprint
from attnaudit.auditing.jobs.job import begin, continues, job_id, was_begun
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.sharded_audit import ShardedAudit
from attnaudit.auditing.jobs.shards import MemoryShards, Shards, StoredShards, first_batches
from attnaudit.auditing.other_models import check_other_models
from attnaudit.auditing.padding import check_padding
from attnaudit.auditing.summarised import check_class_names, summarised
from attnaudit.core.contract import Batch
from attnaudit.core.module_state import evaluating
from attnaudit.core.tasks import Task, Workers
from attnaudit.results.results import Results


class Source(Protocol):
    """The examples of a job."""

    def index(self, store: JobStore | None = None) -> ExampleIndex:
        """What is known of all examples; stores them too, if there is a store."""
        ...

    def shards(self, store: JobStore) -> Shards:
        """The stored examples."""
        ...


@dataclass(frozen=True)
class ExampleSource(Generic[Row]):
    """Examples that are stored with the job.

    Parameters
    ----------
    examples : can be gone through several times; need not be in memory.
    kind : how they are stored.
    to_batches : makes batches of the examples of one shard.
    tokens_per_shard : see `in_shards`.
    """

    examples: Sequence[Row]
    kind: RowFormat[Row]
    to_batches: Callable[[Sequence[Row]], Sequence[Batch]]
    tokens_per_shard: int

    def index(self, store: JobStore | None = None) -> ExampleIndex:
        """What is known of all examples; stores them too, if there is a store."""
        return index_examples(self.examples, self.kind, self.tokens_per_shard, store)

    def shards(self, store: JobStore) -> Shards:
        """The stored examples."""
        return StoredShards(store, self.kind, self.to_batches)


@dataclass(frozen=True)
class BatchSource:
    """Batches in memory, for a model that only this process has."""

    memory: MemoryShards

    def index(self, store: JobStore | None = None) -> ExampleIndex:
        """What is known of all examples."""
        return self.memory.index

    def shards(self, store: JobStore) -> Shards:
        """The same batches."""
        return self.memory


@contextmanager
def opened(
    address: str | Path | None,
    workers: Workers = Workers(),  # noqa: B008  # frozen
) -> Iterator[JobStore]:
    """The folder of a job, for this process and its workers alone; a temporary one if None."""
    alone = workers.in_this_process
    if address is None:
        with TemporaryDirectory(prefix="attnaudit-") as folder:
            yield JobStore(folder, alone=alone, is_temporary=True)
        return
    store = JobStore(address, alone=alone)
    store.prepare()
    with store.locked():
        yield store


def parts_folder(out: Path) -> Path:
    """Where the parts of an unfinished audit are kept: next to its results."""
    place = Path(out).resolve()
    return place.with_name(f"{place.name}.parts")


def run_job(
    store: JobStore,
    battery: Battery,
    source: Source,
    scratch: Path,
    *,
    identity: Mapping[str, Any],
    class_names: Sequence[str] | None = None,
    keep_examples: int | None = None,
    workers: Workers = Workers(),  # noqa: B008  # frozen
    task: Callable[[str, int], Task] | None = None,
    show_progress: bool = True,
) -> Results:
    """The results of a job; goes on where an earlier process stopped.

    Parameters
    ----------
    store : from `opened`.
    battery : without what depends on all examples.
    source : the examples.
    scratch : folder for the assembled values, which the results are read from.
    identity : what decides the numbers, besides the model, the examples, audits, measures and seed.
    class_names, keep_examples : as for `audit`.
    workers, task : as for `ShardedAudit.run`.
    """
    if not workers.in_this_process:
        store.check_shared()
    is_new = not was_begun(store)
    index = source.index(store if is_new else None)  # once: examples may be made on access
    whole_identity = {
        **identity,
        "model": model_fingerprint(battery.model),
        "other_models": [model_fingerprint(other) for other in battery.other_models],
        "data": index.fingerprint,
        "audits": _choices(battery.audits),
        "measures": _choices(battery.measures),
        "seed": battery.seed,
        "keep_examples": keep_examples,
        **({"explanations": list(battery.explanations)} if battery.explanations else {}),
        **_word_choices(battery.word_level),
    }
    if not is_new:
        continues(store, whole_identity)
        source.index(store)  # even if it continues: a file of examples may have been damaged since
    begin(store, whole_identity)
    job = job_id(whole_identity)
    sharded = ShardedAudit(job, store, battery, source.shards(store))
    _check(sharded, index.shards, class_names)
    sharded.plan(index, keep_examples)
    sharded = sharded.planned()
    sharded.run(index, workers=workers, task=task, show_progress=show_progress)
    assembled = assemble(store, job, index.shards, scratch / "values.parquet")
    return summarised(sharded.battery, *assembled, class_names)


def _choices(functions: Mapping[str, Callable[..., Any]]) -> list[str]:
    return [choice_fingerprint(name, function) for name, function in functions.items()]


def _word_choices(words: Battery | None) -> dict[str, Any]:
    """What decides the numbers of words, if both levels are audited."""
    if words is None:
        return {}
    return {"word_audits": _choices(words.audits), "word_measures": _choices(words.measures)}


def _check(sharded: ShardedAudit, shards: int, class_names: Sequence[str] | None) -> None:
    """Reject models and class names that do not fit, before any shard is audited."""
    battery = sharded.battery
    first = sharded.shards.batches(0)[0]
    with evaluating(battery.model, *battery.other_models, device=battery.device):
        check_other_models(
            battery.model,
            battery.other_models,
            first if battery.device is None else first.to(battery.device),
        )
        record = read(battery.model, first, battery.device)
        names = class_names or getattr(battery.model, "class_names", None)
        check_class_names(names, record.logits.shape[1])
        check_padding(battery, first_batches(sharded.shards, shards))
