"""Which audits and measures of citations run, of sources and of the words inside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from attnaudit.auditing.selection import Choice, Registry, find_audits, find_measures
from attnaudit.audits.citations import CITATION_AUDITS, DEFAULT_CITATION_AUDITS, WORD_AUDITS
from attnaudit.core.errors import InputError
from attnaudit.measures.citations import (
    CITATION_MEASURES,
    DEFAULT_CITATION_MEASURES,
    OF_SOURCES_ONLY,
)
from attnaudit.results.audit_names import bare


class CitationChoices(NamedTuple):
    """Functions by name, with their options bound; those of words are empty for one level."""

    audits: Registry
    measures: Registry
    word_audits: Registry
    word_measures: Registry


def citation_choices(
    audits: Sequence[Choice] | None,
    measures: Sequence[Choice] | None,
    word_measures: Sequence[Choice] | None = None,
    *,
    both_levels: bool,
) -> CitationChoices:
    """Find what was chosen; wrong names and options are rejected before any work.

    Parameters
    ----------
    audits : None for the defaults, which for both levels include those of words.
    measures : of the sources; None for the defaults.
    word_measures : of the words; None for those of the sources that apply to words.
    both_levels : whether sources and words are audited.

    Examples
    --------
    >>> chosen = citation_choices(["lds", "top_word"], ["gradient"], both_levels=True)
    >>> list(chosen.audits), list(chosen.word_audits), list(chosen.word_measures)
    (['lds'], ['top_word'], ['attention', 'gradient'])
    """
    if not both_levels:
        if word_measures is not None:
            raise InputError(
                'word_measures are of the words of sources: they need items="both", which audits '
                "sources and words."
            )
        _reject_word_audits(audits)
        return CitationChoices(
            find_audits(audits, CITATION_AUDITS, DEFAULT_CITATION_AUDITS),
            find_measures(measures, CITATION_MEASURES, DEFAULT_CITATION_MEASURES),
            {},
            {},
        )
    found = find_audits(
        audits, {**CITATION_AUDITS, **WORD_AUDITS}, (*DEFAULT_CITATION_AUDITS, *WORD_AUDITS)
    )
    of_sources = find_measures(measures, CITATION_MEASURES, DEFAULT_CITATION_MEASURES)
    known = {
        name: measure for name, measure in CITATION_MEASURES.items() if name not in OF_SOURCES_ONLY
    }
    of_words = {name: m for name, m in of_sources.items() if bare(name) not in OF_SOURCES_ONLY}
    if word_measures is not None:
        of_words = find_measures(word_measures, known, tuple(of_words))
    return CitationChoices(
        {name: audit for name, audit in found.items() if bare(name) not in WORD_AUDITS},
        of_sources,
        {name: audit for name, audit in found.items() if bare(name) in WORD_AUDITS},
        of_words,
    )


def _reject_word_audits(audits: Sequence[Choice] | None) -> None:
    named = [audits] if isinstance(audits, str) else audits or ()
    of_words = [name for name in named if isinstance(name, str) and bare(name) in WORD_AUDITS]
    if of_words:
        raise InputError(
            f'{of_words[0]} is an audit of the words of sources: it needs items="both", which '
            "audits sources and words."
        )
