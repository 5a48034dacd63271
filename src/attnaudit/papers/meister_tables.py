"""Meister et al. 2021: the models behind tables 1 and 6 and figure 2, trained and audited."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from attnaudit.papers.reproduction_config import ReproductionConfig, mean_of, merge_published
from attnaudit.results.results import Results
from attnaudit.results.store import load_results

# The same for all tables of Meister et al., so that they share their models. `gradient` and
# `leave_one_out` give the ceiling.
_AUDITS = ("agreement", "dispersion:influence=true")
_MEASURES = (
    "gradient",
    "leave_one_out",
    "gradient_norm",
    "hidden_gradient",
    "hidden_leave_one_out",
    "random",
)


def meister_runs(
    config: ReproductionConfig, projections: Iterable[str] = ("softmax", "sparsemax")
) -> Iterable[tuple[dict[str, str], Results]]:
    """Results of BiLSTM and Transformer under each projection, with the names of both."""
    for encoder in ("bilstm", "transformer"):
        for projection in projections:
            experiment = config.experiment(
                f"meister:encoder={encoder}",
                projection=projection,
                audits=_AUDITS,
                measures=_MEASURES,
            )
            yield (
                {"encoder": encoder, "projection": projection},
                load_results(config.run(experiment)),
            )


def meister_table1(config: ReproductionConfig) -> pd.DataFrame:
    """Meister et al. 2021, table 1: normalised entropy of the inputs behind each hidden state."""
    lines = [
        {**names, **mean_of(results, "dispersion:influence=true", "entropy_influence", "influence")}
        for names, results in meister_runs(config)
    ]
    return merge_published("meister_table1", lines, config, ["encoder", "projection"])


def meister_table6(config: ReproductionConfig) -> pd.DataFrame:
    """Meister et al. 2021, table 6: tau of attention with input and hidden-state importance."""
    lines = [
        {**names, "measure": measure, **mean_of(results, "agreement", "tau", measure)}
        for names, results in meister_runs(config)
        for measure in ("gradient_norm", "leave_one_out", "hidden_gradient", "hidden_leave_one_out")
    ]
    return merge_published("meister_table6", lines, config, ["encoder", "projection", "measure"])


def meister_figure2(config: ReproductionConfig) -> pd.DataFrame:
    """Meister et al. 2021, figure 2: entropy of input importance from softmax to sparsemax."""
    spectrum = ("softmax", *(f"sparsegen:lam={lam}" for lam in (-5, -1, 0, 0.5, 0.9)), "sparsemax")
    return pd.DataFrame(
        {
            **names,
            "measure": measure,
            **mean_of(results, "dispersion:influence=true", "entropy", measure),
        }
        for names, results in meister_runs(config, spectrum)
        for measure in ("attention", "gradient_norm", "leave_one_out")
    )
