"""Audits shared by processes, on this machine and on a real Dask cluster: the same bytes."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch

from attnaudit import Workers, audit_files
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.run_job import parts_folder
from attnaudit.core.errors import InputError, WorkError
from attnaudit.data.text_spool import TextSpool
from attnaudit.training import run
from dask_cluster import DaskCluster, wait_until
from failing_audit import fails_on_one_text
from loaded_process import LoadedCommand, kill_group
from tiny_transformers import TEXTS, tiny

ROOT = Path(__file__).parents[3]
FAST: dict[str, Any] = {"audits": ["permutation", "agreement"], "measures": ["gradient"]}
RUN: dict[str, Any] = {
    **FAST,
    "dataset": "keyword:train=40,dev=20,test=60,length=8,jitter=2,distractors=1",
    "encoder": "average",
    "epochs": 1,
    "show_progress": False,
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A tiny saved BERT and a file of 24 texts."""
    model, tokenizer = tiny("bert", id2label={0: "bad", 1: "good", 2: "fair"})
    folder = tmp_path_factory.mktemp("model")
    model.float().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    data = tmp_path_factory.mktemp("data") / "texts.csv"
    with data.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["text", "label"])
        words = ("film", "dull", "good", "one", "liked", "bad")
        writer.writerows(
            (f"{TEXTS[n % len(TEXTS)]} {words[n % 6]}", ("bad", "good")[n % 2]) for n in range(24)
        )
    return folder, data


def audited(inputs: tuple[Path, Path], out: Path, **options: Any) -> bytes:
    given = {**FAST, "tokens_per_shard": 40, **options}
    audit_files(*inputs, out=out, **given)
    return (out / "values.parquet").read_bytes()


def test_texts_in_a_file_are_audited_as_those_in_memory(
    inputs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"sample": 20, "on_message": lambda _: None}
    in_memory = audited(inputs, tmp_path / "memory", **options)
    monkeypatch.setattr("attnaudit.data.text_spool.IN_MEMORY", 0)
    read: list[int] = []
    plain = TextSpool.read

    def counted(spool: TextSpool, start: int, size: int) -> str:
        read.append(start)
        return plain(spool, start, size)

    monkeypatch.setattr(TextSpool, "read", counted)
    assert audited(inputs, tmp_path / "file", **options) == in_memory
    assert len(set(read)) == 20  # the sample, and nothing else
    for name in ("summary.parquet", "examples.parquet"):
        files = [(tmp_path / folder / name).read_bytes() for folder in ("memory", "file")]
        assert files[0] == files[1]


def test_processes_and_a_cluster_give_the_bytes_of_one_process(
    inputs: tuple[Path, Path], cluster: DaskCluster, tmp_path: Path
) -> None:
    alone = audited(inputs, tmp_path / "alone")
    assert audited(inputs, tmp_path / "two", workers=Workers(2, threads=1)) == alone
    on_cluster = Workers(scheduler=cluster.address, threads=1)
    assert audited(inputs, tmp_path / "cluster", workers=on_cluster) == alone
    assert not list(tmp_path.glob("*.parts"))


