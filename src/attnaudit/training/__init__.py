"""Train the papers' models and compare them: experiments, interventions, comparisons.

`run` trains and audits one model; `intervene` trains several and compares them; `grid` does both
for every combination of choices, and `status` says how far it is; `compare`,
`correlate` and `corpus_audit` work on finished runs; `load` reads one back. `divergence` and
`compare_performance` compare two models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnaudit.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from attnaudit.training.checkpoint import load
    from attnaudit.training.comparisons.correlations import correlate
    from attnaudit.training.comparisons.divergence import divergence
    from attnaudit.training.comparisons.performance import compare_performance
    from attnaudit.training.comparisons.runs import compare
    from attnaudit.training.corpus_audits import corpus_audit
    from attnaudit.training.experiment import ExperimentConfig, make_experiment
    from attnaudit.training.grids.grid import grid
    from attnaudit.training.grids.status import status
    from attnaudit.training.intervention_runs import intervene
    from attnaudit.training.runner import run, run_experiment

__all__ = [
    "ExperimentConfig",
    "compare",
    "compare_performance",
    "corpus_audit",
    "correlate",
    "divergence",
    "grid",
    "intervene",
    "load",
    "make_experiment",
    "run",
    "run_experiment",
    "status",
]

# Imported on first use: all of them but `status` need torch.
__getattr__ = lazy_names(
    __name__,
    {
        "ExperimentConfig": "experiment",
        "compare": "comparisons.runs",
        "compare_performance": "comparisons.performance",
        "corpus_audit": "corpus_audits",
        "correlate": "comparisons.correlations",
        "divergence": "comparisons.divergence",
        "grid": "grids.grid",
        "intervene": "intervention_runs",
        "load": "checkpoint",
        "make_experiment": "experiment",
        "run": "runner",
        "run_experiment": "runner",
        "status": "grids.status",
    },
)
