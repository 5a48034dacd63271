"""Everything that can be chosen, by kind: name -> what it is, the first line of its own description."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from attnaudit.audits import AUDITS
from attnaudit.datasets import DATASETS
from attnaudit.encoders import ENCODERS
from attnaudit.measures import MEASURES
from attnaudit.objectives import OBJECTIVES
from attnaudit.outputs import OUTPUTS
from attnaudit.projections import PROJECTIONS
from attnaudit.scorers import SCORERS


def catalogue() -> dict[str, dict[str, str]]:
    kinds: dict[str, dict[str, Callable[..., Any]]] = {
        "datasets": dict(DATASETS),
        "encoders": ENCODERS,
        "scorers": SCORERS,
        "projections": PROJECTIONS,
        "outputs": OUTPUTS,
        "objectives": OBJECTIVES,
        "measures": MEASURES,
        "audits": AUDITS,
    }
    return {kind: {name: describe(item) for name, item in entries.items()} for kind, entries in kinds.items()}


def describe(item: Callable[..., Any]) -> str:
    """The first line of its docstring, or of its file's."""
    own = None if item.__doc__ is None or inspect.isclass(item) else inspect.getdoc(item)
    module = inspect.getdoc(sys.modules[item.__module__])
    return ((module if len((module or "").splitlines()) else own) or "").splitlines()[0]
