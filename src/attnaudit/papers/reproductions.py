"""The papers' tables, made again by one command each: the cells they need, and the published numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.audits.corpus import CORPUS_AUDITS
from attnaudit.core import registry
from attnaudit.core.output_files import write_file
from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.published import table
from attnaudit.results.findings import Findings
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric
from attnaudit.results.store import load_results
from attnaudit.training.checkpoint import audited_batches
from attnaudit.training.experiment import ExperimentConfig, make_experiment
from attnaudit.training.runner import run_experiment


@dataclass(frozen=True)
class Setting:
    """What is asked for on the command line."""

    dataset: str
    out: Path
    data_dir: Path | None = None
    vectors: str | None = None
    seed: int = 0
    sample: int | None = None
    epochs: int | None = None
    device: str = "cpu"

    def cell(self, preset: str, **given: Any) -> ExperimentConfig:
        return make_experiment(
            self.dataset,
            preset=preset,
            vectors=self.vectors,
            seed=self.seed,
            sample=self.sample,
            epochs=self.epochs,
            **given,
        )

    def run(self, cell: ExperimentConfig) -> Path:
        return run_experiment(cell, self.out, data_dir=self.data_dir, device=self.device)


# One set for all of Meister's tables, so that a model trained for one of them serves the others. `gradient` and `leave_one_out` give the
# ceiling.
_MEISTER_AUDITS = ("agreement", "dispersion:influence=true")
_MEISTER_MEASURES = (
    "gradient",
    "leave_one_out",
    "gradient_norm",
    "hidden_gradient",
    "hidden_leave_one_out",
    "random",
)


def meister_cells(
    setting: Setting, projections: Iterable[str] = ("softmax", "sparsemax")
) -> Iterable[tuple[dict[str, str], Results]]:
    """BiLSTM and Transformer under each projection."""
    for encoder in ("bilstm", "transformer"):
        for projection in projections:
            cell = setting.cell(
                f"meister:encoder={encoder}",
                projection=projection,
                audits=_MEISTER_AUDITS,
                measures=_MEISTER_MEASURES,
            )
            yield {"encoder": encoder, "projection": projection}, load_results(setting.run(cell))


def meister_table1(setting: Setting) -> pd.DataFrame:
    """Meister et al. 2021, table 1: normalised entropy of the inputs behind each hidden state."""
    lines = [
        {**names, **_found(results, "dispersion:influence=true", "entropy_influence", "influence")}
        for names, results in meister_cells(setting)
    ]
    return _beside("meister_table1", lines, setting, ["encoder", "projection"])


def meister_table6(setting: Setting) -> pd.DataFrame:
    """Meister et al. 2021, table 6: tau of attention with importance of the inputs, and of the hidden states."""
    lines = [
        {**names, "measure": measure, **_found(results, "agreement", "tau", measure)}
        for names, results in meister_cells(setting)
        for measure in ("gradient_norm", "leave_one_out", "hidden_gradient", "hidden_leave_one_out")
    ]
    return _beside("meister_table6", lines, setting, ["encoder", "projection", "measure"])


def meister_figure2(setting: Setting) -> pd.DataFrame:
    """Meister et al. 2021, figure 2: entropy of input importance (gradient, leave-one-out) over the spectrum of projections."""
    spectrum = ("softmax", *(f"sparsegen:lam={lam}" for lam in (-5, -1, 0, 0.5, 0.9)), "sparsemax")
    return pd.DataFrame(
        {
            **names,
            "measure": measure,
            **_found(results, "dispersion:influence=true", "entropy", measure),
        }
        for names, results in meister_cells(setting, spectrum)
        for measure in ("attention", "gradient_norm", "leave_one_out")
    )


def neely_schouten_table2(setting: Setting) -> pd.DataFrame:
    """Neely & Schouten 2020, table 2: top-k tau, as released (code) and corrected, each with its random floor."""
    audits = ("top_k_agreement", "top_k_agreement:fidelity=code")
    lines = []
    for projection, lists in {"softmax": ("average",), "sparsemax": ("all", "non_zero")}.items():
        for scorer in ("additive", "dot"):
            cell = setting.cell(
                "neely_schouten",
                projection=projection,
                scorer=scorer,
                audits=audits,
                measures=("gradient", "leave_one_out", "random"),
            )
            results = load_results(setting.run(cell))
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
                        for audit, told in zip(audits, ("corrected", "code"), strict=True):
                            found = _found(results, audit, f"tau_{k}", measure, group=name)
                            line |= {f"{told} {key}": value for key, value in found.items()}
                        lines.append(line)
    keys = ["k", "projection", "scorer", "predicted_class", "measure"]
    return _beside("neely_schouten_table2", lines, setting, keys)


def wen_weighted_tau(setting: Setting) -> pd.DataFrame:
    """Wen et al. 2022: weighted tau between attention and information by rank; published: means over all their corpora."""
    encoders = {"bilstm": "bilstm:hidden=128", "cnn": "cnn:kernels=1-3-5-7-15,filters=128", "mlp": "mlp:hidden=128"}  # fmt: skip
    scorers = {"additive": "additive", "dot": "dot:scaled=false", "deep": "deep"}
    lines = []
    for encoder, encoder_choice in encoders.items():
        for scorer, scorer_choice in scorers.items():
            cell = setting.cell(
                "wen",
                encoder=encoder_choice,
                scorer=scorer_choice,
                audits=("dispersion",),
                measures=("random",),
            )
            folder = setting.run(cell)
            model, batches = audited_batches(folder, data_dir=setting.data_dir, trust_code=True)
            audit = CORPUS_AUDITS["mutual_information"]
            findings = Findings.of_corpus_audit(audit(model, batches, setting.seed))
            findings.save(folder / "mutual_information")
            tau = findings.summary.set_index("metric").loc["weighted_tau"]
            entropy = _found(load_results(folder), "dispersion", "entropy", "attention")["ours"]
            lines.append(
                {
                    "encoder": encoder,
                    "scorer": scorer,
                    "ours": tau["value"],
                    "low": tau["low"],
                    "high": tau["high"],
                    "floor": tau["floor"],
                    "clustering sd": findings.summary.set_index("metric").loc[
                        "clustering_sd", "value"
                    ],
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
    published = table("wen_weighted_tau").rename(columns={"mean": "published (all corpora)"})
    return ours.merge(published, on=["encoder", "scorer"], how="left")


def _found(
    results: Results, audit: str, metric: str, measure: str, *, group: str = "all"
) -> dict[str, float]:
    part = results.summaries
    part = part[
        (part["audit"] == audit)
        & (part["metric"] == metric)
        & (part["measure"] == measure)
        & (part["group"] == group)
    ]
    if not len(part):
        return dict.fromkeys(
            ("ours", "low", "high", "floor", "ceiling", "sd", "nan_share"), float("nan")
        )
    line = one_line_per_metric(part).iloc[0]
    named = {
        "ours": "mean",
        **{name: name for name in ("low", "high", "floor", "ceiling", "sd", "nan_share")},
    }
    return {name: float(line[column]) for name, column in named.items()}


def _beside(
    name: str, lines: list[dict[str, Any]], setting: Setting, keys: list[str]
) -> pd.DataFrame:
    published = table(name)
    published = published[published["dataset"] == corpus_of(setting.dataset)].drop(
        columns="dataset"
    )
    published = published.rename(columns={"mean": "published", "sd": "published sd"})
    return pd.DataFrame(lines).merge(published, on=keys, how="left")


REPRODUCTIONS: dict[str, Callable[[Setting], pd.DataFrame]] = {
    "meister_table1": meister_table1,
    "meister_table6": meister_table6,
    "meister_figure2": meister_figure2,
    "neely_schouten_table2": neely_schouten_table2,
    "wen_weighted_tau": wen_weighted_tau,
}


def reproduce(name: str, setting: Setting) -> tuple[pd.DataFrame, Path]:
    """The table and the file it was written to."""
    made = registry.find(REPRODUCTIONS, name, "reproduction")(setting)
    folder = setting.out / "reproductions"
    path = folder / f"{name}-{corpus_of(setting.dataset).replace(':', '_')}-seed_{setting.seed}.csv"
    return made, write_file(path, made.to_csv(index=False), kind="table")
