"""Findings stored with the runs: corpus audits in their folders, interventions next to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.core.temporary import is_temporary
from attnaudit.report.inline_data import as_json, rounded
from attnaudit.results.findings import Findings, Kind, read_findings

_LINES = 1000  # of a table, or points of a chart


class RelatedFindings:
    """Reads the findings stored with runs; those next to many runs only once."""

    def __init__(self) -> None:
        self._next_to: dict[Path, list[dict[str, Any]]] = {}  # interventions, by folder

    def of(self, folders: Sequence[Path]) -> Markup:
        """JSON with two keys.

        corpus: run number -> corpus audits in its folder; interventions: those next to any run.
        """
        folders = [Path(folder) for folder in folders]
        corpus = {
            str(index): audits
            for index, folder in enumerate(folders)
            if (audits := _readable(_corpus, folder, Kind.CORPUS_AUDIT))
        }
        interventions = []
        for parent in dict.fromkeys(folder.parent for folder in folders):
            if parent not in self._next_to:
                self._next_to[parent] = _readable(_intervention, parent, Kind.INTERVENTION)
            interventions += self._next_to[parent]
        return as_json({"corpus": corpus, "interventions": interventions})


def _readable(
    show: Callable[[Findings], dict[str, Any]], folder: Path, kind: Kind
) -> list[dict[str, Any]]:
    """The findings below a folder; those that cannot be read are left out with a notice."""
    readable = []
    for done in sorted(folder.glob(f"*/{kind.mark}")):
        if is_temporary(done.parent):
            continue
        try:
            readable.append(show(read_findings(done.parent)))
        except InputError as error:
            notice(f"left out: {error}")
    return readable


def _corpus(findings: Findings) -> dict[str, Any]:
    return {
        "name": findings.name,
        "question": findings.question,
        "summary": _lines(findings.summary),
        "detail": _lines(findings.detail),
    }


def _intervention(findings: Findings) -> dict[str, Any]:
    return {
        "name": findings.name,
        # The end only: the folder's name may hold that of a file of the user's.
        "id": findings.title.rpartition("-")[2],
        "question": findings.question,
        "answer": findings.answer,
        "summary": _lines(findings.summary),
        "examples": _lines(_sample(_by_example(findings.detail))),
        "count": len(findings.detail),
    }


def _by_example(examples: pd.DataFrame) -> pd.DataFrame:
    """One line per example: the mean over pairs of models."""
    columns = [name for name in ("jsd", "tvd", "max_attention") if name in examples]
    if "example_id" not in examples or "jsd" not in examples or "lam" in examples:
        return pd.DataFrame()
    return examples.groupby("example_id", as_index=False)[columns].mean()[columns]


def _sample(frame: pd.DataFrame) -> pd.DataFrame:
    if len(frame) <= _LINES:
        return frame
    return frame.iloc[np.sort(np.random.default_rng(0).permutation(len(frame))[:_LINES])]


def _lines(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {
            str(name): rounded(value) if isinstance(value, float) else value
            for name, value in line.items()
        }
        for line in frame.head(_LINES).to_dict("records")
    ]
