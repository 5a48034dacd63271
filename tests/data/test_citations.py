"""Questions with sources: files in three formats, and the simulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data.citations import CitationExample, read_citations, simulate

ROW = {"sources": ["Mia lives in Rome.", "Bo lives in Oslo."], "question": "Where is Bo?"}


def written(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    rows = [json.dumps(row) for row in content] if name.endswith("jsonl") else [json.dumps(content)]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def test_jsonl_is_read_with_its_optional_columns(tmp_path: Path) -> None:
    rows = [{**ROW, "answer": "Oslo", "gold": [1], "id": "b"}, {**ROW, "gold": None}]
    examples, bad = read_citations(written(tmp_path, "qa.jsonl", rows))
    assert examples[0] == CitationExample(
        "b", tuple(ROW["sources"]), "Where is Bo?", "Oslo", (1,), "", examples[0].where
    )
    assert (examples[1].gold, examples[1].answer, bad.count) == (None, "", 0)


def test_columns_can_have_other_names(tmp_path: Path) -> None:
    row = {"passages": ROW["sources"], "q": "Where is Bo?"}
    path = written(tmp_path, "qa.jsonl", [row])
    (example,), _ = read_citations(path, columns={"sources": "passages", "question": "q"})
    assert example.sources == tuple(ROW["sources"])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"question": "?"}, "line 2: there is no 'sources'"),
        ({**ROW, "sources": "one text"}, "line 2: 'sources' must be a list of texts"),
        ({**ROW, "sources": []}, "line 2: sources must be one or more texts"),
        ({**ROW, "gold": [2]}, "line 2: gold must hold numbers of sources from 0 to 1"),
        ({**ROW, "gold": [True]}, "line 2: 'gold' must be a list of numbers"),
        ({**ROW, "question": 3}, "line 2: 'question' must be a text"),
        ({**ROW, "question": " "}, "line 2: the question is empty"),
        ({**ROW, "answer": "Oslo", "span": "Rome"}, "line 2: span must be a part of the answer"),
        ({**ROW, "id": "row/0"}, "the id 'row/0' was used before"),
    ],
)
def test_a_bad_row_is_named_by_file_and_line(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, "qa.jsonl", [ROW, row])
    with pytest.raises(InputError, match=message.replace("'", "['\"]")) as error:
        read_citations(path)
    assert "qa.jsonl" in str(error.value)


def test_bad_rows_are_skipped_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, "qa.jsonl", [{"question": "?"}, ROW])
    examples, bad = read_citations(path, skip_bad=True)
    assert (len(examples), bad.count, dict(bad.reasons)) == (1, 1, {"no sources": 1})


def test_squad_has_the_sentence_of_the_answer_as_gold(tmp_path: Path) -> None:
    context = "It rained. We left for Oslo. Bo stayed."
    answers = [{"text": "Oslo", "answer_start": context.index("Oslo")}]
    asked = {"question": "Where to?", "id": "q1", "answers": answers}
    unknown = {"question": "Why?", "id": "q2", "answers": [], "is_impossible": True}
    content = {"data": [{"paragraphs": [{"context": context, "qas": [asked, unknown]}]}]}
    examples, _ = read_citations(written(tmp_path, "dev.json", content))
    assert examples[0].sources == ("It rained.", "We left for Oslo.", "Bo stayed.")
    assert [(each.answer, each.gold) for each in examples] == [("Oslo", (1,)), ("", None)]
    asked["answers"][0]["answer_start"] = 3
    with pytest.raises(InputError, match="question 0: the answer 'Oslo' is not at character 3"):
        read_citations(written(tmp_path, "dev.json", content))


def test_hotpotqa_has_paragraphs_or_sentences_as_sources(tmp_path: Path) -> None:
    question = {
        "_id": "h1",
        "question": "Where?",
        "answer": "Oslo",
        "supporting_facts": [["B", 1]],
        "context": [["A", ["One.", "Two."]], ["B", ["Three.", "Four."]]],
    }
    path = written(tmp_path, "hotpot.json", [question])
    (example,), _ = read_citations(path)
    assert (example.sources[1], example.gold) == ("B: Three. Four.", (1,))
    (example,), _ = read_citations(path, level="sentence")
    assert (example.sources[3], example.gold) == ("B: Four.", (3,))
    with pytest.raises(InputError, match="question 0: not as in HotpotQA"):
        read_citations(written(tmp_path, "hotpot.json", [{"question": "?"}]))


def test_broken_json_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text('{"data":\n [}', encoding="utf-8")
    with pytest.raises(InputError, match=r"dev\.json, line 2: not JSON"):
        read_citations(path)


@pytest.mark.parametrize("needed", [1, 2])
def test_only_the_gold_sources_name_who_is_asked_about_and_the_answer(needed: int) -> None:
    for example in simulate(50, sources=6, needed=needed, paraphrase=0.5):
        assert example.gold is not None
        assert len(example.gold) == needed
        with_answer = [n for n, text in enumerate(example.sources) if example.answer in text]
        assert len(with_answer) == 1
        assert with_answer[0] in example.gold
        person = next(word.strip("?") for word in example.question.split()[1:] if word[0].isupper())
        naming = [n for n, text in enumerate(example.sources) if person in text]
        assert len(naming) == 1
        assert naming[0] in example.gold
        assert len(set(example.sources)) == 6
        assert (naming == with_answer) == (needed == 1)


def test_the_knobs_of_the_simulator() -> None:
    assert {example.gold for example in simulate(20, position=4)} == {(4,)}
    assert len({example.gold for example in simulate(60)}) == 5
    plain, worded = simulate(20, paraphrase=0.0), simulate(20, paraphrase=1.0)
    assert not any(text.startswith("The ") for each in plain for text in each.sources)
    assert all(text.startswith("The ") for each in worded for text in each.sources)
    assert simulate(3, seed=1) == simulate(9, seed=1)[:3]
    assert simulate(3, seed=1) != simulate(3, seed=2)
    for wrong in ({"needed": 3}, {"sources": 1}, {"position": 5}, {"paraphrase": 2.0}):
        with pytest.raises(InputError):
            simulate(1, **wrong)
