"""What is read from the finished runs of an item."""

from __future__ import annotations

from pathlib import Path

from attnaudit.papers.finished_cells import FinishedRun
from attnaudit.training.experiment import make_experiment
from attnaudit.training.runner import run_experiment

DATASET = "keyword:train=40,dev=16,test=20,length=6,jitter=1,distractors=1"


def test_counts_are_those_of_the_whole_split_whatever_was_sampled(tmp_path: Path) -> None:
    """The spread of a published number must not depend on how many texts are audited here."""
    texts = []
    for sample in (None, 5):
        choices = {"encoder": "average", "embedding": 4, "epochs": 1, "sample": sample}
        experiment = make_experiment(
            DATASET, audits=["agreement"], measures=["gradient", "random"], **choices
        )
        run = FinishedRun(run_experiment(experiment, tmp_path, show_progress=False))
        line = run.line("agreement", "tau", "gradient")
        texts.append(line["texts"])
        assert line["count"] == (sample or 20)
    assert texts == [20, 20]
    assert run.line("agreement", "no_such_metric")["texts"] == 0
