"""Audits of a whole corpus: what only all examples together can show.

A corpus audit is a function (model, batches, seed) -> CorpusFindings, with keyword-only options. A
new one is one file and one line in `CORPUS_AUDITS` below.
"""

from collections.abc import Callable

from attnaudit.audits.corpus.findings import CorpusFindings
from attnaudit.audits.corpus.mutual_information import mutual_information

CORPUS_AUDITS: dict[str, Callable[..., CorpusFindings]] = {"mutual_information": mutual_information}

__all__ = ["CORPUS_AUDITS", "CorpusFindings"]
