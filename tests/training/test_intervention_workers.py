"""An intervention whose models are trained at the same time, in other processes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.errors import InputError, WorkError
from attnaudit.core.tasks import Workers
from attnaudit.results.checksums import verify_folder
from attnaudit.training import intervene
from attnaudit.training.intervention_runs import InterventionOutput
from dask_cluster import DaskCluster
from loaded_process import LoadedCommand, kill_group
from tiny_grids import DATASET, tables

CHOICES: dict[str, Any] = {
    "encoder": "average",
    "embedding": 8,
    "epochs": 1,
    "audits": ("uniform_attention",),
    "measures": ("random",),
}
TWO = Workers(2, threads=1)


def made(intervention: str, out: Path, workers: Workers, **choices: Any) -> InterventionOutput:
    return intervene(
        intervention, out=out, show_progress=False, workers=workers, **{**CHOICES, **choices}
    )


def findings_bytes(output: InterventionOutput) -> dict[str, bytes]:
    """The tables of the findings."""
    return {path.name: path.read_bytes() for path in sorted(output.folder.glob("*.parquet"))}


@pytest.mark.parametrize(
    "intervention", ["seeds:count=3", "guided_mlp:lam=0.1,hidden=8", "fix_representation"]
)
def test_workers_make_the_same_bytes(tmp_path: Path, intervention: str) -> None:
    alone = made(intervention, tmp_path / "alone", Workers(threads=1), dataset=DATASET)
    shared = made(intervention, tmp_path / "shared", TWO, dataset=DATASET)
    assert tables(tmp_path / "shared") == tables(tmp_path / "alone")
    assert len(tables(tmp_path / "shared")) == len(set(shared.findings.runs))
    assert findings_bytes(shared) == findings_bytes(alone) != {}
    assert str(shared.findings) == str(alone.findings)
    # Complete runs are left as they are.
    before = {run: (run / "run.json").stat().st_mtime_ns for run in shared.findings.runs}
    again = made(intervention, tmp_path / "shared", TWO, dataset=DATASET)
    assert {run: (run / "run.json").stat().st_mtime_ns for run in again.findings.runs} == before


def test_a_dask_cluster_makes_the_same_bytes(cluster: DaskCluster, tmp_path: Path) -> None:
    alone = made("seeds:count=2", tmp_path / "alone", Workers(threads=1), dataset=DATASET)
    on_cluster = Workers(scheduler=cluster.address, threads=1)
    there = made("seeds:count=2", tmp_path / "there", on_cluster, dataset=DATASET)
    assert tables(tmp_path / "there") == tables(tmp_path / "alone")
    assert findings_bytes(there) == findings_bytes(alone)


def test_a_member_that_fails_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    # No such word: only the model that is to hide it fails, when its vocabulary is known.
    with pytest.raises(WorkError, match=r"1 of 2 models .* not in the vocabulary: nowhere") as said:
        made("deceptive:words=nowhere", tmp_path, TWO, dataset=DATASET)
    (base,) = tables(tmp_path)
    assert "The first, keyword" in str(said.value)
    assert base not in str(said.value)
    assert verify_folder(tmp_path / base).startswith("whole")
    assert made("seeds:count=2", tmp_path, TWO, dataset=DATASET).findings.runs[0].name == base


def test_wrong_choices_are_rejected_before_any_process_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no audit 'nonesuch'"):
        made("uniform", tmp_path, TWO, dataset=DATASET, audits=("nonesuch",))
    assert not tables(tmp_path)


def test_sigkill_of_all_processes_loses_no_finished_model(tmp_path: Path) -> None:
    expected = made("seeds:count=3", tmp_path / "alone", Workers(threads=1), dataset=DATASET)
    out = tmp_path / "killed"
    words = ["run", "--dataset", DATASET, "--intervention", "seeds:count=3", "--out", out]
    words += ["--encoder", "average", "--embedding", "8", "--epochs", "1"]
    words += ["--audits", "uniform_attention", "--measures", "random"]
    words += ["--workers", "2", "--threads", "1", "--quiet"]
    process = LoadedCommand(*words)
    end = time.monotonic() + 120
    while not tables(out):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.002)
    kill_group(process)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("[!.]*/values.parquet")}
    assert not list(out.glob("*/intervention.json"))
    again = LoadedCommand(*words)
    _, said = again.communicate(timeout=300)
    assert again.returncode == 0, said
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in kept.items())
    assert tables(out) == tables(tmp_path / "alone")
    name = expected.folder.name
    assert (out / name / "summary.parquet").read_bytes() == (
        expected.folder / "summary.parquet"
    ).read_bytes()
