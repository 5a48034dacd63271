"""Citations audited part by part: killed at any moment and shared by processes, the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from attnaudit import Workers
from attnaudit.auditing.cite_files import cite_files
from attnaudit.auditing.jobs.citation_examples import QUESTIONS, SizedQuestion
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.core.errors import InputError
from attnaudit.data.citations import CitationExample, simulate
from attnaudit.measures.citations.attention import attention
from dask_cluster import DaskCluster
from loaded_process import LoadedCommand, kill_group
from tiny_generation import EXAMPLES, tiny_generator

ROOT = Path(__file__).parents[3]
Inputs = tuple[Path, Path]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """A tiny saved Llama and a file of 16 questions, some of them without an answer."""
    folder = tmp_path_factory.mktemp("model")
    model = tiny_generator("llama")
    model.model.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    data = tmp_path_factory.mktemp("data") / "qa.jsonl"
    with data.open("w", encoding="utf-8") as stream:
        for number in range(16):
            row = asdict(EXAMPLES[number % 2]) | {"id": f"q{number}"}
            row["sources"] = [*row["sources"], "a bad film"][: 2 + number % 3]
            row["gold"] = [0] if number % 2 else None
            row["answer"] = row["answer"] if number % 4 else None
            for name in ("example_id", "where", "span"):
                del row[name]
            stream.write(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n")
    return folder, data


@pytest.fixture(scope="module")
def few(inputs: Inputs) -> Inputs:
    """The first eight of the questions."""
    folder, data = inputs
    path = data.with_name("few.jsonl")
    path.write_text("".join(data.read_text(encoding="utf-8").splitlines(True)[:8]), "utf-8")
    return folder, path


def cited(inputs: Inputs, out: Path, **options: Any) -> bytes:
    cite_files(*inputs, out=out, **{"choose": 2, "tokens_per_shard": 30, **options})
    return (out / "values.parquet").read_bytes() + (out / "examples.parquet").read_bytes()


def test_processes_and_a_cluster_give_the_bytes_of_one_process(
    few: Inputs, cluster: DaskCluster, tmp_path: Path
) -> None:
    alone = cited(few, tmp_path / "alone")
    assert cited(few, tmp_path / "two", workers=Workers(2, threads=1)) == alone
    on_cluster = Workers(scheduler=cluster.address, threads=1)
    assert cited(few, tmp_path / "cluster", workers=on_cluster) == alone
    assert not list(tmp_path.glob("*.parts"))
    assert cited(few, tmp_path / "other", seed=1) != alone


def test_two_processes_audit_both_levels_with_the_bytes_of_one(
    inputs: Inputs, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"items": "both", "sample": 6, "word_measures": ["leave_one_out"]}
    alone = cited(inputs, tmp_path / "alone", choose=0, **options)
    assert cited(inputs, tmp_path / "two", choose=0, workers=Workers(2, threads=1), **options) == (
        alone
    )


@pytest.fixture(scope="module")
def undisturbed(inputs: Inputs, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    return cited(inputs, out, choose=0, tokens_per_shard=None)


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_in_the_middle_the_same_command_finishes_with_the_same_bytes(
    inputs: Inputs, undisturbed: bytes, tmp_path: Path, workers: int
) -> None:
    out, parts = tmp_path / "out", tmp_path / "kept"
    words: list[object] = ["cite", inputs[0], "--data", inputs[1], "--out", out]
    words += ["--workers", workers, "--threads", 1, "--parts", parts]
    process = LoadedCommand(*words)
    finished: set[str] = set()
    while not finished and process.poll() is None:
        finished = JobStore(parts).names("parts") if parts.exists() else set()
        time.sleep(0.002)
    kill_group(process)
    assert finished
    assert not out.exists()
    if workers == 1:  # in an interpreter of its own, as a user gives it
        command = [sys.executable, "-m", "attnaudit", *map(str, words)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        again = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        said = again.stderr
    else:
        again_loaded = LoadedCommand(*words)
        _, said = again_loaded.communicate(timeout=300)
        assert again_loaded.returncode == 0, said
    assert "parts were finished before" in said
    made = (out / "values.parquet").read_bytes() + (out / "examples.parquet").read_bytes()
    assert made == undisturbed
    assert not parts.exists()


def test_questions_are_stored_whole() -> None:
    whole = CitationExample("a", ("one", "två\n"), "why?", "one two", (1,), "two", "file, line 3")
    for example in (whole, *simulate(2), CitationExample("b", ("x",), "y?", "z")):
        row = QUESTIONS.to_columns(SizedQuestion(example, 7))
        assert list(row) == QUESTIONS.schema.names
        assert QUESTIONS.from_columns(row) == SizedQuestion(example, 7)


def test_workers_cannot_be_given_functions(inputs: Inputs, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'Name it: "package\.module:function"'):
        cited(inputs, tmp_path / "out", measures=[attention], workers=2)
