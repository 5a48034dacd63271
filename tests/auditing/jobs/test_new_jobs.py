"""What a new job does with its examples, which may be made anew each time they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.run_job import ExampleSource, run_job
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.core.contract import Batch
from attnaudit.data.splits import Example
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.training.run_examples import EXAMPLES


class CountedExamples(Sequence[Example]):
    """Examples that count how often they are gone through."""

    def __init__(self, count: int) -> None:
        self.times = 0
        self._examples = [Example(f"test/{n}", ("a", "b"), label=n % 2) for n in range(count)]

    def __len__(self) -> int:
        return len(self._examples)

    def __getitem__(self, index: Any) -> Any:
        return self._examples[index]

    def __iter__(self) -> Iterator[Example]:
        self.times += 1
        return iter(self._examples)


def to_batches(examples: Sequence[Example]) -> list[Batch]:
    ids = tuple(example.example_id for example in examples)
    return [replace(glass_batch(len(examples)), example_id=ids)]


def audit_of(examples: Sequence[Example], store: JobStore, scratch: Path) -> None:
    run_job(
        store,
        Battery(Glass("oracle"), find_audits(["permutation"]), find_measures(["gradient"])),
        ExampleSource(examples, EXAMPLES, to_batches, tokens_per_shard=12),
        scratch,
        identity={},
        show_progress=False,
    )


def test_a_new_job_goes_through_its_examples_once(tmp_path: Path) -> None:
    store, examples = JobStore(tmp_path / "job"), CountedExamples(12)
    # Of a process that was killed before it had begun its job.
    store.write("examples/0000009.parquet", b"")
    audit_of(examples, store, tmp_path)
    assert examples.times == 1
    assert store.names("examples") == {"0000000.parquet", "0000001.parquet"}


def test_a_continued_job_compares_its_examples_before_it_stores_them(tmp_path: Path) -> None:
    store, examples = JobStore(tmp_path / "job"), CountedExamples(12)
    audit_of(examples, store, tmp_path)
    audit_of(examples, store, tmp_path)
    assert examples.times == 3
