"""The page of citations: outcomes, table, and what is shown of each answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attnaudit import cite
from attnaudit.data.citations import simulate
from attnaudit.models.planted_citations import PlantedReader
from attnaudit.report.citations import citation_data
from attnaudit.report.page import write_page
from attnaudit.results.results import Results

QUESTIONS = [replace(each, answer=each.answer) for each in simulate(12)]


@pytest.fixture(scope="module")
def results() -> Results:
    evil = replace(QUESTIONS[0], sources=("</script><b>", *QUESTIONS[0].sources[1:]))
    return cite(PlantedReader("first"), [evil, *QUESTIONS[1:]], show_progress=False)


def test_the_outcomes_are_counted_and_shown_with_every_answer(results: Results) -> None:
    data = citation_data(results)
    right = sum(0 in (each.gold or ()) for each in QUESTIONS)
    counts = {key: count for key, count, _ in data["outcomes"]}
    assert counts == {
        "known_without": 0,
        "unsupported": 0,
        "only_together": 0,
        "used_cited": right,
        "used_other": 12 - right,
    }
    for answer, question in zip(data["answers"], QUESTIONS, strict=True):
        assert answer["id"] == question.example_id
        assert answer["outcome"] == ("used_cited" if question.gold == (0,) else "used_other")
        assert answer["gold"] == [n in (question.gold or ()) for n in range(5)]
        assert np.argmax(answer["scores"]["attention"]) == 0
        assert answer["per_token"][0] == answer["scores"]["attention"]
        # In the other order, attention is on the source that now stands first.
        assert np.argmax(answer["scores"]["attention_shuffled"]) == answer["order"][0]


def test_the_model_that_knows_is_told_from_one_that_guesses() -> None:
    for kind, expected in (("knows", "known_without"), ("copier", "used_cited")):
        data = citation_data(cite(PlantedReader(kind), QUESTIONS[:3], show_progress=False))
        assert {answer["outcome"] for answer in data["answers"]} == {expected}


def test_no_outcome_is_stated_if_it_was_not_audited(tmp_path: Path) -> None:
    audited = cite(PlantedReader("copier"), QUESTIONS, audits=["sinks"], show_progress=False)
    data = citation_data(audited)
    assert data["outcomes"] == []
    assert {answer["outcome"] for answer in data["answers"]} == {""}
    page = audited.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What became of the answers" not in page


def test_texts_from_outside_stay_texts(results: Results, tmp_path: Path) -> None:
    page = results.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "</script><b>" not in page
    assert "May I show this model’s attention as the source of an answer?" in page
    assert "Not as a citation" in page


def test_words_are_shown_inside_their_sources_with_a_table_of_their_own(tmp_path: Path) -> None:
    audited = cite(PlantedReader("copier", "both"), QUESTIONS, show_progress=False)
    data = citation_data(audited)
    assert [line["name"] for line in data["word_table"]] == [
        line["name"] for line in data["table"] if line["name"] != "attention in another order"
    ]
    first = data["word_table"][0]["cells"]
    names = dict(zip(data["word_columns"], first, strict=True))
    assert names["used word first"][0] == audited.mean("word_use", "cited_used", "attention") == 1.0
    assert names["LDS"][0] == audited.mean("word_lds", "lds", "attention")
    for answer, question in zip(data["answers"], QUESTIONS, strict=True):
        words = answer["words"]
        assert words["texts"] == [word for text in question.sources for word in text.split()]
        counts = [words["source"].count(number) for number in range(5)]
        assert counts == [len(text.split()) for text in question.sources]
        top = int(np.argmax(words["scores"]["attention"]))
        assert words["texts"][top].strip(".") == question.answer
        assert words["per_token"] == [words["scores"]["attention"]]
        assert answer["sources"] == list(question.sources)
    page = audited.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "The same of the words inside the sources" in page


def test_one_level_has_no_table_of_words(results: Results, tmp_path: Path) -> None:
    data = citation_data(results)
    assert data["word_table"] == []
    assert {answer["words"] for answer in data["answers"]} == {None}
    page = results.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "words inside the sources" not in page


def test_two_audits_of_citations_share_a_page_of_cards(results: Results, tmp_path: Path) -> None:
    page = write_page([results, results], tmp_path / "two.html").read_text(encoding="utf-8")
    assert page.count("does attention point at the source it uses?") >= 1
