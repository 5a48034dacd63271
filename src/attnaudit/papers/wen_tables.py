"""Wen et al. 2022: weighted tau between attention and information by rank."""

from __future__ import annotations

import pandas as pd

from attnaudit.audits.corpus import CORPUS_AUDITS
from attnaudit.papers.published import table as published_table
from attnaudit.papers.reproduction_config import ReproductionConfig, mean_of
from attnaudit.results.findings import Findings
from attnaudit.results.store import load_results
from attnaudit.training.checkpoint import audited_batches


def wen_weighted_tau(config: ReproductionConfig) -> pd.DataFrame:
    """Train and audit every encoder with every scorer: one line each, and the means by scorer.

    The published values are means over all corpora of the paper.
    """
    encoders = {
        "bilstm": "bilstm:hidden=128",
        "cnn": "cnn:kernels=1-3-5-7-15,filters=128",
        "mlp": "mlp:hidden=128",
    }
    scorers = {"additive": "additive", "dot": "dot:scaled=false", "deep": "deep"}
    lines = []
    for encoder, encoder_choice in encoders.items():
        for scorer, scorer_choice in scorers.items():
            experiment = config.experiment(
                "wen",
                encoder=encoder_choice,
                scorer=scorer_choice,
                audits=("dispersion",),
                measures=("random",),
            )
            folder = config.run(experiment)
            model, batches = audited_batches(folder, data_dir=config.data_dir, trust_code=True)
            audit = CORPUS_AUDITS["mutual_information"]
            findings = Findings.of_corpus_audit(audit(model, batches, config.seed))
            findings.save(folder / "mutual_information")
            summary = findings.summary.set_index("metric")
            tau = summary.loc["weighted_tau"]
            entropy = mean_of(load_results(folder), "dispersion", "entropy", "attention")["ours"]
            lines.append(
                {
                    "encoder": encoder,
                    "scorer": scorer,
                    "ours": tau["value"],
                    "low": tau["low"],
                    "high": tau["high"],
                    "floor": tau["floor"],
                    "clustering sd": summary.loc["clustering_sd", "value"],
                    "attention entropy": entropy,
                }
            )
    ours = pd.DataFrame(lines)
    means = (
        ours.groupby("scorer", sort=False)[["ours", "floor", "attention entropy"]]
        .mean()
        .reset_index()
    )
    ours = pd.concat([ours, means.assign(encoder="all")], ignore_index=True)
    published = published_table("wen_weighted_tau").rename(
        columns={"mean": "published (all corpora)"}
    )
    return ours.merge(published, on=["encoder", "scorer"], how="left")
