"""Audits of attention as a citation: is the source that it points at the one that was used?

Audits as in `attnaudit.audits`, with the measures of `attnaudit.measures.citations`.
"""

from collections.abc import Callable
from typing import Any

from attnaudit.audits.citations.lds import lds
from attnaudit.audits.citations.right_source import right_source
from attnaudit.audits.citations.sinks import sinks
from attnaudit.audits.citations.source_order import source_order
from attnaudit.audits.citations.source_use import source_use
from attnaudit.audits.citations.top_source import top_source
from attnaudit.audits.citations.words import top_word, word_evidence, word_lds, word_use

CITATION_AUDITS: dict[str, Callable[..., Any]] = {
    "source_use": source_use,
    "top_source": top_source,
    "lds": lds,
    "source_order": source_order,
    "sinks": sinks,
    "evidence": right_source,
}
DEFAULT_CITATION_AUDITS = tuple(CITATION_AUDITS)
# The same of the words of the sources, if both levels are audited; all of them by default.
WORD_AUDITS: dict[str, Callable[..., Any]] = {
    "word_use": word_use,
    "top_word": top_word,
    "word_lds": word_lds,
    "word_evidence": word_evidence,
}
