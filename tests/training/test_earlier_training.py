"""A run with other audits uses the model of a finished run, and gives what training would give."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.sealed_json import sealed, unsealed
from attnaudit.results import store
from attnaudit.results.checksums import read_mark, write_mark
from attnaudit.training import make_experiment, run_experiment, runner
from attnaudit.training.checkpoint import fill_whole
from attnaudit.training.experiment import ExperimentConfig
from attnaudit.training.grids.costs import Costs
from attnaudit.training.trained_model import keep_training, kept_training
from attnaudit.training.trainer import History

_QUICK = {"encoder": "average:hidden=8", "embedding": 8, "epochs": 2, "measures": ("random",)}
_DATA = "keyword:train=60,dev=20,test=20"


def _experiment(audits: tuple[str, ...], **others: object) -> ExperimentConfig:
    return make_experiment(_DATA, **{**_QUICK, "audits": audits, **others})


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    return run_experiment(_experiment(("position",)), tmp_path, show_progress=False)


def _trainings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the trainings from now on."""
    seeds: list[int] = []
    fit = runner.fit

    def counted(*args: object, **options: object) -> object:
        seeds.append(options["seed"])  # type: ignore[arg-type]
        return fit(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runner, "fit", counted)
    return seeds


def test_other_audits_use_the_trained_model_and_give_the_numbers_of_a_training(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = _trainings(monkeypatch)
    other = _experiment(("permutation", "uniform_attention"))
    shared = run_experiment(other, tmp_path, show_progress=False)
    assert seeds == []
    alone = run_experiment(other, tmp_path / "alone", show_progress=False)
    assert seeds == [0]
    for name in ("model.safetensors", "values.parquet"):
        assert (shared / name).read_bytes() == (alone / name).read_bytes()
    ours, theirs = store.read_run(shared), store.read_run(alone)
    assert ours["performance"] == theirs["performance"]
    assert ours["training"] == {**theirs["training"], "trained_in": finished.name}
    assert theirs["training"]["trained_in"] is None


@pytest.mark.parametrize(
    "others", [{"seed": 1}, {"epochs": 1}, {"learning_rate": 0.01}, {"scorer": "dot"}]
)
def test_what_changes_the_weights_is_trained(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: dict[str, object]
) -> None:
    seeds = _trainings(monkeypatch)
    run_experiment(_experiment(("permutation",), **others), tmp_path, show_progress=False)
    assert len(seeds) == 1


def test_force_trains_again(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = _trainings(monkeypatch)
    run_experiment(_experiment(("permutation",)), tmp_path, force=True, show_progress=False)
    assert seeds == [0]


def test_damaged_weights_are_not_used(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = finished / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    seeds = _trainings(monkeypatch)
    run_experiment(_experiment(("permutation",)), tmp_path, show_progress=False)
    assert seeds == [0]


def test_other_threads_or_versions_are_trained_again(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "versions", lambda: {"torch": "0"})
    seeds = _trainings(monkeypatch)
    run_experiment(_experiment(("permutation",)), tmp_path, show_progress=False)
    assert seeds == [0]


def test_estimates_do_not_learn_the_time_of_a_training_that_was_spared(finished: Path) -> None:
    spared = run_experiment(_experiment(("permutation",)), finished.parent, show_progress=False)
    details = store.read_run(finished)
    alone, both = Costs.measured([finished]), Costs.measured([finished, spared])
    epochs = {**details["choices"], "audits": ["position"]}
    assert both.of_run(epochs).seconds == pytest.approx(alone.of_run(epochs).seconds)


def _changed(folder: Path, change: dict[str, object]) -> None:
    """Change the entry "training" of a finished run."""
    mark = read_mark(folder / "run.json")
    mark["training"] |= change
    write_mark(
        folder / "run.json",
        {key: mark[key] for key in mark if key not in ("checksum", "files")},
    )


def test_a_model_of_another_device_is_not_used(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _changed(finished, {"device": "cuda"})
    assert store.is_complete(finished)
    seeds = _trainings(monkeypatch)
    run_experiment(_experiment(("permutation",)), tmp_path, show_progress=False)
    assert seeds == [0]


def test_code_from_outside_may_have_changed_and_is_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = {"encoder": "attnaudit.models.encoders.average:Average:hidden=8"}
    run_experiment(_experiment(("position",), **outside), tmp_path, show_progress=False)
    seeds = _trainings(monkeypatch)
    run_experiment(_experiment(("permutation",), **outside), tmp_path, show_progress=False)
    assert seeds == [0]


def test_weights_that_do_not_fit_leave_the_model_as_it_was() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    other = {name: torch.ones_like(value) for name, value in before.items()}
    other["1.weight"] = torch.ones(1, 4)
    with pytest.raises(ValueError, match=r"1\.weight"):
        fill_whole(model, other)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in before.items())


def test_a_kept_training_of_another_version_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 1)
    kept = JobStore(tmp_path)
    keep_training(kept, {}, model, History((0.5,), (0.9,), "accuracy", 0, device="cpu"))
    assert kept_training(kept, {}, model) == History((0.5,), (0.9,), "accuracy", 0, device="cpu")
    content = unsealed(kept.read("model/training.json"))
    del content["history"]["trained_in"]
    kept.write("model/training.json", sealed(content))
    fresh = torch.nn.Linear(2, 1)
    before = fresh.weight.clone()
    assert kept_training(kept, {}, fresh) is None
    assert torch.equal(fresh.weight, before)
