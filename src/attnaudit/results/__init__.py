"""The results of audits: values, summaries, the card, findings, and how they are stored.

Other rooms may use what is exported here, and `rows`, `number_formats` and `questions`. Only
`value_table` and `summary`, which build results, import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnaudit.core.lazy_names import lazy_names

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

# Imported on first use, so that `attnaudit --help` need not wait.
__getattr__ = lazy_names(
    __name__,
    {
        "Answer": "card",
        "Card": "card",
        "Finding": "card",
        "Findings": "findings",
        "Question": "questions",
        "Results": "results",
        "load_results": "store",
        "read_findings": "findings",
    },
)
