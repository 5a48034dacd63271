"""What else lies with the runs: corpus audits in their folders, interventions beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.core.temporary import is_temporary
from attnaudit.report.inline_data import rounded
from attnaudit.results.findings import Findings, Kind, read_findings

_POINTS = 1000
_LINES = 200


def beside(folders: Sequence[Path]) -> dict[str, Any]:
    """corpus: run number -> corpus audits found in its folder; interventions: those beside any of the runs, each once."""
    folders = [Path(folder) for folder in folders]
    corpus = {
        str(at): found
        for at, folder in enumerate(folders)
        if (found := _readable(_corpus, folder, Kind.CORPUS_AUDIT))
    }
    parents = dict.fromkeys(folder.parent for folder in folders)
    found = [
        each for parent in parents for each in _readable(_intervention, parent, Kind.INTERVENTION)
    ]
    return {"corpus": corpus, "interventions": found}


def _readable(
    shown: Callable[[Findings], dict[str, Any]], folder: Path, kind: Kind
) -> list[dict[str, Any]]:
    """The findings below a folder; those that cannot be read are named and left out."""
    found = []
    for done in sorted(folder.glob(f"*/{kind.mark}")):
        if is_temporary(done.parent):
            continue
        try:
            found.append(shown(read_findings(done.parent)))
        except InputError as error:
            notice(f"left out: {error}")
    return found


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
    """One line an example: the mean over pairs of models."""
    wanted = [name for name in ("jsd", "tvd", "max_attention") if name in examples]
    if "example_id" not in examples or "jsd" not in examples or "lam" in examples:
        return pd.DataFrame()
    return examples.groupby("example_id", as_index=False)[wanted].mean()[wanted]


def _sample(frame: pd.DataFrame) -> pd.DataFrame:
    if len(frame) <= _POINTS:
        return frame
    return frame.iloc[np.sort(np.random.default_rng(0).permutation(len(frame))[:_POINTS])]


def _lines(frame: pd.DataFrame) -> list[dict[str, Any]]:
    kept = frame.head(max(_LINES, _POINTS))
    return [
        {
            str(name): rounded(value) if isinstance(value, float) else value
            for name, value in line.items()
        }
        for line in kept.to_dict("records")
    ]
