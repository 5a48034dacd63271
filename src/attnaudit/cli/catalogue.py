"""Everything that can be chosen, by kind, with the first line of its docstring."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from attnaudit.audits import AUDITS
from attnaudit.audits.citations import CITATION_AUDITS, WORD_AUDITS
from attnaudit.audits.corpus import CORPUS_AUDITS
from attnaudit.data import DATASETS
from attnaudit.measures import MEASURES
from attnaudit.measures.citations import CITATION_MEASURES
from attnaudit.models import MODELS
from attnaudit.models.encoders import ENCODERS
from attnaudit.models.outputs import OUTPUTS
from attnaudit.models.projections import PROJECTIONS
from attnaudit.models.scorers import SCORERS
from attnaudit.papers.catalogue import PAPERS
from attnaudit.training.interventions import INTERVENTIONS
from attnaudit.training.presets import PRESETS


def catalogue() -> dict[str, dict[str, str]]:
    """Kind -> name -> description."""
    kinds: dict[str, dict[str, Callable[..., Any]]] = {
        "datasets": dict(DATASETS),
        "models": MODELS,
        "encoders": ENCODERS,
        "scorers": SCORERS,
        "projections": PROJECTIONS,
        "outputs": OUTPUTS,
        "measures": MEASURES,
        "audits": AUDITS,
        "corpus audits": CORPUS_AUDITS,
        "measures of citations": CITATION_MEASURES,
        "audits of citations": CITATION_AUDITS,
        "audits of the words of sources": WORD_AUDITS,
        "interventions": INTERVENTIONS,
        "presets": PRESETS,
    }
    papers = {
        f"{paper} {item.name}": item.shows for paper, items in PAPERS.items() for item in items
    }
    listed = {kind: _descriptions(entries) for kind, entries in kinds.items()}
    return {**listed, "reproductions": papers}


def _descriptions(entries: dict[str, Callable[..., Any]]) -> dict[str, str]:
    """First line of the module's docstring, or of the function's if the module holds several."""
    counts = Counter(item.__module__ for item in entries.values())
    documented = {
        name: item if counts[item.__module__] > 1 else sys.modules[item.__module__]
        for name, item in entries.items()
    }
    texts = {name: inspect.getdoc(item) or "" for name, item in documented.items()}
    return {name: next(iter(text.splitlines()), "") for name, text in texts.items()}
