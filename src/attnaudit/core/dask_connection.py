"""Connect to a Dask cluster that is there already, and see that its workers can be used."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from attnaudit.core.dask_worker import Offer, offer, versions
from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.core.task_outcome import describe

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 10.0
WORKER_SECONDS = 600.0  # to wait for a worker, at the start and when all are gone
_POLL_SECONDS = 0.5


@contextmanager
def connected(scheduler: str, resources: Mapping[str, float]) -> Iterator[Client]:
    """A client of a scheduler with at least one worker that offers the resources.

    The client is closed at the end, and its unfinished tasks are cancelled; the cluster stays.
    """
    client = _connect(scheduler)
    with _silent_log():
        try:
            _await_workers(client, scheduler, resources)
            yield client
        finally:
            client.close(timeout=1)


@contextmanager
def _silent_log() -> Iterator[None]:
    """Dask logs tracebacks of what is reported as an error of ours, such as a lost scheduler."""
    logs = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [log.level for log in logs]
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)


def lost(scheduler: str) -> InputError:
    """The error for a scheduler that does not answer any more."""
    return InputError(
        f"The connection to the Dask scheduler {scheduler} was lost, or it was restarted. What the "
        "workers have written is kept; start the scheduler and give the same command to go on."
    )


def no_workers(scheduler: str, resources: Mapping[str, float]) -> InputError:
    """The error for a scheduler that had no suitable worker for too long."""
    options = "".join(f" --resources {name}={amount:g}" for name, amount in resources.items())
    return InputError(
        f"{_lacking(scheduler, resources)} for {WORKER_SECONDS:g} seconds. Start one with "
        f"`dask worker {scheduler}{options}`, and give the same command again."
    )


def _lacking(scheduler: str, resources: Mapping[str, float]) -> str:
    tags = ", ".join(f"{name}={amount:g}" for name, amount in resources.items())
    return f"The Dask scheduler {scheduler} has had no worker" + (f" with {tags}" if tags else "")


def _connect(scheduler: str) -> Client:
    try:
        from distributed import Client
        from distributed.versions import VersionMismatchWarning
    except ImportError as error:
        raise InputError(
            "A Dask cluster needs the packages dask and distributed: "
            "pip install 'attnaudit[dask]', on every machine of the cluster."
        ) from error
    where: dict[str, str] = {"address": scheduler}
    if "://" not in scheduler:
        if not Path(scheduler).is_file():
            raise InputError(
                f"There is no scheduler file {scheduler!r}. A scheduler is an address such as "
                "tcp://127.0.0.1:8786, or the file of `dask scheduler --scheduler-file FILE`."
            )
        where = {"scheduler_file": scheduler}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VersionMismatchWarning)  # ours is an error, see below
            return Client(**where, timeout=CONNECT_SECONDS, set_as_default=False, name="attnaudit")
    except (OSError, ValueError) as error:  # timeouts are of OSError
        raise InputError(
            f"The Dask scheduler {scheduler} cannot be reached within {CONNECT_SECONDS:g} seconds. "
            "Is it running (`dask scheduler`), is this its address, and may this machine connect "
            "to its port?"
        ) from error


def _await_workers(client: Client, scheduler: str, resources: Mapping[str, float]) -> None:
    """Wait for one worker that offers the resources; reject workers of other versions."""
    deadline = time.monotonic() + WORKER_SECONDS
    seen: set[str] | None = None
    while True:
        try:
            present = set(client.nthreads())
            if present != seen and any(_suits(offer, resources) for offer in _offers(client)):
                return
        except OSError as error:
            raise lost(scheduler) from error
        if seen is None:
            notice(
                f"{_lacking(scheduler, resources)} so far; waiting up to "
                f"{WORKER_SECONDS:g} seconds for one."
            )
        seen = present
        if time.monotonic() > deadline:
            raise no_workers(scheduler, resources)
        time.sleep(_POLL_SECONDS)


def _offers(client: Client) -> list[Offer]:
    offers = []
    for address, answer in client.run(offer, on_error="return").items():
        if isinstance(answer, Offer):
            _check_versions(address, answer.versions)
            offers.append(answer)
        elif not isinstance(answer, OSError):  # those of OSError are just leaving
            raise InputError(
                f"The Dask worker {address} cannot run this version of attnaudit "
                f"({describe(answer)}). Install it there with pip install 'attnaudit[dask]', or "
                "use the same environment on all machines."
            )
    return offers


def _check_versions(address: str, theirs: Mapping[str, str]) -> None:
    ours = versions()
    differing = [
        f"{name} {theirs.get(name)} there, {version} here"
        for name, version in ours.items()
        if theirs.get(name) != version
    ]
    if differing:
        raise InputError(
            f"The Dask worker {address} has other versions: {'; '.join(differing)}. Results may "
            "depend on them, so use the same environment on all machines."
        )


def _suits(offered: Offer, resources: Mapping[str, float]) -> bool:
    return all(offered.resources.get(name, 0) >= amount for name, amount in resources.items())
