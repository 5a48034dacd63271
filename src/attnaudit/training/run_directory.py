"""The directory of a finished run: model, vocabulary, log and results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from attnaudit.core.errors import OutputError
from attnaudit.core.output_folders import write_folder
from attnaudit.results import store
from attnaudit.results.checksums import write_json
from attnaudit.results.results import Results
from attnaudit.results.run_log import RUN_LOG, RunLog
from attnaudit.training.preparation import Preparation
from attnaudit.training.run_place import still_fits
from attnaudit.training.trained_model import state_bytes
from attnaudit.training.trainer import History, scores_on_test


def write_run(
    ready: Preparation,
    history: History,
    results: Results,
    folder: Path,
    log: RunLog,
    seconds: dict[str, float],
) -> None:
    """Write the run directory, whole or not at all."""
    log.phase("performance on the test split")
    seed = ready.experiment.seed
    stored: dict[str, Any] = {
        "choices": ready.experiment.choices(),
        "model": ready.model,
        "data": ready.data,
        "training": {
            "kept_epoch": history.best_epoch,
            "dev": list(history.dev_scores),
            "score": history.score_name,
            "trained_in": history.trained_in,
            "device": history.device,
            "losses": list(history.losses),
        },
        "performance": scores_on_test(ready.training.model, ready.splits, ready.vocabulary, seed),
        "threads": torch.get_num_threads(),  # the last bits of float sums depend on it
        "seconds": seconds,
    }
    log.phase("writing")
    log_text = log.text(folder.name, stored["choices"], store.versions(), stored["threads"])

    def write(draft: Path) -> None:
        (draft / RUN_LOG).write_text(log_text, encoding="utf-8")
        write_json(draft / "vocabulary.json", list(ready.vocabulary.words))
        (draft / "model.safetensors").write_bytes(state_bytes(ready.fresh))
        store.write_results(results, draft, run=stored)

    try:
        write_folder(folder, write, replace=True, keep=still_fits)
    except OutputError as error:
        error.results = replace(results, columns=results.columns.in_memory())
        raise
