"""Metrics over several runs: per model over its seeds, and correlated across models."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attnaudit.core.errors import InputError
from attnaudit.results import store
from attnaudit.training.comparisons.correlations import Correlation, correlate, dependence
from attnaudit.training.comparisons.same_model import identities
from attnaudit.training.comparisons.seeds import across_seeds, seeds_table
from finished_runs import altered, finished


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(
        tmp_path_factory.mktemp("runs"),
        audits=("uniform_attention", "furthest"),
        measures=("random",),
    )


def test_each_number_says_how_many_seeds_have_it(run: Path, tmp_path: Path) -> None:
    runs = [
        altered(run, tmp_path / "0", seed=0),
        altered(run, tmp_path / "1", seed=1, shift=0.1, without=("jsd",)),
        altered(run, tmp_path / "2", seed=2, shift=0.2, without=("jsd", "jsd_share")),
    ]
    found = across_seeds(runs).set_index("metric")
    assert found.loc["accuracy_drop", ["seeds", "of"]].tolist() == [3, 3]
    assert found.loc["jsd_share", ["seeds", "of"]].tolist() == [2, 3]
    share = store.load_results(run).mean("furthest", "jsd_share")
    assert found.loc["jsd_share", "mean"] == pytest.approx(share + 0.05)
    assert (
        found.loc["jsd_share", "low"]
        < found.loc["jsd_share", "mean"]
        < found.loc["jsd_share", "high"]
    )
    one = found.loc["jsd"]
    assert one["seeds"] == 1
    assert one["mean"] == one["least"] == one["largest"]
    assert np.isnan([one["low"], one["high"]]).all()
    text = str(seeds_table(runs))
    assert "2 of 3" in text
    assert "without an interval: fewer than 2 seeds have them" in text
    assert "NaN" not in text


def test_a_number_no_seed_has_is_shown_with_no_seeds(run: Path, tmp_path: Path) -> None:
    runs = [altered(run, tmp_path / str(seed), seed=seed, without=("jsd",)) for seed in (0, 1)]
    line = across_seeds(runs).set_index("metric").loc["jsd"]
    assert line["seeds"] == 0
    assert math.isnan(line["mean"])


def test_several_models_have_a_table_each(run: Path, tmp_path: Path) -> None:
    runs = [
        altered(
            run, tmp_path / f"{projection}-{seed}", seed=seed, projection=projection, shift=shift
        )
        for projection, shift in (("softmax", 0.0), ("sparsemax", 0.3))
        for seed in (0, 1)
    ]
    single = altered(run, tmp_path / "uniform", projection="uniform")
    found = across_seeds([*runs, single])
    drop = found[found["metric"] == "accuracy_drop"].set_index("model")
    assert len(drop) == 3
    assert drop["of"].tolist() == [2, 2, 1]
    assert drop["mean"].diff().iloc[1] == pytest.approx(0.3)
    assert math.isnan(drop["low"].iloc[2])  # one seed
    assert str(correlate(tmp_path, "seeds")).count("accuracy_drop") == 3
    with pytest.raises(InputError, match=r"got 2 run.s. of 2 model.s."):
        across_seeds([runs[0], single])


def test_a_seed_audited_twice_is_one_seed(run: Path, tmp_path: Path) -> None:
    """Once for one metric and once for another; a sample has other texts, and its own table."""
    first = altered(run, tmp_path / "a", seed=0, without=("jsd",), audits=["uniform_attention"])
    again = altered(run, tmp_path / "b", seed=0, audits=["furthest"], illustrated=5)
    other = altered(run, tmp_path / "c", seed=1)
    found = across_seeds([first, again, other]).set_index("metric")
    assert found.loc["jsd", ["seeds", "of"]].tolist() == [2, 2]
    sampled = [altered(run, tmp_path / f"sample-{seed}", seed=seed, sample=10) for seed in (0, 1)]
    assert across_seeds([first, other, *sampled])["model"].nunique() == 2


def test_models_of_one_name_are_told_apart_by_what_differs(run: Path, tmp_path: Path) -> None:
    recipe = store.read_run(run)["choices"]["recipe"]
    runs = [
        altered(run, tmp_path / str(epochs), recipe={**recipe, "epochs": epochs})
        for epochs in (2, 5)
    ]
    labels = [identity.label for identity in identities(runs)]
    assert [label.rsplit(" · ", 1)[1] for label in labels] == ["epochs=2", "epochs=5"]


def test_a_variant_of_two_seeds_of_a_base_is_one_model(run: Path, tmp_path: Path) -> None:
    for seed in (0, 1):
        altered(run, tmp_path / f"base-{seed}", seed=seed)
        altered(
            run, tmp_path / f"twin-{seed}", seed=seed, variant="twin:lam=0.001", base=f"base-{seed}"
        )
    twins = identities([tmp_path / "twin-0", tmp_path / "twin-1"])
    assert twins[0].model == twins[1].model
    assert twins[0].training != twins[1].training


def test_a_point_is_a_model_and_not_a_run(run: Path, tmp_path: Path) -> None:
    """Four models of three seeds; one training is audited again, and named twice."""
    runs = [
        altered(
            run,
            tmp_path / f"{encoder}-{seed}",
            seed=seed,
            encoder=encoder,
            shift=0.1 * number + 0.01 * seed,
        )
        for number, encoder in enumerate(("average", "mlp", "cnn", "none"))
        for seed in range(3)
    ]
    again = altered(run, tmp_path / "again", seed=0, encoder="average", sample=7, shift=5.0)
    found = dependence([*runs, again, runs[0]])
    assert len(found.points) == 4
    assert found.points["runs"].tolist() == [3, 3, 3, 3]
    x = found.points["accuracy lost under uniform attention"]
    np.testing.assert_allclose(
        x,
        store.load_results(run).mean("uniform_attention", "accuracy_drop")
        + 0.01
        + 0.1 * np.arange(4),
    )
    assert found.tau == pytest.approx(1)
    assert "over 4 models (12 runs)" in str(found)
    with pytest.raises(
        InputError, match=r"at least three models with both numbers .* got 2 of 2 in 6 run"
    ):
        dependence(runs[:6])


def test_a_seed_without_both_numbers_is_left_out_of_its_model(run: Path, tmp_path: Path) -> None:
    runs = [
        altered(run, tmp_path / encoder, encoder=encoder, shift=0.1 * number)
        for number, encoder in enumerate(("average", "mlp", "cnn"))
    ]
    half = altered(
        run, tmp_path / "half", seed=1, encoder="average", without=("jsd_share",), shift=9.0
    )
    found = dependence([*runs, half])
    assert found.points["runs"].tolist() == [1, 1, 1]
    assert found.points.iloc[0, 2] < 1


def test_models_without_both_numbers_are_not_counted() -> None:
    points = pd.DataFrame(
        {"model": list("abcd"), "runs": [1, 2, 1, 1], "x": [1, 2, 3, 4.0], "y": [1, 2, 3, math.nan]}
    )
    assert "over 3 models (4 runs)" in str(Correlation("?", "x", "y", points, 1.0, 1.0, 1.0, 0.3))


def test_correlate_answers_as_the_question_does(run: Path, tmp_path: Path) -> None:
    for number, encoder in enumerate(("average", "mlp", "cnn")):
        altered(run, tmp_path / encoder, encoder=encoder, shift=0.1 * number)
    found = correlate(str(tmp_path))
    assert isinstance(found, Correlation)
    assert str(found) == str(dependence(store.find_runs([tmp_path])))
    with pytest.raises(InputError, match="dependence, uniformity, seeds"):
        correlate(tmp_path, "nonsense")
