"""The papers' tables made again: the experiments they need, with ours next to the published."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from attnaudit.audits.corpus import CORPUS_AUDITS
from attnaudit.core import registry
from attnaudit.core.output_files import write_file
from attnaudit.data.corpus_info import corpus_of
from attnaudit.papers.published import table as published_table
from attnaudit.results.findings import Findings
from attnaudit.results.results import Results
from attnaudit.results.rows import one_line_per_metric
from attnaudit.results.store import load_results
from attnaudit.training.checkpoint import audited_batches
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


# The same for all tables of Meister et al., so that they share their models. `gradient` and
# `leave_one_out` give the ceiling.
_MEISTER_AUDITS = ("agreement", "dispersion:influence=true")
_MEISTER_MEASURES = (
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
                audits=_MEISTER_AUDITS,
                measures=_MEISTER_MEASURES,
            )
            yield (
                {"encoder": encoder, "projection": projection},
                load_results(config.run(experiment)),
            )


def meister_table1(config: ReproductionConfig) -> pd.DataFrame:
    """Meister et al. 2021, table 1: normalised entropy of the inputs behind each hidden state."""
    lines = [
        {**names, **_mean(results, "dispersion:influence=true", "entropy_influence", "influence")}
        for names, results in meister_runs(config)
    ]
    return _next_to_published("meister_table1", lines, config, ["encoder", "projection"])


def meister_table6(config: ReproductionConfig) -> pd.DataFrame:
    """Meister et al. 2021, table 6: tau of attention with input and hidden-state importance."""
    lines = [
        {**names, "measure": measure, **_mean(results, "agreement", "tau", measure)}
        for names, results in meister_runs(config)
        for measure in ("gradient_norm", "leave_one_out", "hidden_gradient", "hidden_leave_one_out")
    ]
    return _next_to_published("meister_table6", lines, config, ["encoder", "projection", "measure"])


def meister_figure2(config: ReproductionConfig) -> pd.DataFrame:
    """Meister et al. 2021, figure 2: entropy of input importance from softmax to sparsemax."""
    spectrum = ("softmax", *(f"sparsegen:lam={lam}" for lam in (-5, -1, 0, 0.5, 0.9)), "sparsemax")
    return pd.DataFrame(
        {
            **names,
            "measure": measure,
            **_mean(results, "dispersion:influence=true", "entropy", measure),
        }
        for names, results in meister_runs(config, spectrum)
        for measure in ("attention", "gradient_norm", "leave_one_out")
    )


def neely_schouten_table2(config: ReproductionConfig) -> pd.DataFrame:
    """Neely & Schouten 2020, table 2: top-k tau, as released (code) and corrected."""
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
                            mean = _mean(results, audit, f"tau_{k}", measure, group=name)
                            line |= {f"{version} {key}": value for key, value in mean.items()}
                        lines.append(line)
    keys = ["k", "projection", "scorer", "predicted_class", "measure"]
    return _next_to_published("neely_schouten_table2", lines, config, keys)


def wen_weighted_tau(config: ReproductionConfig) -> pd.DataFrame:
    """Wen et al. 2022: weighted tau between attention and information by rank.

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
            entropy = _mean(load_results(folder), "dispersion", "entropy", "attention")["ours"]
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


def _mean(
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


def _next_to_published(
    name: str, lines: list[dict[str, Any]], config: ReproductionConfig, keys: list[str]
) -> pd.DataFrame:
    """Our lines merged with the published table of the same dataset."""
    published = published_table(name)
    published = published[published["dataset"] == corpus_of(config.dataset)].drop(columns="dataset")
    published = published.rename(columns={"mean": "published", "sd": "published sd"})
    return pd.DataFrame(lines).merge(published, on=keys, how="left")


REPRODUCTIONS: dict[str, Callable[[ReproductionConfig], pd.DataFrame]] = {
    "meister_table1": meister_table1,
    "meister_table6": meister_table6,
    "meister_figure2": meister_figure2,
    "neely_schouten_table2": neely_schouten_table2,
    "wen_weighted_tau": wen_weighted_tau,
}


class Reproduction(NamedTuple):
    """A table made again, and the csv file it was written to."""

    table: pd.DataFrame
    path: Path


def reproduce(
    table: str,
    dataset: str = "sst",
    *,
    out: str | Path = "runs",
    vectors: str | Path | None = None,
    seed: int = 0,
    sample: int | None = None,
    epochs: int | None = None,
    data_dir: str | Path | None = None,
    device: str = "cpu",
) -> Reproduction:
    """Reproduce a paper's table: train and audit its models, with ours next to the published.

    Does what `attnaudit reproduce` does. Finished runs are used again.

    Parameters
    ----------
    table : a name of `REPRODUCTIONS`, such as "meister_table1".
    dataset : name with options.
    out : folder of the run directories; the table is written to `reproductions` in it.
    vectors : file of pretrained word vectors; the papers use 300 dimensions.
    sample : number of test examples to audit; None for all.
    epochs : None for those of the paper.
    data_dir : folder of the corpora; if omitted, the environment variable ATTNAUDIT_DATA, else the
        user's cache folder.

    Examples
    --------
    >>> reproduce("meister_table1", "sst", vectors="glove.txt").table  # doctest: +SKIP
    """
    make_table = registry.find(REPRODUCTIONS, table, "reproduction")
    config = ReproductionConfig(
        dataset,
        Path(out),
        None if data_dir is None else Path(data_dir),
        None if vectors is None else str(vectors),
        seed,
        sample,
        epochs,
        device,
    )
    frame = make_table(config)
    name = f"{table}-{corpus_of(dataset).replace(':', '_')}-seed_{seed}.csv"
    path = config.out / "reproductions" / name
    return Reproduction(frame, write_file(path, frame.to_csv(index=False), kind="table"))
