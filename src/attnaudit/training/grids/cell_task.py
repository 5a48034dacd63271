"""What a worker does for one cell: one run or one intervention."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from attnaudit.training.experiment import make_experiment
from attnaudit.training.intervention_runs import intervene
from attnaudit.training.runner import run_experiment


def run_cell(
    choices: dict[str, Any],
    intervention: str | None,
    out: str,
    data_dir: str | None,
    device: str,
) -> dict[str, Any]:
    """Train and audit, or intervene; what is complete is left as it is.

    Parameters
    ----------
    choices : dataset, preset and the others, as `run` takes them.
    intervention : name with options; None for a run.
    out, data_dir, device : as for `run`.

    Returns
    -------
    dict with the name of the `folder` of the results, and the `notices` there were.
    """
    notices: list[str] = []
    handler = _Collector(notices)
    logger = logging.getLogger("attnaudit")
    before, logger.handlers, logger.propagate = logger.handlers, [handler], False
    where = {"data_dir": None if data_dir is None else Path(data_dir), "device": device}
    try:
        if intervention is None:
            experiment = make_experiment(**choices)
            folder = run_experiment(experiment, Path(out), show_progress=False, **where)  # type: ignore[arg-type]
        else:
            output = intervene(intervention, out=out, show_progress=False, **where, **choices)  # type: ignore[arg-type]
            folder = output.folder
    finally:
        logger.handlers, logger.propagate = before, True
    return {"folder": folder.name, "notices": notices}


class _Collector(logging.Handler):
    def __init__(self, notices: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.notices = notices

    def emit(self, record: logging.LogRecord) -> None:
        self.notices.append(record.getMessage())
