"""A grid gives what `run` gives, once, whatever fails, is killed or runs at the same time."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.tasks import Workers
from attnaudit.results import store
from attnaudit.results.checksums import read_mark, verify_folder
from attnaudit.results.run_names import run_name
from attnaudit.training import grid, run, status
from attnaudit.training import runner as runner_module
from attnaudit.training.grids.ledger import Ledger
from attnaudit.training.run_lock import working_on
from tiny_grids import DATASET, TINY, tables

HERE = "tiny_grids"


@pytest.fixture(scope="module")
def plain_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """values.parquet of the four runs, each made by `run`."""
    out = tmp_path_factory.mktemp("plain")
    for encoder in ("average", "mlp"):
        for seed in (0, 1):
            run(
                DATASET,
                out=out,
                encoder=encoder,
                seed=seed,
                epochs=1,
                audits=("uniform_attention",),
                measures=("random",),
                show_progress=False,
            )
    return tables(out)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_grid_equals_the_runs_one_by_one(
    tmp_path: Path, plain_runs: dict[str, bytes], workers: int
) -> None:
    made = grid(TINY, tmp_path, workers=Workers(workers, threads=1), show_progress=False)
    assert [cell.state for cell in made.cells] == ["done"] * 4
    assert tables(tmp_path) == plain_runs
    assert all(verify_folder(cell.folder).startswith("whole") for cell in made.cells if cell.folder)


def test_a_second_call_trains_nothing_and_knows_plain_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[int] = []
    fit = runner_module.fit

    def counted(*arguments: Any, **options: Any) -> Any:
        trained.append(1)
        return fit(*arguments, **options)

    monkeypatch.setattr(runner_module, "fit", counted)
    run(
        DATASET,
        out=tmp_path,
        encoder="mlp",
        seed=1,
        epochs=1,
        audits=("uniform_attention",),
        measures=("random",),
        show_progress=False,
    )
    assert len(trained) == 1
    grid(TINY, tmp_path, show_progress=False)
    assert len(trained) == 4
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.parquet")}
    made = grid(TINY, tmp_path, show_progress=False)
    assert len(trained) == 4
    assert len(made.of("done")) == 4
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/*.parquet")} == before


def test_a_base_is_trained_once_for_its_interventions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[str] = []
    body = runner_module.prepare

    def counted(experiment: Any, splits: Any, out: Path) -> Any:
        trained.append(run_name(experiment.choices()))
        return body(experiment, splits, out)

    monkeypatch.setattr(runner_module, "prepare", counted)
    spec = {
        **TINY,
        "encoders": ["average"],
        "seeds": [0],
        "interventions": ["uniform", "seeds:count=2", "adversarial:lams=0.1,seeds=2"],
    }
    made = grid(spec, tmp_path, show_progress=False)
    assert [cell.state for cell in made.cells] == ["done"] * 4
    # The base, uniform attention, seed 1 (for two interventions) and one twin.
    assert len(trained) == len(set(trained)) == 4
    grid(spec, tmp_path, show_progress=False)
    assert len(trained) == 4
    for cell in made.cells[1:]:
        assert cell.folder is not None
        assert (cell.folder / "intervention.json").is_file()
        assert cell.folder.name == cell.name


def test_a_failed_cell_is_recorded_and_the_others_go_on(tmp_path: Path) -> None:
    spec = {
        **TINY,
        "encoders": ["average"],
        "datasets": [DATASET, f"{HERE}:failing"],
        "interventions": ["uniform"],
    }
    del spec["dataset"]
    made = grid(spec, tmp_path, show_progress=False)
    assert [cell.state for cell in made.cells] == ["done"] * 4 + ["failed", "not run"] * 2
    failed, not_run = made.cells[4:6]
    assert failed.error == "InputError: The disk of this dataset is on fire."
    assert failed.log is not None
    assert "Traceback" in failed.log.read_text()
    assert not_run.error == f"its base failed: {failed.label}"
    assert made.failed == made.cells[4:]
    assert [cell.state for cell in status(tmp_path).cells] == [cell.state for cell in made.cells]


def test_failed_cells_run_again_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = f"{HERE}:failing"
    spec = {**TINY, "encoders": ["average"], "interventions": ["uniform"], "dataset": dataset}
    assert len(grid(spec, tmp_path, show_progress=False).failed) == 4

    import tiny_grids
    from attnaudit.data import load

    monkeypatch.setattr(tiny_grids, "failing", lambda *, seed=0: load(DATASET))
    again = grid(spec, tmp_path, show_progress=False)
    assert len(again.failed) == 4
    assert store.find_runs([tmp_path]) == [tmp_path]  # no run at all
    only_failed = {**spec, "seeds": [0, 1, 2]}
    made = grid(only_failed, tmp_path, retry_failed=True, show_progress=False)
    assert [cell.state for cell in made.cells] == ["done"] * 4 + ["waiting"] * 2
    assert made.failed == ()
    assert len(grid(only_failed, tmp_path, show_progress=False).of("done")) == 6
    assert not list((tmp_path / "grid" / "cells").glob("*.log"))


def test_a_cell_that_kills_its_worker_every_time_fails(
    tmp_path: Path, plain_runs: dict[str, bytes]
) -> None:
    spec = {**TINY, "include": [{"dataset": f"{HERE}:deadly", "encoder": "average", "seed": 0}]}
    made = grid(spec, tmp_path, workers=Workers(2, threads=1), show_progress=False)
    assert [cell.state for cell in made.cells] == ["done"] * 4 + ["failed"]
    assert "worker died (3 attempts)" in str(made.cells[4].error)
    assert tables(tmp_path) == plain_runs
    assert status(tmp_path).cells[4].state == "failed"


def test_a_dry_run_writes_nothing_and_estimates(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    made = grid(TINY, out, dry_run=True)
    assert not out.exists()
    assert [cell.state for cell in made.cells] == ["waiting"] * 4
    assert made.source == "defaults"
    assert made.seconds_left == pytest.approx(sum(cell.expected or 0 for cell in made.cells))
    grid({**TINY, "seeds": [0]}, out, show_progress=False)
    made = grid(TINY, out, dry_run=True)
    assert [cell.state for cell in made.cells] == ["done", "waiting", "done", "waiting"]
    assert made.source == "measured"
    seconds = [store.read_run(folder)["seconds"] for folder in store.find_runs([out])]
    # The same dataset, encoder and audits, so the same time.
    assert made.seconds_left == pytest.approx(sum(sum(each.values()) for each in seconds))


def test_data_that_has_changed_is_a_cell_to_run_again(tmp_path: Path) -> None:
    file, out = tmp_path / "reviews.csv", tmp_path / "runs"

    def write(word: str) -> None:
        names = [
            a + b for a in "bcdfgklm" for b in ("ab", "ec", "id", "of", "un", "ar", "es", "il")
        ]
        lines = [f"{word if n % 2 else 'bad'} film {name},{n % 2}" for n, name in enumerate(names)]
        file.write_text("text,label\n" + "\n".join(lines) + "\n")

    spec = {**TINY, "dataset": str(file), "encoders": ["average"], "seeds": [0]}
    spec["interventions"] = ["uniform"]
    write("good")
    first = grid(spec, out, show_progress=False)
    assert grid(spec, out, show_progress=False).cells[0].folder == first.cells[0].folder
    write("fine")
    # The base by itself: the findings of the intervention are still about the old data.
    choices = {"encoder": "average", "epochs": 1, "show_progress": False}
    run(str(file), out=out, audits=("uniform_attention",), measures=("random",), **choices)
    second = grid(spec, out, show_progress=False)
    assert [cell.state for cell in second.cells] == ["done", "done"]
    assert second.cells[0].folder != first.cells[0].folder
    now = store.read_run(Path(str(second.cells[0].folder)))["data"]["fingerprint"]
    assert now != store.read_run(Path(str(first.cells[0].folder)))["data"]["fingerprint"]
    compared = read_mark(Path(str(second.cells[1].folder)) / "intervention.json")["runs"]
    assert compared[0] == Path(str(second.cells[0].folder)).name
    third = grid(spec, out, show_progress=False)
    assert [cell.folder for cell in third.cells] == [cell.folder for cell in second.cells]


def test_status_tells_running_from_interrupted(tmp_path: Path) -> None:
    grid({**TINY, "seeds": [0]}, tmp_path, show_progress=False)
    spec = {**TINY, "seeds": [0, 1]}
    grid({**spec, "seeds": [1]}, tmp_path, dry_run=True)
    ledger = Ledger(tmp_path)
    from attnaudit.training.grids.cells import expand
    from attnaudit.training.grids.spec import read_spec

    cells = expand(read_spec(spec))
    ledger.write_list([cell.listed() for cell in cells], 2)
    assert [cell.state for cell in status(tmp_path).cells] == ["done", "waiting"] * 2
    with working_on(tmp_path / cells[1].name):
        time.sleep(0.01)
        running = status(tmp_path).cells[1]
        assert running.state == "running"
        assert running.seconds is not None
        assert running.seconds > 0
        left = (tmp_path / ".attnaudit-running" / cells[1].name).read_text()
    assert not (tmp_path / ".attnaudit-running").exists()
    (tmp_path / ".attnaudit-running").mkdir()
    (tmp_path / ".attnaudit-running" / cells[1].name).write_text(left)  # as after SIGKILL
    assert status(tmp_path).cells[1].state == "interrupted"


def test_a_disk_that_is_too_full_for_notes_does_not_end_the_grid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    spec = {**TINY, "encoders": ["average"], "datasets": [DATASET, f"{HERE}:failing"]}
    del spec["dataset"]
    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "record", full)
        made = grid(spec, tmp_path, show_progress=False)
    assert sorted(cell.state for cell in made.cells) == ["done", "done", "failed", "failed"]
    assert caplog.text.count("could not be noted ([Errno 28] No space left on device)") == 4
    assert all(cell.log is None for cell in made.cells)
    before = tables(tmp_path)
    again = grid(spec, tmp_path, show_progress=False)  # there is room again
    assert sorted(cell.state for cell in again.cells) == ["done", "done", "failed", "failed"]
    assert tables(tmp_path) == before
    assert all(cell.log is not None for cell in again.cells if cell.state == "failed")