def test_the_audit_of_a_run_is_shared_too(
    cluster: DaskCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attnaudit.training.run_audit.TOKENS_PER_SHARD", 100)
    folders = [
        run(out=tmp_path / name, workers=workers, **RUN).folder
        for name, workers in {
            "alone": Workers(),
            "two": Workers(2, threads=1),
            "cluster": Workers(scheduler=cluster.address, threads=1),
        }.items()
    ]
    first, *others = ((folder / "values.parquet").read_bytes() for folder in folders)
    assert all(other == first for other in others)


def test_a_part_that_fails_is_named_and_the_others_are_kept(
    inputs: tuple[Path, Path], tmp_path: Path
) -> None:
    audits = ["permutation", "failing_audit:fails_on_one_text"]
    out = tmp_path / "out"
    with pytest.raises(WorkError, match=r"1 of \d+ parts could not be made.*no memory left"):
        audited(inputs, out, audits=audits, workers=Workers(2, threads=1))
    parts = JobStore(parts_folder(out)).names("parts")
    assert len(parts) >= 5
    assert not out.exists()


@pytest.mark.parametrize("on_cluster", [False, True])
def test_a_part_that_kills_its_worker_every_time_fails_alone(
    inputs: tuple[Path, Path], cluster: DaskCluster, tmp_path: Path, on_cluster: bool
) -> None:
    workers = Workers(scheduler=cluster.address) if on_cluster else Workers(2, threads=1)
    audits, out = ["permutation", "failing_audit:kills_on_one_text"], tmp_path / "out"
    with pytest.raises(WorkError, match=r"1 of \d+ parts could not be made.*worker died"):
        audited(inputs, out, audits=audits, workers=workers)
    assert len(JobStore(parts_folder(out)).names("parts")) >= 5
    assert not out.exists()


def test_a_worker_of_the_cluster_killed_in_the_middle_of_a_part_changes_nothing(
    inputs: tuple[Path, Path], cluster: DaskCluster, tmp_path: Path
) -> None:
    audits = ["permutation", f"failing_audit:waits_on_one_text:folder={tmp_path}"]
    begun, out = tmp_path / "begun", tmp_path / "out"

    def kill() -> None:
        wait_until(begun.exists)
        time.sleep(0.5)
        os.kill(int(begun.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    on_cluster = Workers(scheduler=cluster.address, threads=1)
    made = audited(inputs, out, audits=audits, workers=on_cluster)
    killer.join()
    assert made == audited(inputs, tmp_path / "alone", audits=audits)


def test_a_worker_does_not_go_on_with_the_model_of_an_earlier_job(
    inputs: tuple[Path, Path], cluster: DaskCluster, tmp_path: Path
) -> None:
    model, out = tmp_path / "model", tmp_path / "out"
    shutil.copytree(inputs[0], model)
    on_cluster = Workers(scheduler=cluster.address, threads=1)
    audited((model, inputs[1]), out, workers=on_cluster)
    network, _ = tiny("bert", id2label={0: "bad", 1: "good", 2: "fair"})
    with torch.no_grad():
        network.float().classifier.weight.mul_(3)
    network.save_pretrained(model)
    changed = audited((model, inputs[1]), out, workers=on_cluster, force=True)
    assert changed == audited((model, inputs[1]), tmp_path / "alone")


def test_workers_cannot_be_given_functions(inputs: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'Name it: "package\.module:function"'):
        audited(inputs, tmp_path / "out", audits=[fails_on_one_text], workers=2)


def begin_in_new_interpreter(script: Path) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "tests")))
    return subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_while_parts_are_finished_the_same_call_ends_with_the_same_bytes(
    inputs: tuple[Path, Path], tmp_path: Path, workers: int
) -> None:
    begun, out = tmp_path / "begun", tmp_path / "out"
    audits = ["permutation", f"failing_audit:waits_on_one_text:folder={tmp_path}"]
    chosen = {**FAST, "audits": audits, "tokens_per_shard": 40}
    script = tmp_path / "script.py"
    script.write_text(
        "from attnaudit import Workers, audit_files\n"
        "if __name__ == '__main__':\n"
        f"    audit_files({str(inputs[0])!r}, {str(inputs[1])!r}, out={str(out)!r}, "
        f"workers=Workers({workers}, threads=1), **{chosen!r})\n"
    )
    process = begin_in_new_interpreter(script) if workers == 1 else LoadedCommand(module=script)
    parts = JobStore(parts_folder(out))
    enough = {1: 1, 2: 5}[workers]  # two processes: one waits at text 07, the other goes on
    wait_until(lambda: begun.exists() and len(parts.names("parts")) >= enough, process)
    kill_group(process)
    assert not out.exists()
    kept = {name: (Path(parts_folder(out)) / "parts" / name) for name in parts.names("parts")}
    before = {name: path.stat().st_mtime_ns for name, path in kept.items()}
    finished = threading.Event()
    seen: dict[str, int] = {}

    def watch() -> None:
        while not finished.wait(0.01) and not seen:
            with suppress(FileNotFoundError):
                if len(parts.names("parts")) > len(before):
                    seen.update({name: path.stat().st_mtime_ns for name, path in kept.items()})

    watcher = threading.Thread(target=watch)
    watcher.start()
    made = audited(inputs, out, audits=audits, workers=Workers(workers, threads=1))
    finished.set()
    watcher.join()
    assert seen == before
    assert made == audited(inputs, tmp_path / "alone", audits=audits)
    assert not list(tmp_path.glob("*.parts"))
