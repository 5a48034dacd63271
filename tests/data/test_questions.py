"""bAbI, SNLI and CNN on generated files, and candidate answers up to a model."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.batching import collate
from attnaudit.data.corpora.babi_files import TASKS, babi_files
from attnaudit.data.corpora.babi_simulated import PLACES, simulate
from attnaudit.data.corpora.babi_text import as_text, examples
from attnaudit.data.corpora.cnn_qa import cnn_qa
from attnaudit.data.corpora.snli import CLASSES, snli
from attnaudit.data.splits import Splits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.models import Architecture, build
from attnaudit.training.objectives.cross_entropy import cross_entropy

# bAbI ---------------------------------------------------------------------------------------------


def _babi(
    folder: Path, *, task: int = 1, size: str = "en-10k", train: int = 100, test: int = 20
) -> Path:
    """Stories of the simulator, written as the release has them."""
    where = folder / "babi" / size
    where.mkdir(parents=True, exist_ok=True)
    for split, questions in {"train": train, "test": test}.items():
        stories = simulate(task=task, questions=questions, split=split, seed=3)
        (where / f"{TASKS[task]}_{split}.txt").write_text(as_text(stories))
    return folder / "babi"


@pytest.mark.parametrize("task", [1, 2, 3])
def test_babi_files_give_every_question_with_its_evidence(tmp_path: Path, task: int) -> None:
    read = load(f"babi_files:task={task},dev_share=0", data_dir=_babi(tmp_path, task=task).parent)
    for split, questions in {"train": 100, "test": 20}.items():
        stories = simulate(task=task, questions=questions, split=split, seed=3)
        assert tuple(getattr(read, split)) == examples(stories, PLACES, split=split)
    assert (len(read.dev), read.classes, read.name) == (0, PLACES, f"babi_files-{task}")
    first = read.train[0]
    marked = zip(first.segments or (), first.evidence or (), strict=True)
    assert len({segment for segment, true in marked if true}) == task


def test_babi_dev_is_a_share_of_whole_stories(tmp_path: Path) -> None:
    read = babi_files(_babi(tmp_path), dev_share=0.15)
    assert (len(read.train), len(read.dev)) == (85, 15)
    stories = [
        {int(each.example_id.split("/")[1]) // 5 for each in split}
        for split in (read.train, read.dev)
    ]
    assert (len(stories[0]), len(stories[1])) == (17, 3)
    assert not stories[0] & stories[1]
    assert babi_files(_babi(tmp_path), seed=1).dev != read.dev
    assert babi_files(_babi(tmp_path), seed=0).dev == read.dev
    assert read.notes["rule"] == "dev is 15% of the training stories, seed 0"


def test_babi_dev_of_questions_takes_stories_apart(tmp_path: Path) -> None:
    read = babi_files(_babi(tmp_path), dev="questions")
    assert (len(read.train), len(read.dev)) == (85, 15)
    stories = [
        {int(each.example_id.split("/")[1]) // 5 for each in split}
        for split in (read.train, read.dev)
    ]
    assert stories[0] & stories[1]
    assert {each.example_id for each in (*read.train, *read.dev)} == {
        f"train/{n}" for n in range(100)
    }


def test_babi_stories_of_unequal_length_stay_whole(tmp_path: Path) -> None:
    where = tmp_path / "en"
    where.mkdir()
    lengths = [1, 4, 2, 5, 1, 3, 2, 2]
    text = "".join(
        f"1 Ann went to the {'attic' if story % 2 else 'cellar'}.\n"
        + "".join(
            f"{n + 2} Where is Ann? \t{'attic' if story % 2 else 'cellar'}\t1\n"
            for n in range(length)
        )
        for story, length in enumerate(lengths)
    )
    (where / f"{TASKS[1]}_train.txt").write_text("1 Nobody asks.\n" + text)
    (where / f"{TASKS[1]}_test.txt").write_text(text)
    read = babi_files(tmp_path, size="1k", dev_share=0.25)
    story_of = [story for story, length in enumerate(lengths) for _ in range(length)]
    parts = [
        [story_of[int(each.example_id.split("/")[1])] for each in split]
        for split in (read.train, read.dev)
    ]
    assert len(set(parts[1])) == 2
    assert sorted([*parts[0], *parts[1]]) == story_of
    assert not {*parts[0]} & {*parts[1]}


def test_babi_every_word_may_be_an_answer(tmp_path: Path) -> None:
    read = babi_files(_babi(tmp_path), answers="every_word")
    words = {
        word for each in (*read.train, *read.dev) for word in (*each.tokens, *(each.query or ()))
    }
    assert set(read.classes) == words
    assert {".", "where", "kitchen"} < words
    usual = babi_files(_babi(tmp_path))
    assert [read.classes[each.label or 0] for each in read.test] == [
        PLACES[each.label or 0] for each in usual.test
    ]


def test_babi_from_the_archive(tmp_path: Path) -> None:
    folder = _babi(tmp_path / "raw")
    _babi(tmp_path / "raw", size="en", train=40)
    _babi(tmp_path / "raw", size="shuffled-10k", train=10)
    with tarfile.open(tmp_path / "tasks_1-20_v1-2.tar.gz", "w:gz") as archive:
        for path in sorted(folder.rglob("*.txt"), reverse=True):
            archive.add(path, f"tasks_1-20_v1-2/{path.relative_to(folder).as_posix()}")
    assert _same(load("babi_files", data_dir=tmp_path), babi_files(folder))
    assert len(load("babi_files:size=1k,dev_share=0", data_dir=tmp_path).train) == 40


def test_babi_names_the_missing_file_and_what_is_there(tmp_path: Path) -> None:
    folder = _babi(tmp_path, task=3)
    (folder / "en-10k" / f"{TASKS[3]}_train.txt").rename(
        folder / "en-10k" / f"{TASKS[3]}_train_part1000.txt"
    )
    message = (
        r"en-10k/qa3_three-supporting-facts_train.txt is not in it. Of task 3 there is: "
        r"en-10k/qa3_three-supporting-facts_test.txt, "
        r"en-10k/qa3_three-supporting-facts_train_part1000.txt\."
    )
    with pytest.raises(InputError, match=message):
        babi_files(folder, task=3)
    with pytest.raises(InputError, match="Of task 2 there is: nothing"):
        babi_files(folder, task=2)


def test_babi_skips_the_story_with_a_bad_line_and_counts_it(tmp_path: Path) -> None:
    folder = _babi(tmp_path)
    file = folder / "en-10k" / f"{TASKS[1]}_train.txt"
    lines = file.read_text().splitlines(keepends=True)
    second = [at for at, line in enumerate(lines) if line.startswith("1 ")][1]
    lines[second + 3] = "77 Mary went to the garden.\n"
    file.write_text("".join(lines))
    with pytest.raises(
        InputError, match=rf"{file.name}, line {second + 4}: expected a line with id 4 or 1"
    ):
        babi_files(folder)
    read = babi_files(folder, skip_bad=True, dev_share=0)
    assert len(read.train) == 95
    assert read.notes["skipped"]["rows"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("task=4", "task must be 1, 2 or 3, got 4"),
        ("task=true", "task must be 1, 2 or 3, got True"),
        ("size=100k", "size must be one of 10k, 1k, got '100k'"),
        ("dev=words", "dev must be one of stories, questions"),
        ("answers=all", "answers must be one of occurring, every_word"),
        ("dev_share=1", "leaves nothing to train on"),
        ("dev_share=2", "a share must be from 0 to 1"),
        ("skip_bad=1", "skip_bad must be true or false"),
    ],
)
def test_babi_options_are_checked(tmp_path: Path, options: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(f"babi_files:{options}", data_dir=_babi(tmp_path).parent)


# SNLI ---------------------------------------------------------------------------------------------

quick_snli = partial(snli, tokeniser="blanks")  # spaCy takes longer to start than all the rest

PAIRS = [
    ("neutral", "Two women are embracing .", "The sisters met 3 times ."),
    ("entailment", 'A man says "hello" .', "A man speaks ."),
    ("-", "A dog runs .", "A dog is a cat ."),
    ("contradiction", '"Hi" says a man .', '"Nobody" says "a thing" .'),
]
HEADER = "gold_label sentence1_binary_parse sentence1 sentence2 pairID label1"


def _jsonl(pairs: list[tuple[str, str, str]]) -> str:
    rows = [
        {
            "annotator_labels": [],
            "gold_label": label,
            "pairID": f"{n}r",
            "sentence1": one,
            "sentence2": two,
        }
        for n, (label, one, two) in enumerate(pairs)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def _txt(pairs: list[tuple[str, str, str]]) -> str:
    """The official tab-separated file: quotation marks as they are."""
    rows = [
        HEADER.split(),
        *([label, "( a )", one, two, f"{n}r", ""] for n, (label, one, two) in enumerate(pairs)),
    ]
    return "".join("\t".join(row) + "\n" for row in rows)


def _tsv(pairs: list[tuple[str, str, str]]) -> str:
    """A csv with tabs: fields with quotation marks are quoted."""

    def field(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if '"' in text else text

    return "gold_label\tsentence1\tsentence2\n" + "".join(
        "\t".join(map(field, pair)) + "\n" for pair in pairs
    )


WRITERS = {"jsonl": _jsonl, "txt": _txt, "tsv": _tsv}


def _snli(folder: Path, **files: list[tuple[str, str, str]]) -> Path:
    """Files by the part of their names after snli_1.0_, with "__" for the dot: train__tsv."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in files.items():
        stem, ending = name.split("__")
        (folder / f"snli_1.0_{stem}.{ending}").write_text(WRITERS[ending](pairs), encoding="utf-8")
    return folder


