"""Run directories: complete or not at all, the same for the same seed, read back as written."""

from __future__ import annotations

import json
import math
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import attnaudit
from attnaudit.auditing.audit import audit
from attnaudit.core.errors import InputError, OutputError
from attnaudit.data import load as load_dataset
from attnaudit.data.batching import batches_of
from attnaudit.data.reading.fingerprint import fingerprint
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results import checksums, store
from attnaudit.results.checksums import json_safe
from attnaudit.results.run_names import run_name
from attnaudit.training.checkpoint import load
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.runner import run_experiment
from finished_runs import edit_run

DATASET = "keyword:train=300,dev=60,test=40,length=8,jitter=2,distractors=1"


def cell(seed: int = 0) -> ExperimentConfig:
    return make_experiment(DATASET, encoder="bilstm:hidden=8", embedding=8, epochs=1, seed=seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_experiment(cell(), tmp_path_factory.mktemp("runs"), show_progress=False)


def copied(folder: Path, out: Path) -> Path:
    """The run below `out`, for a test that changes its files."""
    return Path(shutil.copytree(folder, out / folder.name))


def test_a_run_holds_what_the_documentation_lists(folder: Path) -> None:
    expected = {
        "card.json",
        "examples.parquet",
        "model.safetensors",
        "run.json",
        "run.log",
        "summary.parquet",
        "values.parquet",
        "vocabulary.json",
    }
    assert {each.name for each in folder.iterdir()} == expected
    columns = list(pd.read_parquet(folder / "values.parquet").columns)
    assert columns[:4] == ["example_id", "label", "predicted", "length"]
    assert "agreement|gradient|tau|0" in columns[4:]


def test_the_same_seed_gives_bit_identical_values(folder: Path, tmp_path: Path) -> None:
    again = run_experiment(cell(), tmp_path, show_progress=False)
    assert again.name == folder.name
    assert (again / "values.parquet").read_bytes() == (folder / "values.parquet").read_bytes()
    other = run_experiment(cell(seed=1), tmp_path, show_progress=False)
    assert other.name != folder.name
    assert (other / "values.parquet").read_bytes() != (folder / "values.parquet").read_bytes()


def test_a_folder_of_runs_in_place_of_a_run_is_named_with_one_of_them(folder: Path) -> None:
    with pytest.raises(InputError, match=rf"1 finished ones\. Give one, such as {folder}\."):
        store.read_run(folder.parent)


def test_a_complete_run_is_not_run_again(folder: Path) -> None:
    before = (folder / "run.json").stat().st_mtime_ns
    assert run_experiment(cell(), folder.parent, show_progress=False) == folder
    assert (folder / "run.json").stat().st_mtime_ns == before


def test_load_gives_model_and_results_back(folder: Path) -> None:
    run = attnaudit.load(folder)
    splits = load_dataset(DATASET)
    batches = batches_of(splits.test, run.vocabulary, 2)
    fresh = audit(
        run.model,
        batches,
        class_names=splits.classes,
        words=run.vocabulary.words,
        show_progress=False,
    )
    pd.testing.assert_frame_equal(fresh.values, run.results.values)
    # The card names the interface that made it, so a fresh audit in Python must know of the run.
    same_interface = replace(fresh, about={**fresh.about, "run": run.results.about["run"]})
    assert str(same_interface.card()) == str(run.results.card())
    assert not run.model.training


def test_the_stored_card_is_the_card(folder: Path) -> None:
    stored = json.loads((folder / "card.json").read_text())
    assert stored == json.loads(json.dumps(json_safe(load(folder).results.card().as_dict())))
    assert "--other-seeds" in stored["questions"][4]["because"]


@pytest.mark.parametrize("stage", ["examples.parquet", "card.json", "run.json"])
def test_a_failed_run_never_looks_complete(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = audit(Glass("oracle"), glass_batch(8), show_progress=False)
    results.save(tmp_path / "run")
    assert store.is_complete(tmp_path / "run")
    real_write, real_parquet = store.write_json, pd.DataFrame.to_parquet

    def fail(path: Path) -> None:
        if Path(path).name == stage:
            raise OSError(28, "No space left on device")

    def parquet(self: pd.DataFrame, path: Path, **options: object) -> None:
        fail(path)
        real_parquet(self, path, **options)

    def write(path: Path, content: object) -> None:
        fail(path)
        real_write(path, content)

    monkeypatch.setattr(pd.DataFrame, "to_parquet", parquet)
    for module in (store, checksums):
        monkeypatch.setattr(module, "write_json", write)
    other = audit(Glass("inert"), glass_batch(8), show_progress=False)
    for target in ("run", "new"):
        with pytest.raises(
            OutputError, match=r"No space left on device\. The results could not be kept elsewhere"
        ):
            other.save(tmp_path / target, force=True)
    # The old results are still whole, nothing new has appeared, and no draft is left.
    pd.testing.assert_frame_equal(store.load_results(tmp_path / "run").values, results.values)
    assert [each.name for each in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("damage", ["{", "[]", '{"format": 99}'])
def test_a_damaged_or_foreign_run_is_not_complete_and_is_run_again(
    damage: str, folder: Path, tmp_path: Path
) -> None:
    made = copied(folder, tmp_path)
    whole = (made / "run.json").read_text()
    (made / "run.json").write_text(damage)
    with pytest.raises(InputError, match="missing, damaged or of another version"):
        store.load_results(made)
    run_experiment(cell(), tmp_path, show_progress=False)
    assert json.loads((made / "run.json").read_text())["choices"] == json.loads(whole)["choices"]
    (made / "values.parquet").unlink()
    with pytest.raises(InputError, match=r"has lost values.parquet"):
        store.load_results(made)


def test_a_run_that_names_foreign_code_is_not_loaded_unless_trusted(
    folder: Path, tmp_path: Path
) -> None:
    made = copied(folder, tmp_path)
    edit_run(
        made, lambda details: details["model"].update(projection="subprocess:call:args=touch pwned")
    )
    with pytest.raises(InputError, match=r"code from outside: subprocess:call.*trust_code=True"):
        load(made)


def test_a_rejected_run_leaves_nothing_behind(tmp_path: Path) -> None:
    for wrong in ({"encoder": "bilstm:hiden=3"}, {"audits": ("furthest:epsilom=0.1",)}):
        with pytest.raises(InputError, match="has no option"):
            run_experiment(
                make_experiment(DATASET, **wrong), tmp_path / "runs", show_progress=False
            )
    with pytest.raises(InputError, match="the test split is empty"):
        run_experiment(
            make_experiment("keyword:train=50,dev=10,test=0"),
            tmp_path / "runs",
            show_progress=False,
        )
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_results_without_a_model_read_back_too(tmp_path: Path) -> None:
    results = audit(Glass("shifted"), glass_batch(8), show_progress=False)
    back = store.load_results(results.save(tmp_path / "glass"))
    pd.testing.assert_frame_equal(back.values, results.values)
    pd.testing.assert_frame_equal(back.summaries, results.summaries)
    with pytest.raises(InputError, match="results without a model"):
        load(tmp_path / "glass")


def test_nan_is_stored_not_dropped(tmp_path: Path) -> None:
    batch = glass_batch(8)
    one_word = batch.without(torch.arange(batch.tokens.shape[1]) > 0)
    back = store.load_results(
        audit(Glass("oracle"), one_word, show_progress=False).save(tmp_path / "x")
    )
    taus = back.values.query("audit == 'agreement' and metric == 'tau' and measure == 'gradient'")
    assert len(taus) == 8
    assert np.isnan(taus["value"]).all()
    line = (
        back.summary()
        .query("audit == 'agreement' and metric == 'tau' and measure == 'gradient'")
        .iloc[0]
    )
    assert line["nan_share"] == 1.0


def test_an_impossible_folder_is_rejected_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=r"Cannot write to .* Give another folder"):
        run_experiment(cell(), tmp_path / "file", show_progress=False)


def test_run_names_depend_on_every_choice() -> None:
    names = {
        run_name(made.choices())
        for made in (
            cell(),
            cell(1),
            make_experiment(DATASET),
            make_experiment("keyword", learning_rate=0.1),
        )
    }
    assert len(names) == 4


def test_the_fingerprint_sees_one_changed_word() -> None:
    first, again, other = (load_dataset(DATASET, seed=seed) for seed in (0, 0, 1))
    assert fingerprint(first) == fingerprint(again) != fingerprint(other)


def test_runs_are_found_in_folders_and_unfinished_ones_left_out(folder: Path) -> None:
    (folder.parent / "unfinished").mkdir(exist_ok=True)
    assert store.find_runs([folder.parent]) == [folder]
    assert store.find_runs([folder]) == [folder]


def test_other_trainings_lie_apart_and_are_no_runs_of_their_own(tmp_path: Path) -> None:
    cell = make_experiment(
        "keyword:train=20,dev=4,test=12",
        epochs=1,
        other_seeds=2,
        audits=("permutation",),
        measures=("random",),
    )
    folder = run_experiment(cell, tmp_path, show_progress=False)
    assert store.find_runs([tmp_path]) == [folder]
    apart = store.find_runs([tmp_path / "other_seeds"])
    assert [store.read_run(each)["choices"]["seed"] for each in apart] == [1, 2]
    assert not math.isnan(load(folder).results.mean("stability", "jsd"))


def test_a_folder_of_results_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    old = os.umask(0o027)
    try:
        small = replace(cell(), audits=("permutation",), measures=("random",))
        folder = run_experiment(small, tmp_path, show_progress=False)
    finally:
        os.umask(old)
    assert folder.stat().st_mode & 0o777 == 0o750
    assert {each.stat().st_mode & 0o777 for each in folder.iterdir()} == {0o640}
