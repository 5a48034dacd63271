"""What an intervention works with: a base experiment, a folder of runs, and comparisons."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from attnaudit import data
from attnaudit.audits.declaration import DIVERGENCE, SHARE
from attnaudit.core.tasks import Workers
from attnaudit.data.batching import batches_of
from attnaudit.data.splits import Splits
from attnaudit.statistics import bootstrap
from attnaudit.training.checkpoint import Run, load
from attnaudit.training.comparisons import compare_performance, divergence
from attnaudit.training.experiment import ExperimentConfig
from attnaudit.training.several_runs import run_experiments
from attnaudit.training.trainer import predictions

# Enough to see what an intervention did; the base is audited in full, like any run.
_AUDITS = ("uniform_attention", "permutation", "agreement", "evidence", "furthest")
_MEASURES = ("attention", "gradient", "random")


@dataclass(frozen=True)
class InterventionContext:
    """The base experiment of an intervention, and the runs made from it.

    Runs are stored and skipped if complete, so an interrupted intervention can be continued.

    Parameters
    ----------
    experiment : the base.
    out, data_dir, device, show_progress : as for `run`.
    workers : where the models that are trained together are trained.
    """

    experiment: ExperimentConfig
    out: Path
    data_dir: Path | None = None
    device: str = "cpu"
    show_progress: bool = True
    workers: Workers = field(default_factory=Workers)
    _loaded: dict[Path, Run] = field(default_factory=dict, repr=False)
    _splits: list[Splits] = field(default_factory=list, repr=False)

    def train(self, *experiments: ExperimentConfig) -> list[Path]:
        """The runs of the base and of its members, trained at the same time if there are workers.

        A member that starts from another run needs a call of its own, after that run's.
        """
        return run_experiments(
            experiments,
            self.out,
            data_dir=self.data_dir,
            device=self.device,
            show_progress=self.show_progress,
            workers=self.workers,
        )

    def base(self) -> Path:
        """The run of the base experiment."""
        return self.train(self.experiment)[0]

    def variant(
        self, variant: str = "ordinary", *, base: Path | None = None, **changes: Any
    ) -> Path:
        """The run of one member."""
        return self.train(self.member(variant, base=base, **changes))[0]

    def member(
        self, variant: str = "ordinary", *, base: Path | None = None, **changes: Any
    ) -> ExperimentConfig:
        """An experiment that differs from the base: in variant, seed, or parts of the architecture.

        base : the run that the variant starts from.
        """
        parts = {
            key: value
            for key, value in changes.items()
            if hasattr(self.experiment.architecture, key)
        }
        rest = {key: value for key, value in changes.items() if key not in parts}
        if variant == "ordinary" and self._is_base(parts, rest):
            return self.experiment
        return replace(
            self.experiment,
            variant=variant,
            base=None if base is None else base.name,
            architecture=replace(self.experiment.architecture, **parts),
            **{"other_seeds": 0, "audits": _AUDITS, "measures": _MEASURES, **rest},
        )

    def _is_base(self, parts: dict[str, Any], rest: dict[str, Any]) -> bool:
        """Whether nothing differs from the base, and the base is audited in full."""
        same = all(
            getattr(self.experiment.architecture, name) == value for name, value in parts.items()
        )
        same = same and all(getattr(self.experiment, name) == value for name, value in rest.items())
        return same and self.experiment.audits is None and self.experiment.measures is None

    def load(self, folder: Path) -> Run:
        """The model and results of a run of this context; each is read once."""
        if folder not in self._loaded:
            self._loaded[folder] = load(folder, trust_code=True)  # its parts were chosen here
        return self._loaded[folder]

    @property
    def splits(self) -> Splits:
        """The dataset of the base; read once."""
        if not self._splits:
            self._splits.append(data.load(self.experiment.dataset, data_dir=self.data_dir))
        return self._splits[0]

    def diverge(self, first: Path, second: Path) -> pd.DataFrame:
        """One line per test example: jsd and tvd between two runs, max_attention of the first."""
        a, b = self.load(first), self.load(second)
        parts = []
        with torch.no_grad():
            for batch in batches_of(self.splits.test, a.vocabulary, len(self.splits.classes)):
                distances = divergence(a.model.read(batch), b.model.read(batch))
                parts.append(
                    pd.DataFrame(
                        {
                            "example_id": batch.example_id,
                            **{k: v.numpy() for k, v in distances.items()},
                        }
                    )
                )
        return pd.concat(parts, ignore_index=True).sort_values("example_id", ignore_index=True)

    def perform(self, first: Path, second: Path) -> pd.DataFrame:
        """One line per metric of performance: first, second, difference, low, high, interval."""
        probs = []
        for folder in (first, second):
            run = self.load(folder)
            labels, probabilities = predictions(
                run.model, self.splits.test, run.vocabulary, len(self.splits.classes)
            )
            probs.append(probabilities)
        return compare_performance(labels, *probs)


def mean_with_interval(
    values: pd.Series, name: str, seed: int, limits: tuple[float, float] | None = None
) -> dict[str, float]:
    """The mean and its interval, under the keys name, name_low and name_high.

    limits: the smallest and largest possible value, if known.
    """
    interval = bootstrap(torch.tensor(values.to_numpy(dtype=float)), limits=limits, seed=seed)
    return {
        name: float(interval.estimate),
        f"{name}_low": float(interval.low),
        f"{name}_high": float(interval.high),
    }


def against_base(
    context: InterventionContext, base: Path, run: Path, distances: pd.DataFrame
) -> dict[str, Any]:
    """One line on a run: mean distances from the base, accuracy and accuracy lost."""
    accuracy = context.perform(base, run).set_index("metric").loc["accuracy"]
    return {
        **mean_with_interval(distances["jsd"], "jsd", context.experiment.seed, DIVERGENCE),
        **mean_with_interval(distances["tvd"], "tvd", context.experiment.seed, SHARE),
        "accuracy": accuracy["second"],
        "accuracy_lost": accuracy["difference"],
        "accuracy_lost_low": accuracy["low"],
        "accuracy_lost_high": accuracy["high"],
    }