def _told(splits: Splits, split: str) -> list[tuple[str, str, str]]:
    return [
        (splits.classes[each.label or 0], " ".join(each.tokens), " ".join(each.query or ()))
        for each in getattr(splits, split)
    ]


@pytest.mark.parametrize("ending", ["jsonl", "txt", "tsv"])
def test_snli_pairs_are_the_same_from_every_format(tmp_path: Path, ending: str) -> None:
    folder = _snli(
        tmp_path / "snli", **{f"{split}__{ending}": PAIRS for split in ("train", "dev", "test")}
    )
    read = load("snli:tokeniser=blanks", data_dir=tmp_path)
    expected = [
        ("neutral", "two women are embracing .", "the sisters met qqq times ."),
        ("entailment", 'a man says "hello" .', "a man speaks ."),
        ("contradiction", '"hi" says a man .', '"nobody" says "a thing" .'),
    ]
    for split in ("train", "dev", "test"):
        assert _told(read, split) == expected
        assert [each.example_id for each in getattr(read, split)] == [
            f"{split}/{n}" for n in (0, 1, 3)
        ]
    assert read.classes == CLASSES == ("neutral", "contradiction", "entailment")
    assert [each.label for each in read.train] == [0, 2, 1]
    assert read.min_count == 3
    assert read.notes["dropped"] == {
        f"{split}, no gold label": 1 for split in ("train", "dev", "test")
    }
    assert read.notes["files"]["dev"] == f"snli_1.0_dev.{ending}"
    assert (
        _told(quick_snli(folder, replace_numbers=False), "dev")[0][2] == "the sisters met 3 times ."
    )


