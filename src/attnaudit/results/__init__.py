"""The results of audits: values, summaries, the card, findings, and how they are stored.

Other rooms may use what is exported here, and `rows`, `number_formats` and `questions`. Only
`value_table` and `summary`, which build results, import torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attnaudit.results.card import Answer, Card, Finding
    from attnaudit.results.findings import Findings, read_findings
    from attnaudit.results.questions import Question
    from attnaudit.results.results import Results
    from attnaudit.results.store import load_results

__all__ = [
    "Answer",
    "Card",
    "Finding",
    "Findings",
    "Question",
    "Results",
    "load_results",
    "read_findings",
]

_HOME = {
    "Answer": "card",
    "Card": "card",
    "Finding": "card",
    "Findings": "findings",
    "Question": "questions",
    "Results": "results",
    "load_results": "store",
    "read_findings": "findings",
}


def __getattr__(name: str) -> Any:
    """Import an export when it is first used, so that `attnaudit --help` need not wait."""
    if name not in _HOME:
        raise AttributeError(f"module 'attnaudit.results' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"attnaudit.results.{_HOME[name]}"), name)
    globals()[name] = value
    return value
