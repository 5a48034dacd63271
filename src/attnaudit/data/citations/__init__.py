"""Questions with sources: examples, files that hold them, and a simulator of known truth.

`example` is one question with its sources and answer; `read_citations` reads jsonl files and files
in the formats of SQuAD (`squad`) and HotpotQA (`hotpotqa`); `simulator` makes questions whose right
sources are known; `batch` holds them as a model reads them.
"""

from attnaudit.data.citations.batch import (
    BOTH,
    FIRST_SOURCE,
    MARKS,
    REST,
    SOURCES,
    START,
    WORDS,
    CitationBatch,
)
from attnaudit.data.citations.example import CitationExample
from attnaudit.data.citations.files import read_citations
from attnaudit.data.citations.simulator import simulate

__all__ = [
    "BOTH",
    "FIRST_SOURCE",
    "MARKS",
    "REST",
    "SOURCES",
    "START",
    "WORDS",
    "CitationBatch",
    "CitationExample",
    "read_citations",
    "simulate",
]