def test_snli_from_the_official_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "snli_1.0.zip", "w") as archive:
        archive.writestr("__MACOSX/snli_1.0/._snli_1.0_dev.jsonl", b"\x00\x05\x16\x07")
        archive.writestr("snli_1.0/README.txt", "about")
        for split in ("test", "dev", "train"):
            archive.writestr(f"snli_1.0/snli_1.0_{split}.jsonl", _jsonl(PAIRS))
            archive.writestr(f"snli_1.0/snli_1.0_{split}.txt", _txt(PAIRS[:1]))
    read = load("snli:tokeniser=blanks", data_dir=tmp_path)
    assert [len(each) for each in (read.train, read.dev, read.test)] == [3, 3, 3]
    assert read.notes["files"]["train"] == "snli_1.0_train.jsonl"


def _with_parts(tmp_path: Path) -> Path:
    """Whole files as tsv, a part of train, and first lines as jsonl, apart by their sizes."""
    many = [PAIRS[n % 2] for n in range(9)]
    return _snli(
        tmp_path,
        train_subset20k__tsv=many[:5],
        dev__tsv=many[:4],
        test__tsv=many[:3],
        **{
            "dev.head__jsonl": many[:2],
            "test.head__jsonl": many[:1],
            "train.head__jsonl": many[:9],
        },
    )


def test_snli_takes_whole_files_first_and_never_the_head_by_accident(tmp_path: Path) -> None:
    folder = _with_parts(tmp_path)
    for path in folder.glob("*.head.jsonl"):
        (folder / f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes()))
        path.unlink()
    read = quick_snli(folder)
    assert [len(each) for each in (read.train, read.dev, read.test)] == [5, 4, 3]
    assert list(read.notes["files"].values()) == [
        "snli_1.0_train_subset20k.tsv",
        "snli_1.0_dev.tsv",
        "snli_1.0_test.tsv",
    ]
    asked = quick_snli(folder, part="head")
    assert [len(each) for each in (asked.train, asked.dev, asked.test)] == [9, 2, 1]


