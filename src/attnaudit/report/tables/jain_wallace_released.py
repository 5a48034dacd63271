"""tau by predicted class, in the layout of the csv files released with Jain & Wallace 2019.

Their repository has, in graph_outputs, GradientPval/sst+lstm+tanh.csv and (leave-one-out)
pyxc-pyc_pval/sst+lstm+tanh.csv: header ",pval_sig,mean,std", rows "0", "1" and "Overall"; pval_sig
is the share with p ≤ 0.05 in two decimals, std that of the population. Most released files have
either the class rows or Overall; one version of their code writes both, and so do we, the classes
first. In theirs an undefined tau makes the mean NaN and counts as not significant; here it counts
as not significant too, and is left out of mean and std.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from attnaudit.core import registry
from attnaudit.core.errors import NotApplicable
from attnaudit.report.run_sources import Run
from attnaudit.results.run_names import file_name

FOLDERS = {"gradient": "GradientPval", "leave_one_out": "pyxc-pyc_pval"}
_CORPORA = {
    "newsgroups": "20News_sports",
    "adr_tweets": "tweet",
    "ag_news": "agnews",
    "mimic:task=diabetes": "diab",
    "mimic:task=anemia": "anemia",
    "cnn_qa": "cnn",
}
_PARTS = {"bilstm": "lstm", "cnn": "cnn(1,3,5,7)", "additive": "tanh"}
_DEFAULTS = {
    "model": "attentive",
    "projection": "softmax",
    "output": "linear_query",
    "variant": "ordinary",
    "seed": 0,
}


def released(run: Run, measure: str) -> pd.DataFrame:
    """pval_sig (text), mean and std, by class number and Overall.

    By class only if at most three are predicted, as in the released files.
    """
    tau = run.need("agreement", "tau", measure)
    # p ≤ 0.05; if there are several rows, the share of them.
    significant = run.need("agreement", "significant", measure)
    predicted = run.columns.predicted
    groups = {"Overall": np.ones(len(tau), dtype=bool)}
    if len(seen := np.unique(predicted)) < 4:
        groups = {**{str(number): predicted == number for number in seen}, **groups}
    lines = {}
    for name, members in groups.items():
        known = tau[members][~np.isnan(tau[members])]
        lines[name] = {
            "pval_sig": f"{np.nansum(significant[members]) / members.sum():.2f}",
            "mean": known.mean() if len(known) else np.nan,
            "std": known.std() if len(known) else np.nan,
        }
    return pd.DataFrame.from_dict(lines, orient="index", columns=["pval_sig", "mean", "std"])


def released_names(runs: Sequence[Run]) -> list[str]:
    """Unique names as in the released files: dataset+encoder+scorer, then other choices."""
    names = [_name(run) for run in runs]
    return [
        f"{name}+{run.title[-8:]}" if names.count(name) > 1 else name
        for name, run in zip(names, runs, strict=True)
    ]


def _name(run: Run) -> str:
    from attnaudit.data.corpus_info import corpus_of  # loads torch

    chosen = run.choices
    if not chosen:
        return file_name(run.title)
    corpus = corpus_of(chosen["dataset"])
    dataset = _CORPORA.get(corpus, corpus.replace(":task=", "_"))
    parts = [_part(str(chosen[key])) for key in ("encoder", "scorer")]
    others = [
        f"seed_{chosen[key]}" if key == "seed" else str(chosen[key])
        for key, default in _DEFAULTS.items()
        if chosen.get(key, default) != default
    ]
    return "+".join([file_name(dataset), *parts, *map(file_name, others)])


def _part(choice: str) -> str:
    """Their name of an encoder or scorer, ours if they have none (or a cnn with other kernels)."""
    name, options = registry.parse(choice)
    return file_name(choice) if "kernels" in options else _PARTS.get(name, file_name(name))


def released_tables(runs: Sequence[Run]) -> dict[str, pd.DataFrame]:
    """{"GradientPval/sst+lstm+tanh": table}, of the runs and measures that have it."""
    tables, why = {}, "no run was given"
    for run, name in zip(runs, released_names(runs), strict=True):
        for measure, folder in FOLDERS.items():
            try:
                tables[f"{folder}/{name}"] = released(run, measure)
            except NotApplicable as reason:
                why = str(reason)
    if not tables:
        raise NotApplicable(why)
    return tables
