"""What else lies with the runs: corpus audits in their folders, interventions beside them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from attnaudit.report.embedding import rounded

_POINTS = 1000
_LINES = 200


def beside(folders: Sequence[Path]) -> dict[str, Any]:
    """corpus: run number -> corpus audits found in its folder; interventions: those beside any of the runs, each once."""
    folders = [Path(folder) for folder in folders]
    corpus = {
        str(at): found
        for at, folder in enumerate(folders)
        if (found := [_corpus(each) for each in sorted(folder.glob("*/corpus_audit.json"))])
    }
    parents = dict.fromkeys(folder.parent for folder in folders)
    found = [_intervention(each) for parent in parents for each in sorted(parent.glob("*/intervention.json"))]
    return {"corpus": corpus, "interventions": found}


def _corpus(done: Path) -> dict[str, Any]:
    about = json.loads(done.read_text(encoding="utf-8"))
    frames = [pd.read_parquet(done.with_name(f"{name}.parquet")) for name in ("summary", "detail")]
    return {"name": about["name"], "question": about["question"], "summary": _lines(frames[0]), "detail": _lines(frames[1])}  # fmt: skip


def _intervention(done: Path) -> dict[str, Any]:
    about = json.loads(done.read_text(encoding="utf-8"))
    summary, examples = (
        pd.read_parquet(done.with_name(f"{name}.parquet")) for name in ("summary", "examples")
    )
    return {
        "name": about["name"],
        "id": done.parent.name.rpartition("-")[2],  # the folder's name may hold that of a file of the user's
        "question": about["question"],
        "summary": _lines(summary),
        "examples": _lines(_sample(_by_example(examples))),
        "count": len(examples),
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
        {str(name): rounded(value) if isinstance(value, float) else value for name, value in line.items()}
        for line in kept.to_dict("records")
    ]