def test_snli_part_is_taken_where_a_split_has_it(tmp_path: Path) -> None:
    folder = _with_parts(tmp_path)
    (folder / "snli_1.0_train.head.jsonl").unlink()
    asked = quick_snli(folder, part="head")
    assert [len(each) for each in (asked.train, asked.dev, asked.test)] == [5, 2, 1]
    with pytest.raises(
        InputError, match=r"no file snli_1.0_<split>_tail is in it. There is: .*snli_1.0_dev.tsv"
    ):
        quick_snli(folder, part="tail")


def test_snli_a_whole_file_wins_over_a_part_whatever_its_format(tmp_path: Path) -> None:
    folder = _with_parts(tmp_path)
    _snli(folder, train__txt=PAIRS * 2, train_subset20k__jsonl=PAIRS, dev__jsonl=PAIRS)
    read = quick_snli(folder, skip_bad=False)
    assert read.notes["files"] == {
        "train": "snli_1.0_train.txt",
        "dev": "snli_1.0_dev.jsonl",
        "test": "snli_1.0_test.tsv",
    }
    assert quick_snli(folder, format="tsv").notes["files"]["dev"] == "snli_1.0_dev.tsv"
    with pytest.raises(InputError, match=r"no file snli_1.0_test.jsonl is in it. There is: "):
        quick_snli(folder, format="jsonl")


@pytest.mark.parametrize(
    ("ending", "damage", "message"),
    [
        (
            "jsonl",
            ('"gold_label": "entailment"', '"gold_label": "maybe"'),
            "line 2: the gold_label must be one of",
        ),
        (
            "jsonl",
            ('"gold_label": "entailment"', '"gold_label": 2'),
            "line 2: expected text in the field 'gold_label'",
        ),
        (
            "jsonl",
            ('"sentence2": "A man', '"sentence3": "A man'),
            "line 2: expected text in the field 'sentence2'",
        ),
        (
            "jsonl",
            ('"sentence2": "A man speaks ."', '"sentence2": " "'),
            "line 2: the query is empty",
        ),
        (
            "jsonl",
            ('{"annotator_labels": [], "gold_label": "entailment"', '{"gold_label": '),
            "line 2: not JSON",
        ),
        ("txt", ("( a )\tA man", "A man"), "line 3: expected 6 columns as in the header, got 5"),
        (
            "tsv",
            ("entailment\t", "entails\t"),
            "line 3: the gold_label must be one of .* got 'entails'",
        ),
    ],
)
def test_snli_bad_rows_are_reported_by_line_or_skipped_and_counted(
    tmp_path: Path, ending: str, damage: tuple[str, str], message: str
) -> None:
    files = {
        f"{split}__{ending}": [PAIRS[0], ("entailment", "A man nods .", "A man speaks ."), PAIRS[3]]
        for split in ("train", "dev", "test")
    }
    folder = _snli(tmp_path, **files)
    file = folder / f"snli_1.0_dev.{ending}"
    assert file.read_text().count(damage[0]) == 1
    file.write_text(file.read_text().replace(*damage))
    with pytest.raises(InputError, match=f"{file.name}, {message}"):
        quick_snli(folder)
    read = quick_snli(folder, skip_bad=True)
    assert (len(read.train), len(read.dev)) == (3, 2)
    assert read.notes["skipped"]["rows"] == 1


def test_snli_needs_its_columns(tmp_path: Path) -> None:
    folder = _snli(tmp_path, **{f"{split}__tsv": PAIRS for split in ("train", "dev", "test")})
    file = folder / "snli_1.0_dev.tsv"
    file.write_text(file.read_text().replace("sentence2", "hypothesis", 1))
    with pytest.raises(
        InputError,
        match="the header needs one column 'sentence2', got gold_label, sentence1, hypothesis",
    ):
        quick_snli(folder)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("format=csv", "format must be one of auto, jsonl, tsv"),
        ("part=3", "part must be a name such as head, got 3"),
        ("min_count=0", "min_count must be a whole number of at least 1"),
    ],
)
def test_snli_options_are_checked(tmp_path: Path, options: str, message: str) -> None:
    _snli(tmp_path / "snli", **{f"{split}__tsv": PAIRS for split in ("train", "dev", "test")})
    with pytest.raises(InputError, match=message):
        load(f"snli:{options}", data_dir=tmp_path)


