"""Finished runs read back from their folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from attnaudit.core.errors import InputError
from attnaudit.training.checkpoint import audited_batches
from attnaudit.training.experiment import make_experiment
from attnaudit.training.runner import run_experiment
from finished_runs import edit_run


def test_a_run_that_names_foreign_data_is_not_read_without_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_experiment(
        "keyword:train=20,dev=4,test=8",
        epochs=1,
        audits=("uniform_attention",),
        measures=("random",),
    )
    folder = run_experiment(cell, tmp_path, show_progress=False)
    (tmp_path / "evil_data.py").write_text("raise SystemExit('code ran')")
    monkeypatch.syspath_prepend(tmp_path)
    edit_run(folder, lambda details: details["choices"].update(dataset="evil_data:go"))
    with pytest.raises(InputError, match="Loading would run it"):
        audited_batches(folder)
    edit_run(
        folder, lambda details: details["choices"].update(dataset="keyword", base="../elsewhere")
    )
    with pytest.raises(InputError, match="not the name of a run in the same folder"):
        audited_batches(folder)
