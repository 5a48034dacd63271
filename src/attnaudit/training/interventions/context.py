"""What an intervention works with: a cell to start from, a folder of runs, and the models read side by side."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from attnaudit import data
from attnaudit.data.batching import batches_of
from attnaudit.data.splits import Splits
from attnaudit.statistics import bootstrap
from attnaudit.training.checkpoint import Run, load
from attnaudit.training.comparisons import compare_performance, divergence
from attnaudit.training.experiment import ExperimentConfig
from attnaudit.training.runner import run_experiment
from attnaudit.training.trainer import predictions

# Enough to see what an intervention did; the base is audited in full, as any run.
_AUDITS = ("uniform_attention", "permutation", "agreement", "evidence", "furthest")
_MEASURES = ("attention", "gradient", "random")


@dataclass(frozen=True)
class InterventionContext:
    """Runs are stored and skipped when done, so a plan that was stopped goes on where it was."""

    cell: ExperimentConfig
    out: Path
    data_dir: Path | None = None
    device: str = "cpu"
    show_progress: bool = True
    _loaded: dict[Path, Run] = field(default_factory=dict, repr=False)
    _splits: list[Splits] = field(default_factory=list, repr=False)

    def base(self) -> Path:
        return self._run(self.cell)

    def variant(
        self, variant: str = "ordinary", *, base: Path | None = None, **changes: Any
    ) -> Path:
        """A run that differs from the cell: in variant, base, seed, or parts of the architecture by name."""
        parts = {
            key: value for key, value in changes.items() if hasattr(self.cell.architecture, key)
        }
        rest = {key: value for key, value in changes.items() if key not in parts}
        if variant == "ordinary" and self._is_base(parts, rest):
            return self.base()
        cell = replace(
            self.cell,
            variant=variant,
            base=None if base is None else base.name,
            architecture=replace(self.cell.architecture, **parts),
            **{"other_seeds": 0, "audits": _AUDITS, "measures": _MEASURES, **rest},
        )
        return self._run(cell)

    def _is_base(self, parts: dict[str, Any], rest: dict[str, Any]) -> bool:
        """Nothing differs from the cell, and it is audited in full: it need not be trained again."""
        same = all(getattr(self.cell.architecture, name) == value for name, value in parts.items())
        same = same and all(getattr(self.cell, name) == value for name, value in rest.items())
        return same and self.cell.audits is None and self.cell.measures is None

    def _run(self, cell: ExperimentConfig) -> Path:
        return run_experiment(
            cell,
            self.out,
            data_dir=self.data_dir,
            device=self.device,
            show_progress=self.show_progress,
        )

    def load(self, folder: Path) -> Run:
        if folder not in self._loaded:
            self._loaded[folder] = load(folder, trust_code=True)  # runs of this plan
        return self._loaded[folder]

    @property
    def splits(self) -> Splits:
        if not self._splits:
            self._splits.append(data.load(self.cell.dataset, data_dir=self.data_dir))
        return self._splits[0]

    def diverge(self, first: Path, second: Path) -> pd.DataFrame:
        """Per test example: jsd, tvd, max_attention of the first."""
        a, b = self.load(first), self.load(second)
        parts = []
        with torch.no_grad():
            for batch in batches_of(self.splits.test, a.vocabulary, len(self.splits.classes)):
                found = divergence(a.model.read(batch), b.model.read(batch))
                parts.append(
                    pd.DataFrame(
                        {"example_id": batch.example_id, **{k: v.numpy() for k, v in found.items()}}
                    )
                )
        return pd.concat(parts, ignore_index=True).sort_values("example_id", ignore_index=True)

    def perform(self, first: Path, second: Path) -> pd.DataFrame:
        """One line a metric: first, second, difference, low, high."""
        probs = []
        for folder in (first, second):
            run = self.load(folder)
            labels, found = predictions(
                run.model, self.splits.test, run.vocabulary, len(self.splits.classes)
            )
            probs.append(found)
        return compare_performance(labels, *probs, seed=self.cell.seed)


def mean_with_interval(values: pd.Series, name: str, seed: int) -> dict[str, float]:
    """{name, name_low, name_high}"""
    interval = bootstrap(torch.tensor(values.to_numpy(dtype=float)), seed=seed)
    return {
        name: float(interval.estimate),
        f"{name}_low": float(interval.low),
        f"{name}_high": float(interval.high),
    }
