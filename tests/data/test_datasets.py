"""Simulators, the bAbI text format, tokenisers, the SST reader, and loading datasets by name."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data import DATASETS, load
from attnaudit.data.corpora.babi_simulated import PLACES, VERBS, babi, simulate
from attnaudit.data.corpora.babi_text import answers, as_text, examples, parse
from attnaudit.data.corpora.keyword import DISTRACTORS, EVIDENCE, FILLERS, keyword, keyword_example
from attnaudit.data.corpora.sst import ABOUT, sst
from attnaudit.data.reading.tokenise import Cleaner, find_tokeniser, tokeniser_name
from attnaudit.data.splits import Example

TEXT = """1 Ann went to the attic.
2 Ben took the lamp there.
3 Where is Ann? \tattic\t1
4 Ann moved to the cellar.
5 Where is Ann? \tcellar\t4
1 Ben went to the cellar.
2 Where is Ben? \tcellar\t1
"""


# bAbI: the simulator ------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [1, 2, 3])
def test_every_simulated_answer_follows_from_the_text(task: int) -> None:
    made = babi(task=task, train=500, test=500)
    for example in (*made.train, *made.dev, *made.test):
        assert PLACES[_label(example)] == _replay(_sentences(example), example.query or ())


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_evidence_is_as_many_sentences_as_the_task_has_facts_and_is_enough(task: int) -> None:
    for example in babi(task=task, train=500, test=0).train:
        marked = {
            segment
            for segment, true in zip(
                _known(example.segments), _known(example.evidence), strict=True
            )
            if true
        }
        assert len(marked) == task
        for token, segment, true in zip(
            example.tokens, _known(example.segments), _known(example.evidence), strict=True
        ):
            assert true == (segment in marked and token != ".")
        kept = [sentence for number, sentence in enumerate(_sentences(example)) if number in marked]
        assert PLACES[_label(example)] == _from_facts(kept, example.query or ())


def test_without_the_evidence_the_replay_fails() -> None:
    """The control: the two tests above could not fail if any sentences gave the answer."""
    wrong = 0
    for example in babi(task=2, train=500, test=0).train:
        marked = {
            segment
            for segment, true in zip(
                _known(example.segments), _known(example.evidence), strict=True
            )
            if true
        }
        rest = [
            sentence for number, sentence in enumerate(_sentences(example)) if number not in marked
        ]
        wrong += PLACES[_label(example)] != _replay(rest, example.query or ())
    assert wrong > 250


@pytest.mark.parametrize(
    ("train", "share", "test", "sizes"),
    [(1004, 0.15, 17, (853, 151, 17)), (40, 0.5, 0, (20, 20, 0)), (20, 0.0, 3, (20, 0, 3))],
)
def test_babi_sizes_are_exact(
    train: int, share: float, test: int, sizes: tuple[int, int, int]
) -> None:
    made = babi(task=1, train=train, dev_share=share, test=test)
    assert (len(made.train), len(made.dev), len(made.test)) == sizes
    assert [each.example_id for each in made.test] == [f"test/{number}" for number in range(test)]


def test_babi_depends_on_the_seed_and_on_nothing_else() -> None:
    made = babi(task=3, train=60, test=20, seed=5)
    assert made == babi(seed=5, test=20, train=60, task=3)
    assert made.test != babi(task=3, train=60, test=20, seed=6).test
    assert made.train == babi(task=3, train=600, test=20, seed=5).train[: len(made.train)]


def test_babi_splits_share_no_story() -> None:
    told = [
        {as_text([story]) for story in simulate(task=2, questions=1000, split=split, seed=0)}
        for split in ("train", "dev", "test")
    ]
    assert [len(each) for each in told] == [200, 200, 200]
    assert len(set.union(*told)) == 600


def test_babi_answers_are_about_even() -> None:
    counts = Counter(
        example.label for example in babi(task=1, train=6000, dev_share=0, test=0).train
    )
    assert len(counts) == 6
    assert all(800 < count < 1200 for count in counts.values())


# bAbI: the text format ----------------------------------------------------------------------------


def test_examples_of_a_text_in_the_official_format() -> None:
    stories = parse(TEXT)
    assert answers(stories) == ("attic", "cellar")
    assert examples(stories, answers(stories), split="dev") == (
        Example(
            "dev/0",
            ("ann", "went", "to", "the", "attic", ".", "ben", "took", "the", "lamp", "there"),
            label=0,
            query=("where", "is", "ann"),
            evidence=(True,) * 5 + (False,) * 6,
            segments=(0,) * 6 + (1,) * 5,
        ),
        Example(
            "dev/1",
            _words("ann went to the attic . ben took the lamp there . ann moved to the cellar"),
            label=1,
            query=("where", "is", "ann"),
            evidence=(False,) * 12 + (True,) * 5,
            segments=(0,) * 6 + (1,) * 6 + (2,) * 5,
        ),
        Example(
            "dev/2",
            ("ben", "went", "to", "the", "cellar"),
            label=1,
            query=("where", "is", "ben"),
            evidence=(True,) * 5,
            segments=(0,) * 5,
        ),
    )


def test_text_survives_reading_and_writing() -> None:
    assert as_text(parse(TEXT)) == TEXT


@settings(max_examples=30, deadline=None)
@given(task=st.sampled_from([1, 2, 3]), questions=st.integers(0, 12), seed=st.integers(0, 2**40))
def test_simulated_stories_survive_writing_and_reading(
    task: int, questions: int, seed: int
) -> None:
    stories = simulate(task=task, questions=questions, split="train", seed=seed)
    assert parse(as_text(stories)) == stories
    assert sum(line.answer is not None for story in stories for line in story) == questions


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2 Ann slept.\n", r"qa.txt, line 1: expected a line with id 1, got '2 Ann slept.'"),
        ("1 Ann slept.\n3 Ben slept.\n", r"line 2: expected a line with id 2 or 1"),
        (
            "1 Ann slept.\n2 Who?\tAnn\n",
            r"line 2: expected question<TAB>answer<TAB>supporting ids, got 2 fields",
        ),
        (
            "1 Ann slept.\n2 Who? \tAnn\t3\n",
            r"line 2: the supporting id '3' is not a statement before",
        ),
        (
            "1 Ann slept.\n2 Who? \tAnn\t1\n3 Who? \tAnn\t2\n",
            r"line 3: the supporting id '2' is not a statement",
        ),
    ],
)
def test_text_that_is_not_in_the_format_is_rejected_by_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text, source="qa.txt")


def test_an_answer_outside_the_classes_is_rejected() -> None:
    with pytest.raises(InputError, match="'cellar' is none of the classes attic"):
        examples(parse(TEXT), ["attic"], split="dev")


# keyword ------------------------------------------------------------------------------------------


def test_the_evidence_words_decide_and_are_marked() -> None:
    made = keyword(evidence=2, distractors=4, length=15, jitter=3, train=400, dev=11, test=10)
    assert (len(made.train), len(made.dev), len(made.test)) == (400, 11, 10)
    for example in (*made.train, *made.dev, *made.test):
        evidence = [
            token
            for token, true in zip(example.tokens, _known(example.evidence), strict=True)
            if true
        ]
        assert len(evidence) == 2
        assert set(evidence) <= set(EVIDENCE[_label(example)])
        assert sum(token in DISTRACTORS for token in example.tokens) == 4
        assert sum(token in FILLERS for token in example.tokens) == len(example.tokens) - 6
    assert {len(example.tokens) for example in made.train} == set(range(12, 19))
    assert Counter(example.label for example in made.train) == {0: 200, 1: 200}


def test_without_its_evidence_a_text_is_the_same_in_both_classes() -> None:
    """Exact, not statistical: the other label changes the evidence words and nothing else."""
    for number in range(50):
        one, other = (
            keyword_example(f"test/{number}", label, 2, 3, 20, 5, seed=1) for label in (0, 1)
        )
        assert one.evidence == other.evidence
        pairs = zip(one.tokens, other.tokens, _known(one.evidence), strict=True)
        assert all((first != second) == true for first, second, true in pairs)


def test_the_lexicons_share_no_word() -> None:
    words = [*EVIDENCE[0], *EVIDENCE[1], *DISTRACTORS, *FILLERS]
    assert len(words) == len(set(words)) == 5 + 5 + 8 + 200


def test_evidence_lies_anywhere_and_fillers_are_zipf_like() -> None:
    made = keyword(length=20, jitter=0, train=2000, dev=0, test=0)
    places = Counter(_known(example.evidence).index(True) for example in made.train)
    assert len(places) == 20
    assert all(60 < count < 140 for count in places.values())
    counts = Counter(token for example in made.train for token in example.tokens)
    assert 1.7 < counts[FILLERS[0]] / counts[FILLERS[1]] < 2.3
    assert 7 < counts[FILLERS[0]] / counts[FILLERS[9]] < 13


def test_keyword_depends_on_the_seed_and_on_nothing_else() -> None:
    made = keyword(train=20, dev=5, test=5, seed=3)
    assert made == keyword(seed=3, test=5, dev=5, train=20)
    assert made.train != keyword(train=20, dev=5, test=5, seed=4).train
    assert made.train == keyword(train=40, dev=5, test=5, seed=3).train[:20]


# options ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ("babi:task=7", "babi: task must be 1, 2 or 3, got 7. Write for example babi:task=2."),
        ("babi:task=true", "babi: task must be 1, 2 or 3, got True."),
        ("babi:train=-5", "babi: train must be a whole number of at least 1, got -5."),
        ("babi:test=many", "babi: test must be a whole number of at least 0, got 'many'."),
        ("babi:dev_share=1", "babi: dev_share must be at least 0 and below 1, got 1."),
        ("babi:dev_share=no", "babi: dev_share must be at least 0 and below 1, got 'no'."),
        ("keyword:evidence=0", "keyword: evidence must be a whole number of at least 1, got 0."),
        ("keyword:length=9.5", "keyword: length must be a whole number of at least 1, got 9.5."),
        ("keyword:test=-1", "keyword: test must be a whole number of at least 0, got -1."),
        (
            "keyword:length=8,jitter=5",
            "keyword: 1 evidence words and 3 distractors do not fit into the shortest text "
            "of 3 tokens",
        ),
        (
            "babi:tsk=1",
            "The dataset 'babi' has no option 'tsk'. "
            "Choose from: task, train, dev_share, test, seed.",
        ),
        ("kyword", "There is no dataset 'kyword'. Did you mean 'keyword'? Choose from: "),
    ],
)
def test_bad_choices_are_rejected_with_an_input_error(choice: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        load(choice)
    assert str(error.value).startswith(message)


def test_the_shortest_text_may_be_full() -> None:
    made = keyword(evidence=1, distractors=2, length=5, jitter=2, train=50, dev=0, test=0)
    assert min(len(example.tokens) for example in made.train) == 3


def test_load_gives_the_seed_unless_the_choice_has_its_own() -> None:
    short = "keyword:train=10,dev=2,test=2"
    assert load(short, seed=4) == keyword(train=10, dev=2, test=2, seed=4)
    assert load(f"{short},seed=9", seed=4) == keyword(train=10, dev=2, test=2, seed=9)


def test_load_takes_a_function_from_elsewhere() -> None:
    made = load("attnaudit.data.corpora.keyword:keyword:train=10,dev=0,test=0", seed=2)
    assert made == keyword(train=10, dev=0, test=0, seed=2)


def test_options_of_datasets_are_keyword_only() -> None:
    for name, dataset in DATASETS.items():
        for at, parameter in enumerate(inspect.signature(dataset).parameters.values()):
            is_place = at == 0 and parameter.name == "place"
            assert is_place or parameter.kind is inspect.Parameter.KEYWORD_ONLY, (
                name,
                parameter.name,
            )


# tokenisers ---------------------------------------------------------------------------------------

SENTENCE = "It isn't well-made, in 2004!"


def test_tokenisers_and_their_names() -> None:
    assert find_tokeniser("blanks").split(SENTENCE) == ["It", "isn't", "well-made,", "in", "2004!"]
    assert find_tokeniser("regex").split(SENTENCE) == [
        "It",
        "isn't",
        "well-made",
        ",",
        "in",
        "2004",
        "!",
    ]
    assert find_tokeniser("keras").split(SENTENCE) == ["It", "isn't", "well", "made", "in", "2004"]
    assert [find_tokeniser(name).name for name in ("blanks", "regex", "keras")] == [
        "blanks",
        "regex",
        "keras",
    ]


def test_spacy_by_name_and_by_default() -> None:
    spacy = pytest.importorskip("spacy")
    tokeniser = find_tokeniser("spacy")
    assert tokeniser.split(SENTENCE) == [
        "It",
        "is",
        "n't",
        "well",
        "-",
        "made",
        ",",
        "in",
        "2004",
        "!",
    ]
    assert tokeniser.split(" two  blanks ") == ["two", "blanks"]
    assert tokeniser.name == f"spacy-{spacy.__version__.rsplit('.', 1)[0]} blank en"
    assert find_tokeniser().name == tokeniser_name() == tokeniser_name("spacy") == tokeniser.name


def test_without_spacy_the_default_is_regex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_tokeniser().name == tokeniser_name() == "regex"


def test_without_spacy_asking_for_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(
        InputError, match=r"pip install 'attnaudit\[text\]', or choose tokeniser=regex"
    ):
        find_tokeniser("spacy")


@pytest.mark.parametrize("choice", ["nltk", ["regex"], 5])
def test_an_unknown_tokeniser_lists_the_choices(choice: Any) -> None:
    with pytest.raises(
        InputError, match=r"no tokeniser .*\. Choose from: auto, spacy, regex, blanks, keras"
    ):
        find_tokeniser(choice)


def test_cleaning() -> None:
    assert Cleaner().clean(["The", "21st", "Film", "x²"]) == ("the", "qqq", "film", "qqq")
    assert Cleaner(replace_numbers=False).clean(["The", "21st"]) == ("the", "21st")


# SST ----------------------------------------------------------------------------------------------

GOOD = (
    "(4 (2 (2 A) (2 (3 warm) (2 (2 ,) (3 well-made)))) "
    "(2 (2 -LRB-) (2 (2 21st) (2 (2 Century) (2 (2 -RRB-) (2 film))))))"
)
BAD = (
    "(0 (1 It) (1 (1 's) (0 (1 one) (0 (1 dull) (0 (2 and) (0 (2 very) (0 (1 long) (0 slog))))))))"
)
SHORT = "(1 (2 Too) (1 bad))"
LONGEST = "(3 (2 a) (3 (2 b) (3 (2 c) (3 (2 d) (3 (2 e) (3 (2 f) (3 (2 g) (3 (2 h) (3 i)))))))))"
NEUTRAL = (
    "(2 (2 It) (2 (2 is) (2 (2 a) (2 (2 film) (2 (2 of) (2 (2 sorts) (2 (2 I) (2 think))))))))"
)


def _trees(folder: Path, train: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev", "test"):
        lines = [GOOD, NEUTRAL, SHORT, BAD, LONGEST]
        (folder / f"{split}.txt").write_text(
            train if train and split == "train" else "\n".join(lines) + "\n"
        )
    return folder


@pytest.mark.parametrize("place", [".", "trees", "sst/trees", "sst"])
def test_sst_as_the_released_notebook_prepares_it(tmp_path: Path, place: str) -> None:
    _trees(tmp_path / place)
    made = load("sst:tokeniser=blanks", data_dir=tmp_path)
    assert made.train == (
        Example("train/0", _words("a warm well made 21st century film"), label=1),
        Example("train/3", _words("it s one dull and very long slog"), label=0),
    )
    assert [each.example_id for each in made.test] == ["test/0", "test/3"]
    assert made.classes == ("negative", "positive")
    assert made.tokeniser == "blanks"
    assert made.notes["dropped"] == {
        f"{split}, {why}": 1
        for split in ("train", "dev", "test")
        for why in ("neutral", "short", "long")
    }
    # GOOD has 7 words, BAD 8, SHORT 2, LONGEST 8 new ones; "a" is in two; the four marks.
    assert made.notes["vocabulary_before_length_filter"] == 7 + 8 + 2 + 8 + 4


def test_sst_options(tmp_path: Path) -> None:
    _trees(tmp_path)
    made = sst(tmp_path, tokeniser="blanks", min_length=2, drop_longest=False, replace_numbers=True)
    assert [each.example_id for each in made.train] == ["train/0", "train/2", "train/3", "train/4"]
    assert made.train[0].tokens[4] == "qqq"
    with pytest.raises(InputError, match="drop_longest must be true or false, got 'no'"):
        sst(tmp_path, drop_longest="no")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("(3 (2 a) (4 film)", "a closing bracket is missing"),
        ("(3 (2 a) (4 film)))", "something follows the tree"),
        ("(3 (2 a) (7 film))", "a label from 0 to 4 is missing"),
        ("a film", "a label from 0 to 4 is missing"),
        ("(3 )", "it has no words"),
    ],
)
def test_a_malformed_tree_is_named_by_file_and_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    _trees(tmp_path, train=f"{GOOD}\n{BAD}\n{line}\n")
    with pytest.raises(InputError, match=rf"train\.txt, line 3: not a tree .*: {problem}, got"):
        sst(tmp_path, tokeniser="blanks")


def test_a_bad_tree_is_skipped_and_counted_where_this_is_asked_for(tmp_path: Path) -> None:
    _trees(tmp_path, train="\n".join([GOOD, "(3 (2 a) film", BAD, "a film", LONGEST]))
    made = sst(tmp_path, tokeniser="blanks", skip_bad=True)
    assert [each.example_id for each in made.train] == ["train/0", "train/2"]
    assert made.notes["skipped"]["rows"] == 2
    assert [re.findall(r"line \d", each) for each in made.notes["skipped"]["first"]] == [
        ["line 2"],
        ["line 4"],
    ]


def test_sst_says_where_it_looked(tmp_path: Path) -> None:
    (_trees(tmp_path / "trees") / "dev.txt").unlink()
    with pytest.raises(InputError) as error:
        load("sst", data_dir=tmp_path)
    for part in (
        str(tmp_path),
        *ABOUT.places,
        *ABOUT.holds,
        "`attnaudit data get sst` downloads it",
    ):
        assert part in str(error.value)


@pytest.mark.parametrize("text", ["", "\n\n", f"{NEUTRAL}\n"])
def test_a_split_without_a_sentence_is_rejected(tmp_path: Path, text: str) -> None:
    (_trees(tmp_path) / "dev.txt").write_text(text)
    with pytest.raises(InputError, match="dev is not in it, or empty"):
        sst(tmp_path, tokeniser="blanks")


def test_two_files_for_one_split_are_rejected(tmp_path: Path) -> None:
    _trees(_trees(tmp_path) / "older")
    with pytest.raises(InputError, match=r"two files for the split 'dev'.*older"):
        sst(tmp_path, tokeniser="blanks")


def test_a_length_filter_that_leaves_nothing_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no example is left"):
        sst(_trees(tmp_path), tokeniser="blanks", min_length=99)


def test_readers_get_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = _trees(tmp_path / "here" / "sst")
    monkeypatch.delenv("ATTNAUDIT_DATA", raising=False)
    expected = sst(place, tokeniser="blanks")
    assert load("sst:tokeniser=blanks", data_dir=tmp_path / "here") == expected
    assert load(f"sst:tokeniser=blanks,folder={tmp_path / 'here'}") == expected
    monkeypatch.setenv("ATTNAUDIT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"'sst' is not in .*cache.data: looked for"):
        load("sst")
    with pytest.raises(
        InputError, match=r"data folder '.*nowhere' does not exist\. .*ATTNAUDIT_DATA"
    ):
        load("sst", data_dir=tmp_path / "nowhere")
    monkeypatch.setenv("ATTNAUDIT_DATA", str(tmp_path / "here"))
    assert load("sst:tokeniser=blanks") == expected
    with pytest.raises(InputError, match="nowhere"):
        load("sst", data_dir=tmp_path / "nowhere")


# A second way to the answer -----------------------------------------------------------------------


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _known(values: tuple | None) -> tuple:
    assert values is not None
    return values


def _label(example: Example) -> int:
    assert example.label is not None
    return example.label


def _sentences(example: Example) -> list[list[str]]:
    return [sentence.split() for sentence in " ".join(example.tokens).split(" . ")]


def _replay(sentences: list[list[str]], query: tuple[str, ...]) -> str | None:
    """Follow people and things through the story; the places of a thing are a list."""
    person_at: dict[str, str] = {}
    holder: dict[str, str] = {}
    been: dict[str, list[str]] = {}
    for sentence in sentences:
        person, words = sentence[0], [word for word in sentence[1:] if word != "there"]
        if words[-1] in PLACES:
            person_at[person] = words[-1]
            for thing, by in holder.items():
                if by == person:
                    been.setdefault(thing, []).append(words[-1])
            continue
        thing = words[-1]
        if " ".join(words[:-2]) in VERBS["take"]:
            holder[thing] = person
        else:
            holder.pop(thing, None)
        if person in person_at and been.get(thing, [None])[-1] != person_at[person]:
            been.setdefault(thing, []).append(person_at[person])
    if "before" in query:
        path = been.get(query[3], [])
        last = max((number for number, place in enumerate(path) if place == query[-1]), default=0)
        return path[last - 1] if last else None
    if query[-1] in person_at:
        return person_at[query[-1]]
    return been.get(query[-1], [None])[-1]


def _from_facts(facts: list[list[str]], query: tuple[str, ...]) -> str:
    """From the supporting sentences only: the last place, or the one before the place asked for."""
    places = [sentence[-1] for sentence in facts if sentence[-1] in PLACES]
    assert len({sentence[0] for sentence in facts}) == 1
    if "before" in query:
        assert places[1] == query[-1]
        return places[0]
    return places[-1]


@pytest.mark.parametrize(
    ("label", "candidates", "message"),
    [
        (0, (1,), "the label 0 is not among its candidates"),
        (0, (0, 2), "a candidate is not one of the 2 classes"),
    ],
)
def test_candidates_must_be_classes_and_hold_the_label(
    label: int, candidates: tuple[int, ...], message: str
) -> None:
    from attnaudit.data.splits import check_example

    with pytest.raises(InputError, match=message):
        check_example(Example("a", ("word",), label=label, candidates=candidates), 2, "corpus")
    check_example(Example("a", ("word",), label=1, candidates=(0, 1)), 2, "corpus")