# CNN ----------------------------------------------------------------------------------------------


def _question(passage: str, question: str, answer: str) -> str:
    names = "\n".join(f"@entity{n}:Name: {n}" for n in (0, 3, 12))
    return f"http://example.org/a\n\n{passage}\n\n{question}\n\n{answer}\n\n{names}\n"


QUESTIONS = {
    "training/b": _question(
        "( @entity12 ) @entity3 met @entity0 in 2015 . They left !",
        "who met @placeholder",
        "@entity0",
    ),
    "training/a": _question(
        "@entity3 saw @entity30 twice . @entity3 left", "@placeholder was seen", "@entity30"
    ),
    "validation/c": _question(
        "@entity12 's car , @entity7 said", "@placeholder spoke to @placeholder", "@entity7"
    ),
    "test/d": _question("only @entity0 here with @entity3", "@placeholder was here", "@entity0"),
}


def _cnn(folder: Path, questions: dict[str, str]) -> Path:
    for name, text in questions.items():
        path = folder / "cnn" / "questions" / f"{name}.question"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "cnn"


def test_cnn_questions_have_the_entities_of_their_passage_as_candidates(tmp_path: Path) -> None:
    _cnn(tmp_path, QUESTIONS)
    read = load("cnn_qa", data_dir=tmp_path)
    # By number, not by alphabet, and of all splits.
    assert read.classes == ("@entity0", "@entity3", "@entity7", "@entity12", "@entity30")
    assert [each.example_id for each in read.train] == ["train/a", "train/b"]
    assert [each.example_id for each in (*read.dev, *read.test)] == ["dev/c", "test/d"]
    assert read.train[1].tokens == _words(
        "( @entity12 ) @entity3 met @entity0 in 2015 . they left !"
    )
    assert read.train[1].query == ("who", "met", "@placeholder")
    assert [(each.label, each.candidates) for each in (*read.train, *read.dev, *read.test)] == [
        (4, (1, 4)),
        (0, (0, 1, 3)),
        (2, (2, 3)),
        (0, (0, 1)),
    ]
    assert (read.min_count, read.tokeniser, read.train[0].segments) == (8, "blanks", None)


def test_cnn_sentences_are_numbered_if_asked(tmp_path: Path) -> None:
    read = cnn_qa(_cnn(tmp_path, QUESTIONS), sentences=True)
    assert read.train[1].segments == (0,) * 9 + (1,) * 3


def test_cnn_from_the_archive_in_any_order(tmp_path: Path) -> None:
    folder = _cnn(tmp_path / "raw", QUESTIONS)
    with tarfile.open(tmp_path / "cnn.tgz", "w:gz") as archive:
        for name in QUESTIONS:  # b before a
            archive.add(
                folder / "questions" / f"{name}.question", f"./cnn/questions/{name}.question"
            )
        about = tarfile.TarInfo("./cnn/README")
        about.size = 2
        archive.addfile(about, io.BytesIO(b"hi"))
    assert _same(load("cnn_qa", data_dir=tmp_path), cnn_qa(folder))


def test_cnn_an_answer_outside_the_passage_is_dropped_and_counted(tmp_path: Path) -> None:
    odd = {
        "training/z": _question("@entity3 slept near @entity0", "@placeholder slept", "@entity12")
    }
    read = cnn_qa(_cnn(tmp_path, {**QUESTIONS, **odd}))
    assert [each.example_id for each in read.train] == ["train/a", "train/b"]
    assert read.notes["dropped"] == {"train, answer not in the passage": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "http://a\n\n@entity0 left\n\n@placeholder left\n\n@entity0\n",
            "expected 5 parts .* got 4",
        ),
        (
            _question("@entity0 left", "who left", "@entity0"),
            "line 5: expected a question with @placeholder",
        ),
        (
            _question("@entity0 left", "@placeholder left", "Obama"),
            "line 7: expected an answer such as @entity3, got 'Obama'",
        ),
        (
            _question("@entity0 left", "@placeholder left", "@entity" + "9" * 5000),
            "line 7: expected an answer",
        ),
    ],
)
def test_cnn_bad_files_are_reported_by_name_or_skipped_and_counted(
    tmp_path: Path, text: str, message: str
) -> None:
    folder = _cnn(tmp_path, {**QUESTIONS, "validation/bad": text})
    with pytest.raises(InputError, match=rf"bad.question.*{message}"):
        cnn_qa(folder)
    read = cnn_qa(folder, skip_bad=True)
    assert ([each.example_id for each in read.dev], read.notes["skipped"]["rows"]) == (["dev/c"], 1)


