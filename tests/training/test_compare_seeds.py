"""Every metric over runs that differ by seed alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from attnaudit.core.errors import InputError


def test_every_number_over_seeds_and_only_of_runs_that_differ_by_seed(tmp_path: Path) -> None:
    from attnaudit.results.store import load_results
    from attnaudit.training.comparisons.seeds import across_seeds
    from attnaudit.training.experiment import make_experiment
    from attnaudit.training.runner import run_experiment

    def made(seed: int, **more: object) -> Path:
        small = "keyword:train=20,dev=4,test=64"
        cell = make_experiment(
            small, epochs=1, seed=seed, audits=("permutation",), measures=("random",), **more
        )
        return run_experiment(cell, tmp_path, show_progress=False)

    runs = [made(0), made(1), made(2)]
    found = across_seeds(runs).set_index("metric")
    means = [load_results(run).mean("permutation", "tvd_median") for run in runs]
    assert found.loc["tvd_median", "mean"] == pytest.approx(np.mean(means))
    assert found.loc["tvd_median", "least"] == pytest.approx(min(means))
    assert (
        found.loc["tvd_median", "low"]
        < found.loc["tvd_median", "mean"]
        < found.loc["tvd_median", "high"]
    )
    with pytest.raises(InputError, match="differ by seed alone"):
        across_seeds([runs[0], made(1, projection="sparsemax")])
    with pytest.raises(InputError, match="differ by seed alone"):
        across_seeds(runs[:1])
    with pytest.raises(InputError, match="the same seed"):
        across_seeds([runs[0], runs[0]])


def test_weighted_tau_of_information_over_seeds(tmp_path: Path) -> None:
    from scipy import stats

    from attnaudit.training import corpus_audit
    from attnaudit.training.comparisons.seeds import across_seeds
    from attnaudit.training.experiment import make_experiment
    from attnaudit.training.runner import run_experiment

    small = "keyword:train=60,dev=8,test=64,length=10,jitter=2"
    options = {"epochs": 1, "audits": ("dispersion",), "measures": ("random",)}
    cells = [make_experiment(small, seed=seed, **options) for seed in range(3)]
    folders = [run_experiment(cell, tmp_path, show_progress=False) for cell in cells]
    assert "weighted_tau" not in set(across_seeds(folders)["metric"])
    taus = [
        corpus_audit(folder, "mutual_information:clusters=3")
        .findings.summary.set_index("metric")
        .loc["weighted_tau", "value"]
        for folder in folders[:2]
    ]
    line = across_seeds(folders).set_index("metric").loc["weighted_tau"]
    assert (line["seeds"], line["of"]) == (2, 3)
    assert line["mean"] == pytest.approx(np.mean(taus))
    assert (line["least"], line["largest"]) == pytest.approx((min(taus), max(taus)))
    low, high = stats.t.interval(0.95, 1, np.mean(taus), stats.sem(taus))
    assert (line["low"], line["high"]) == pytest.approx((low, high))
