"""ARTIFACT.md counts what there is."""

from __future__ import annotations

import re
from pathlib import Path

from attnaudit.audits import AUDITS
from attnaudit.data import DATASETS
from attnaudit.data.listing import entries
from attnaudit.measures import MEASURES
from attnaudit.models.encoders import ENCODERS
from attnaudit.models.projections import PROJECTIONS
from attnaudit.models.scorers import SCORERS
from attnaudit.training.interventions import INTERVENTIONS
from attnaudit.training.presets import PRESETS


def test_the_page_counts_every_choice_and_corpus(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "ARTIFACT.md").read_text(encoding="utf-8")
    counts = {name: int(count) for count, name in re.findall(r"(\d+) (\w+)(?=[;, ])", text)}
    choices = {
        "datasets": DATASETS,
        "encoders": ENCODERS,
        "scorers": SCORERS,
        "projections": PROJECTIONS,
        "audits": AUDITS,
        "measures": MEASURES,
        "interventions": INTERVENTIONS,
        "presets": PRESETS,
        "corpora": [entry for entry in entries(tmp_path) if entry.needs_files],
    }
    assert {name: counts[name] for name in choices} == {
        name: len(chosen) for name, chosen in choices.items()
    }
