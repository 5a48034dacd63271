"""The card of citations: are sources used, is the cited one used, and is it the source or its
place? If both levels were audited, also: is the word used that attention points at?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from attnaudit.results.card import Answer, Card
from attnaudit.results.number_formats import percent, probability
from attnaudit.results.questions import (
    CITATION,
    CITED_USED,
    CITED_WORD_USED,
    EVIDENCE_HIT,
    FROM_SOURCES,
    NO,
    PARTLY,
    SAME_SOURCE,
    UNKNOWN,
    Question,
)
from attnaudit.results.reliability import FEWEST_TEXTS
from attnaudit.results.rules.judging import OPEN, TOO_WIDE, judge, make_answer
from attnaudit.results.rules.numbers import Numbers

_FEW_EXAMPLES = 50
_MANY_IN_SINKS = 0.5
_RIGHT_SOURCE = "answers with most attention on a source that is known to be needed"
_BOTH_LEVELS = "the last answer is about words; verdict and error rates are about the sources alone"
_SUPPORT = {
    Question.USES_SOURCES: ("source_use/gain", "source_use/open_book", "source_use/closed_book"),
    Question.CITES_USED: (
        "top_source/drop@attention",
        "lds/lds@attention",
        EVIDENCE_HIT,
        "source_use/cited_used@calibrated_attention",
        "source_use/cited_used@gradient",
        "source_use/cited_used@surrogate",
    ),
    Question.FOLLOWS_SOURCE: ("source_order/same_place@attention", "source_order/first@attention"),
    Question.CITES_WORDS: (
        "top_word/drop@attention",
        "word_lds/lds@attention",
        "word_evidence/hit@attention",
        "word_use/cited_used@calibrated_attention",
        "word_use/cited_used@gradient",
        "word_use/cited_used@surrogate",
        "word_use/cited_used@leave_one_out",
    ),
}


def make_citation_card(numbers: Numbers, about: dict[str, Any]) -> Card:
    """The answers about sources, and about words if both levels were audited; from the summary."""
    answers = [uses_sources(numbers), cites_used(numbers), follows_source(numbers)]
    if _is_of_both(about):
        answers.append(cites_words(numbers))
    return Card(
        tuple(answers),
        tuple(_cautions(numbers, about)),
        _answers(numbers),
        kind=CITATION,
        has_rates=not _is_of_words(about) and numbers.count >= FEWEST_TEXTS,
    )


def _is_of_words(about: dict[str, Any]) -> bool:
    """Whether words of the sources were audited, which error rates were not measured on."""
    return about.get("model", {}).get("items") == "words"


def _is_of_both(about: dict[str, Any]) -> bool:
    """Whether sources and the words inside them were audited."""
    return about.get("model", {}).get("items") == "both"


def uses_sources(numbers: Numbers) -> Answer:
    """Answer from the closed-book pass."""
    return _answer(
        numbers,
        Question.USES_SOURCES,
        FROM_SOURCES,
        lambda value, _: (
            f"the sources at least double the probability of {percent(value)} of the answers"
        ),
        "only some of the answers need the sources",
    )


def cites_used(numbers: Numbers) -> Answer:
    """Answer from leaving out the cited source, and from keeping only it."""
    return _answer(
        numbers,
        Question.CITES_USED,
        CITED_USED,
        lambda value, floor: (
            f"the source with most attention was used for {percent(value)} of the answers that "
            f"come from sources (a random source: {percent(floor)})"
        ),
        "it points at the source that was used only in part",
    )


def follows_source(numbers: Numbers) -> Answer:
    """Answer from the sources in another order."""
    return _answer(
        numbers,
        Question.FOLLOWS_SOURCE,
        SAME_SOURCE,
        lambda value, floor: (
            f"in another order {percent(value)} of the answers have most attention on the same "
            f"source (by chance: {percent(floor)})"
        ),
        "it follows the source only in part when the order changes",
    )


def cites_words(numbers: Numbers) -> Answer:
    """Answer from leaving out the word that is pointed at, and from keeping only it."""
    return _answer(
        numbers,
        Question.CITES_WORDS,
        CITED_WORD_USED,
        lambda value, floor: (
            f"the word with most attention was used for {percent(value)} of the answers that "
            f"come from sources (a random word: {percent(floor)})"
        ),
        "it points at the word that was used only in part",
    )


def _answer(numbers: Numbers, question: Question, name: str, because: Any, partly: str) -> Answer:
    judgement = judge(numbers, question, name, groups=())
    support = tuple(
        replace(finding, meaning=_RIGHT_SOURCE) if finding.name == EVIDENCE_HIT else finding
        for finding in numbers.known(*_SUPPORT[question])
    )
    if judgement is None:
        known = numbers(name)
        findings = (*(() if known is None else (known,)), *support)
        return make_answer(
            question, UNKNOWN, numbers.why_unknown(name.partition("/")[0], name), findings
        )
    finding = judgement.finding
    return make_answer(
        question,
        judgement.answer,
        because(finding.value, finding.floor) + (OPEN if judgement.is_open else ""),
        (finding, *support),
        partly=""
        if judgement.answer != PARTLY
        else f"whether {question.claim or question.wording} is unclear {TOO_WIDE}"
        if judgement.is_open
        else partly,
        is_open=judgement.is_open,
        denial=question.denial if judgement.answer == NO else "",
    )


def _answers(numbers: Numbers) -> str:
    """How likely the answers are, with the sources and without."""
    with_sources, without = numbers("source_use/open_book"), numbers("source_use/closed_book")
    if with_sources is None or without is None:
        return ""
    return (
        f"{numbers.count} answers; mean probability per token {probability(with_sources.value)} "
        f"with the sources, {probability(without.value)} without any."
    )


def _cautions(numbers: Numbers, about: dict[str, Any]) -> Iterator[str]:
    if 0 < numbers.count < _FEW_EXAMPLES:
        yield (
            f"only {numbers.count} answers were audited; intervals are rough with fewer than "
            f"{_FEW_EXAMPLES}"
        )
    if _is_of_words(about):
        yield (
            "single words of the sources were scored and left out; read “source” as “word of a "
            "source”"
        )
    if _is_of_both(about):
        yield _BOTH_LEVELS
    sink = numbers("sinks/first_token")
    if sink is not None and sink.value > _MANY_IN_SINKS:
        yield (
            f"{percent(sink.value)} of the attention is on the first token; the answers are about "
            "the weights of the sources"
        )
    likely = numbers("source_use/open_book")
    if likely is not None and likely.high < 0.1:
        yield "the model finds these answers unlikely even with the sources"
