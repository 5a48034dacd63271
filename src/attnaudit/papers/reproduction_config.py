"""What the reproductions share: settings, our means, and the published numbers next to them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.published import table as published_table
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.runner import run_experiment


@dataclass(frozen=True)
class ReproductionConfig:
    """The dataset and the settings that are common to all experiments of a table."""

    dataset: str
    out: Path
    data_dir: Path | None = None
    vectors: str | None = None
    seed: int = 0
    sample: int | None = None
    epochs: int | None = None
    device: str = "cpu"

    def experiment(self, preset: str, **choices: Any) -> ExperimentConfig:
        """An experiment with a paper's preset."""
        return make_experiment(
            self.dataset,
            preset=preset,
            vectors=self.vectors,
            seed=self.seed,
            sample=self.sample,
            epochs=self.epochs,
            **choices,
        )

    def run(self, experiment: ExperimentConfig) -> Path:
        """The finished run of an experiment."""
        return run_experiment(experiment, self.out, data_dir=self.data_dir, device=self.device)


def mean_of(
    results: Results, audit: str, metric: str, measure: str, *, group: str = "all"
) -> dict[str, float]:
    """A mean of the summary with its interval, floor and ceiling; NaN if it is not there."""
    part = results.summaries
    part = part[
        (part["audit"] == audit)
        & (part["metric"] == metric)
        & (part["measure"] == measure)
        & (part["group"] == group)
    ]
    columns = ("mean", "low", "high", "floor", "ceiling", "sd", "nan_share")
    empty = dict.fromkeys(columns, float("nan"))
    values = one_line_per_metric(part).iloc[0] if len(part) else empty
    return {"ours" if name == "mean" else name: float(values[name]) for name in columns}


def merge_published(
    name: str, lines: list[dict[str, Any]], config: ReproductionConfig, keys: list[str]
) -> pd.DataFrame:
    """Our lines merged with the published table of the same dataset."""
    published = published_table(name)
    published = published[published["dataset"] == corpus_of(config.dataset)].drop(columns="dataset")
    published = published.rename(columns={"mean": "published", "sd": "published sd"})
    return pd.DataFrame(lines).merge(published, on=keys, how="left")
