"""Tasks have the same outcomes in this process, in worker processes and on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

import task_functions
from attnaudit.core.errors import InputError
from attnaudit.core.interruption import Interrupted
from attnaudit.core.tasks import Outcome, Task, Workers, run_tasks

WHERE = ("here", "processes", "dask")
ELSEWHERE = ("processes", "dask")
MakeWorkers = Callable[..., Workers]


@pytest.fixture
def workers(where: str, request: pytest.FixtureRequest) -> MakeWorkers:
    if where == "dask":
        address = request.getfixturevalue("cluster").address
        return lambda **options: Workers(scheduler=address, **options)
    count = {"here": 1, "processes": 2}[where]
    return lambda **options: Workers(count, **options)


def doubles(count: int) -> Iterator[Task]:
    return (Task(f"double {n}", task_functions.double, (n,)) for n in range(count))


def by_key(outcomes: Iterator[Outcome]) -> dict[str, Outcome]:
    found = list(outcomes)
    assert len({outcome.key for outcome in found}) == len(found)
    return {outcome.key: outcome for outcome in found}


def all_doubled(outcomes: dict[str, Outcome], count: int) -> bool:
    return all(
        outcomes[f"double {n}"].value == 2 * n and outcomes[f"double {n}"].error is None
        for n in range(count)
    )


@pytest.mark.parametrize("where", WHERE)
def test_values_and_errors_are_the_same_everywhere(workers: MakeWorkers) -> None:
    started: list[str] = []
    tasks = [
        *doubles(8),
        Task("fails", task_functions.fail, ("two\nlines",)),
        Task("leaves", task_functions.leave, ()),
    ]
    outcomes = by_key(run_tasks(tasks, workers(), on_start=started.append))
    assert len(outcomes) == 10
    assert all_doubled(outcomes, 8)
    failed = outcomes["fails"]
    assert (failed.value, failed.error) == (None, "InputError: two lines")
    assert "task_functions.py" in str(failed.traceback)
    assert outcomes["leaves"].error == "SystemExit: enough"
    assert {outcome.attempts for outcome in outcomes.values()} == {1}
    assert all(0 <= outcome.seconds < 5 for outcome in outcomes.values())
    assert sorted(started) == sorted(outcomes)


@pytest.mark.parametrize(
    ("where", "count", "limit"), [("here", 5000, 1), ("processes", 1000, 2), ("dask", 300, 100)]
)
def test_few_tasks_are_taken_at_a_time(workers: MakeWorkers, count: int, limit: int) -> None:
    taken = returned = most = 0

    def counted() -> Iterator[Task]:
        nonlocal taken, most
        for task in doubles(count):
            taken += 1
            most = max(most, taken - returned)
            yield task

    for outcome in run_tasks(counted(), workers()):
        returned += 1
        assert outcome.error is None
    assert returned == count
    assert 0 < most <= limit


@pytest.mark.parametrize("where", ELSEWHERE)
@pytest.mark.parametrize(
    ("function", "arguments"), [("end_process", (3,)), ("kill_process", ())], ids=str
)
def test_a_task_that_always_kills_its_worker_fails_alone(
    workers: MakeWorkers, where: str, function: str, arguments: tuple[int, ...]
) -> None:
    tasks = list(doubles(30))
    tasks.insert(2, Task("killer", getattr(task_functions, function), arguments))
    outcomes = by_key(run_tasks(tasks, workers()))
    assert len(outcomes) == 31
    assert all_doubled(outcomes, 30)
    killer = outcomes["killer"]
    # Dask: two, as the cluster of the tests is set, and two more without other tasks around
    attempts = {"processes": 3, "dask": 4}[where]
    assert str(killer.error).startswith(f"worker died ({attempts} attempts): ")
    assert (killer.value, killer.attempts) == (None, attempts)


@pytest.mark.parametrize("where", ELSEWHERE)
def test_a_task_whose_worker_dies_once_is_started_again(
    workers: MakeWorkers, tmp_path: Path
) -> None:
    file = tmp_path / "attempts"
    tasks = [*doubles(5), Task("again", task_functions.die_once, (str(file),)), *doubles(0)]
    outcomes = by_key(run_tasks(tasks, workers()))
    assert all_doubled(outcomes, 5)
    again = outcomes["again"]
    assert (again.value, again.error, again.attempts) == (2, None, 2)
    assert len(set(file.read_text(encoding="utf-8").splitlines())) == 2  # two processes


@pytest.mark.parametrize("where", WHERE)
def test_threads_per_process_are_as_asked(workers: MakeWorkers, where: str) -> None:
    before = torch.get_num_threads()
    tasks = [Task("threads", task_functions.torch_thread_count, ())]
    (outcome,) = run_tasks(tasks, workers(threads=3))
    assert outcome.value[0] == 3
    assert torch.get_num_threads() == before
    if where == "processes":
        assert outcome.value[1] == "3"


@pytest.mark.parametrize("where", ELSEWHERE)
def test_what_cannot_be_sent_back_is_an_error(workers: MakeWorkers) -> None:
    tasks = [Task("function", task_functions.give_function, ()), *doubles(2)]
    outcomes = by_key(run_tasks(tasks, workers()))
    assert all_doubled(outcomes, 2)
    if outcomes["function"].value is None:  # Dask can send it
        assert "lambda" in str(outcomes["function"].error)


def test_an_interruption_in_a_task_is_not_an_outcome() -> None:
    with pytest.raises(Interrupted):
        list(run_tasks([Task("interrupted", _interrupt, ())], Workers()))


def _interrupt() -> None:
    raise Interrupted(2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "number of workers must be at least 1, not 0"),
        ({"threads": 0}, "number of threads must be at least 1, not 0"),
        ({"count": 2, "scheduler": "tcp://127.0.0.1:1"}, "Give one of the two"),
        ({"resources": {"GPU": 1}}, "need a scheduler"),
    ],
)
def test_workers_that_make_no_sense_are_rejected(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Workers(**options)  # type: ignore[arg-type]