def test_cnn_without_a_split_is_rejected(tmp_path: Path) -> None:
    folder = _cnn(tmp_path, {name: text for name, text in QUESTIONS.items() if "test" not in name})
    with pytest.raises(InputError, match="questions/test is not in it"):
        cnn_qa(folder)
    with pytest.raises(
        InputError, match=r"The corpus 'cnn_qa' is not in .*Get cnn.tgz \(questions, not stories\)"
    ):
        load("cnn_qa", data_dir=tmp_path)


# Candidates, up to a model ------------------------------------------------------------------------


def test_no_class_but_a_candidate_gets_probability_or_gradient(tmp_path: Path) -> None:
    read = cnn_qa(_cnn(tmp_path, QUESTIONS))
    everything = [*read.train, *read.dev, *read.test]
    vocabulary = Vocabulary.build(everything)
    batch = collate(everything, vocabulary, len(read.classes))
    allowed = torch.tensor(
        [[at in (each.candidates or ()) for at in range(5)] for each in everything]
    )
    assert batch.classes is not None
    assert torch.equal(batch.classes, allowed)
    architecture = Architecture(encoder="bilstm:hidden=4", embedding=5)
    model = build(architecture, words=len(vocabulary), classes=5, with_query=True)
    record = model.read(batch)
    assert torch.equal(record.probs > 0, allowed)
    torch.testing.assert_close(record.probs.sum(-1), torch.ones(4))
    assert allowed[torch.arange(4), record.predicted].all()
    # Of "only @entity0 here with @entity3", the second class is possible, the third is not.
    last = collate(everything[-1:], vocabulary, 5)
    cross_entropy(model, last).backward()
    gradient = model.output.context.bias.grad
    assert gradient is not None
    assert (gradient != 0).tolist() == [True, True, False, False, False]


def test_candidates_are_kept_with_the_parsed_corpus(tmp_path: Path) -> None:
    _cnn(tmp_path, QUESTIONS)
    assert _same(load("cnn_qa", data_dir=tmp_path), load("cnn_qa", data_dir=tmp_path, cache=False))
    again = load("cnn_qa", data_dir=tmp_path)
    assert again.train[0].candidates == (1, 4)
    assert type(again.train).__name__ == "StoredExamples"


# Anything at all ----------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_damaged_files_end_in_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Bytes changed, cut out or put in anywhere: read, or rejected with the file's name."""
    rng = Random(seed)
    folder = tmp_path_factory.mktemp("damaged")
    splits = ("train", "dev", "test")
    makers: list[tuple[Callable[..., Splits], Callable[[], Path]]] = [
        (babi_files, lambda: _babi(folder, train=20, test=10)),
        (quick_snli, lambda: _snli(folder, **{f"{split}__jsonl": PAIRS for split in splits})),
        (quick_snli, lambda: _snli(folder, **{f"{split}__txt": PAIRS for split in splits})),
        (quick_snli, lambda: _snli(folder, **{f"{split}__tsv": PAIRS for split in splits})),
        (cnn_qa, lambda: _cnn(folder, QUESTIONS)),
    ]
    reader, make = rng.choice(makers)
    place = make()
    file = rng.choice(sorted(path for path in place.rglob("*.*") if path.is_file()))
    content = bytearray(file.read_bytes())
    at = rng.randrange(len(content))
    content[at : at + rng.choice([0, 1, 9, 400])] = rng.choice(
        [b"", b"\x00", b"\xff", b"\n", b"\t", b'"', b"1 \r\n"]
    )
    file.write_bytes(content)
    for skip_bad in (False, True):
        outcome = _outcome(reader, place, skip_bad=skip_bad)
        if isinstance(outcome, str):
            assert any(
                name in outcome for name in (str(place), "babi_files", "bAbI", "snli", "cnn_qa")
            )
        else:
            assert {each.label for each in outcome.train} <= set(range(len(outcome.classes)))


def _outcome(reader: Callable[..., Splits], place: Path, *, skip_bad: bool) -> Splits | str:
    try:
        return reader(place, skip_bad=skip_bad)
    except InputError as error:
        return str(error)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _same(one: Splits, other: Splits) -> bool:
    parts = all(
        tuple(getattr(one, split)) == tuple(getattr(other, split))
        for split in ("train", "dev", "test")
    )
    return parts and len(one.train) > 0 and one.classes == other.classes
