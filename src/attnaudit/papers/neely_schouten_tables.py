"""Neely & Schouten 2020, table 2: top-k tau, as released (code) and corrected."""

from __future__ import annotations

from typing import Any

import pandas as pd

from attnaudit.papers.reproduction_config import ReproductionConfig, mean_of, merge_published
from attnaudit.results.store import load_results


def neely_schouten_table2(config: ReproductionConfig) -> pd.DataFrame:
    """Train and audit the models of the table: one line per k, model, class and measure."""
    audits = ("top_k_agreement", "top_k_agreement:fidelity=code")
    lines = []
    for projection, lists in {"softmax": ("average",), "sparsemax": ("all", "non_zero")}.items():
        for scorer in ("additive", "dot"):
            experiment = config.experiment(
                "neely_schouten",
                projection=projection,
                scorer=scorer,
                audits=audits,
                measures=("gradient", "leave_one_out", "random"),
            )
            results = load_results(config.run(experiment))
            for k in lists:
                for number, name in enumerate(results.about["classes"]):
                    for measure in ("gradient", "leave_one_out"):
                        line: dict[str, Any] = {
                            "k": k,
                            "projection": projection,
                            "scorer": scorer,
                            "predicted_class": str(number),
                            "measure": measure,
                        }
                        for audit, version in zip(audits, ("corrected", "code"), strict=True):
                            mean = mean_of(results, audit, f"tau_{k}", measure, group=name)
                            line |= {f"{version} {key}": value for key, value in mean.items()}
                        lines.append(line)
    keys = ["k", "projection", "scorer", "predicted_class", "measure"]
    return merge_published("neely_schouten_table2", lines, config, keys)
