"""Run an audit shard by shard: finished parts are kept, and any process may do any shard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from attnaudit.auditing.battery import Battery, read
from attnaudit.auditing.example_store import choose_examples
from attnaudit.auditing.jobs.example_files import ExampleIndex
from attnaudit.auditing.jobs.job import PLAN, finished_shards, is_current, part_name
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.part_file import part_bytes
from attnaudit.auditing.jobs.sealed_json import sealed, unsealed
from attnaudit.auditing.jobs.shards import Shards
from attnaudit.audits.data_options import (
    bind_data_options,
    compute_data_options,
    data_options_from_json,
    data_options_to_json,
)
from attnaudit.core import progress
from attnaudit.core.errors import WorkError
from attnaudit.core.interruption import Interrupted
from attnaudit.core.module_state import evaluating
from attnaudit.core.notices import notice
from attnaudit.core.tasks import Outcome, Task, Workers, run_tasks
from attnaudit.core.thread_limits import torch_threads


class AuditInterrupted(Interrupted):
    """Ctrl-C or SIGTERM during an audit."""

    def __init__(self, stop: Interrupted, kept: int, shards: int, store: JobStore) -> None:
        super().__init__(stop.exit_code - 128)
        self._text = str(stop)
        if kept and not store.is_temporary:
            self._text = (
                f"interrupted: {kept} of {shards} parts are finished and kept in {store.address}. "
                "The same command goes on from there."
            )

    def __str__(self) -> str:
        return self._text


@dataclass(frozen=True)
class ShardedAudit:
    """What a process needs to audit any shard of a job.

    Parameters
    ----------
    job : its id.
    store : the folder of the job.
    battery : the model with its audits and measures, without what depends on all examples.
    shards : the examples.
    """

    job: str
    store: JobStore
    battery: Battery
    shards: Shards

    def plan(self, index: ExampleIndex, keep_examples: int | None) -> None:
        """Compute and store what depends on all examples, unless it is there."""
        with suppress(OSError, ValueError):  # there is none, or it is damaged
            unsealed(self.store.read(PLAN))
            return
        battery = self.battery
        with evaluating(battery.model, device=battery.device):
            options = compute_data_options(
                battery.audits,
                lambda: (
                    read(battery.model, batch, battery.device)
                    for shard in range(index.shards)
                    for batch in self.shards.batches(shard)
                ),
            )
        kept = choose_examples(index.ids, index.labels, index.tokens, keep_examples, battery.seed)
        plan = {"data_options": data_options_to_json(options), "kept": sorted(kept)}
        self.store.write(PLAN, sealed(plan))

    def planned(self) -> ShardedAudit:
        """The same with what `plan` has stored."""
        plan = unsealed(self.store.read(PLAN))
        options = data_options_from_json(plan["data_options"])
        audits = bind_data_options(self.battery.audits, options)
        battery = replace(self.battery, audits=audits, kept=frozenset(plan["kept"]))
        return replace(self, battery=battery)

    def do(self, shard: int, advance: Callable[[int], None] | None = None) -> None:
        """Audit one shard and store its part, unless the job has ended meanwhile."""
        collector = self.battery.run(self.shards.batches(shard), advance)
        if is_current(self.store, self.job):
            self.store.write(part_name(self.job, shard), part_bytes(collector))

    def run(
        self,
        index: ExampleIndex,
        *,
        workers: Workers = Workers(),  # noqa: B008  # frozen
        task: Callable[[str, int], Task] | None = None,
        show_progress: bool = True,
    ) -> None:
        """Do every shard that is not done.

        Parameters
        ----------
        index : of the examples.
        workers : where; in this process by default.
        task : (id of the job, shard) -> what a worker does for it, if there are any.
        """
        done = finished_shards(self.store, self.job)
        missing = [shard for shard in range(index.shards) if shard not in done]
        if done:
            kept = index.shards - len(missing)
            notice(f"continuing: {kept} of {index.shards} parts were finished before")
        if not missing:
            return
        try:
            if workers.in_this_process or task is None:
                self._run_here(index, missing, show_progress, workers.threads)
            else:
                tasks = [task(self.job, shard) for shard in missing]
                _run_by_workers(tasks, index, workers, show_progress)
        except Interrupted as stop:
            kept = len(finished_shards(self.store, self.job))
            raise AuditInterrupted(stop, kept, index.shards, self.store) from None

    def _run_here(
        self, index: ExampleIndex, missing: Sequence[int], show: bool, threads: int | None
    ) -> None:
        share = len(missing) / index.shards
        total = round(len(index.ids) * share)
        with torch_threads(threads), progress.bar("Auditing", total, show=show) as advance:
            for place, shard in enumerate(missing):
                note = f"part {place + 1} of {len(missing)}"
                self.do(shard, lambda count, note=note: advance(note, count))  # type: ignore[misc]


def _run_by_workers(
    tasks: Sequence[Task], index: ExampleIndex, workers: Workers, show: bool
) -> None:
    failed: list[Outcome] = []
    with progress.bar("Auditing", len(tasks), show=show) as advance:
        for outcome in run_tasks(tasks, workers):
            if outcome.error is not None:
                failed.append(outcome)
            else:
                advance(f"{index.shards - len(tasks) + len(failed)} parts were there", 1)
    if failed:
        raise WorkError(
            f"{len(failed)} of {index.shards} parts could not be made; the others are kept. The "
            f"first: {failed[0].error}. The same command goes on from there."
        )
