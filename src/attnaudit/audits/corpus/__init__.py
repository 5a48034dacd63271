"""Corpus audits: (model, batches, seed) -> CorpusFindings; what only all the examples together can show."""

from collections.abc import Callable

from attnaudit.audits.corpus.findings import CorpusFindings
from attnaudit.audits.corpus.mutual_information import mutual_information

CORPUS_AUDITS: dict[str, Callable[..., CorpusFindings]] = {"mutual_information": mutual_information}

__all__ = ["CORPUS_AUDITS", "CorpusFindings"]
