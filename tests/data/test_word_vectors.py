"""Pretrained vectors: every format gives the same rows; other words depend on their name only."""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from attnaudit.core.errors import InputError
from attnaudit.core.special_tokens import PAD, SPECIAL_TOKENS, UNKNOWN
from attnaudit.data import load
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.data.word_vectors import load_vectors

VOCABULARY = Vocabulary((*SPECIAL_TOKENS, "film", "lamp", "the"))
LINES = "the 0.5 -1.25 3\nunused 9 9 9\nfilm 1e-1 2 -0.75\nthe 7 7 7\n"
EXPECTED = {"the": [0.5, -1.25, 3], "film": [0.1, 2, -0.75]}


def _plain(folder: Path) -> Path:
    (folder / "v.txt").write_text(LINES)
    return folder / "v.txt"


def _header(folder: Path) -> Path:
    (folder / "v.vec").write_text("4 3\n" + LINES.replace("\n", " \r\n"))
    return folder / "v.vec"


def _gz(folder: Path) -> Path:
    with gzip.open(folder / "v.txt.gz", "wt") as file:
        file.write(LINES)
    return folder / "v.txt.gz"


def _xz(folder: Path) -> Path:
    with lzma.open(folder / "v.txt.xz", "wt") as file:
        file.write(LINES)
    return folder / "v.txt.xz"


def _npz(folder: Path) -> Path:
    rows = [line.split() for line in LINES.splitlines()]
    vectors = np.array([row[1:] for row in rows], dtype=np.float64)
    np.savez(folder / "v.npz", words=np.array([row[0] for row in rows]), vectors=vectors)
    return folder / "v.npz"


@pytest.mark.parametrize("write", [_plain, _header, _gz, _xz, _npz])
def test_every_format_gives_the_same_rows(write: Callable[[Path], Path], tmp_path: Path) -> None:
    rows, coverage = load_vectors(write(tmp_path), VOCABULARY)
    assert rows.dtype == torch.float32
    assert rows.shape == (7, 3)
    for word, vector in EXPECTED.items():
        assert rows[VOCABULARY.index[word]].tolist() == pytest.approx(vector)
    assert rows[PAD].tolist() == [0, 0, 0]
    assert coverage == pytest.approx(2 / 3)


def test_words_without_a_vector_depend_on_seed_and_name_alone(tmp_path: Path) -> None:
    path = _plain(tmp_path)
    other = Vocabulary((*SPECIAL_TOKENS, "the", "attic", "film", "lamp"))
    rows, _ = load_vectors(path, VOCABULARY, seed=1)
    again, _ = load_vectors(path, other, seed=1)
    for word in ("lamp", "<unk>", "<start>", "film"):
        assert torch.equal(rows[VOCABULARY.index[word]], again[other.index[word]])
    assert not torch.equal(again[other.index["lamp"]], again[other.index["attic"]])
    reseeded, _ = load_vectors(path, VOCABULARY, seed=2)
    assert not torch.equal(rows[UNKNOWN], reseeded[UNKNOWN])


def test_words_without_a_vector_are_standard_normal(tmp_path: Path) -> None:
    many = Vocabulary((*SPECIAL_TOKENS, "the", *(f"word{number}" for number in range(3000))))
    rows, coverage = load_vectors(_plain(tmp_path), many)
    drawn = rows[len(SPECIAL_TOKENS) + 1 :]
    assert coverage == pytest.approx(1 / 3001)
    assert abs(drawn.mean().item()) < 0.05
    assert abs(drawn.std().item() - 1) < 0.05


def test_words_with_blanks_are_read_past(tmp_path: Path) -> None:
    """GloVe 840B has words such as ". . ."; U+0085 and U+2028 are words too, not line ends."""
    path = tmp_path / "v.txt"
    path.write_text(
        "the 1 2 3\n. . . 4 5 6\n\u2028 1 1 1\nx\u0085y 1 1 1\nfilm 7 8 9\n", encoding="utf-8"
    )
    rows, _ = load_vectors(path, VOCABULARY)
    assert rows[VOCABULARY.index["film"]].tolist() == [7, 8, 9]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "the 1 2 3\nfilm 1 2\n",
            r"v\.txt, line 2: expected a word and 3 numbers separated by single blanks, got 2",
        ),
        ("the 1 2 3\nfilm 1 2 3 4\n", r"v\.txt, line 2: expected a word and 3 numbers .* got 4"),
        (
            "3 3\nthe 1 2 3\nfilm 1 two 3\n",
            r"v\.txt, line 3: expected a word and 3 numbers .* in 'film 1 two 3",
        ),
        ("1 4\nthe 1 2 3\n", r"v\.txt, line 2: expected a word and 4 numbers"),
        ("the 1 2 nan\n", r"the vector of 'the' has numbers that are not finite"),
        ("Film 1 2 3\n", r"none of the vocabulary's 3 words has a vector here"),
    ],
)
def test_malformed_text_is_named_by_file_and_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(InputError, match=message):
        load_vectors(tmp_path / "v.txt", VOCABULARY)


def test_files_that_are_no_text_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "v.txt.gz").write_bytes(b"not gzip")
    (tmp_path / "v.txt.xz").write_bytes(b"not xz")
    for name in ("v.txt", "v.txt.gz", "v.txt.xz"):
        with pytest.raises(InputError, match="cannot be read as UTF-8 text"):
            load_vectors(tmp_path / name, VOCABULARY)
    with pytest.raises(InputError, match=r"no file of word vectors at .*absent"):
        load_vectors(tmp_path / "absent.txt", VOCABULARY)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (os.mkdir, (str(tmp_path / "sprung"),))

    np.savez(
        tmp_path / "v.npz", words=np.array(["the", Trap()], dtype=object), vectors=np.zeros((2, 3))
    )
    with pytest.raises(InputError, match=r"expected an .npz file with the arrays words"):
        load_vectors(tmp_path / "v.npz", VOCABULARY)
    assert not (tmp_path / "sprung").exists()


def test_npz_of_another_shape_is_rejected(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", words=np.array(["the", "film"]), vectors=np.zeros((3, 4)))
    with pytest.raises(InputError, match=r"got \(2,\) of <U4 and \(3, 4\) of float64"):
        load_vectors(tmp_path / "v.npz", VOCABULARY)
    np.savez(tmp_path / "v.npz", words=np.array(["the"]))
    with pytest.raises(InputError, match=r"arrays words .* and vectors"):
        load_vectors(tmp_path / "v.npz", VOCABULARY)
    (tmp_path / "v.npz").write_bytes(b"PK not a zip file")
    with pytest.raises(InputError, match=r"expected an .npz file"):
        load_vectors(tmp_path / "v.npz", VOCABULARY)


@pytest.mark.real_data
@pytest.mark.skipif("ATTNAUDIT_DATA" not in os.environ, reason="ATTNAUDIT_DATA is not set")
def test_glove_covers_sst() -> None:
    splits = load("sst:tokeniser=blanks")
    vocabulary = Vocabulary.build(splits.train)
    folder = Path(os.environ["ATTNAUDIT_DATA"]) / "glove"
    rows, coverage = load_vectors(folder / "glove.6B.100d.subset.npz", vocabulary)
    assert rows.shape == (len(vocabulary), 100)
    assert 0.95 < coverage < 0.99
    small, share = load_vectors(folder / "glove.6B.50d.20k.txt.xz", vocabulary)
    assert small.shape == (len(vocabulary), 50)
    assert 0.5 < share < 0.65
    for each in (rows, small):
        assert _nearer(each, vocabulary, "film", "movie", "kitchen")


def _nearer(rows: torch.Tensor, vocabulary: Vocabulary, word: str, near: str, far: str) -> bool:
    """The rows belong to their words: kindred ones lie together, by a wide margin."""
    of, close, distant = (rows[vocabulary.index[each]] for each in (word, near, far))
    similarity = torch.nn.functional.cosine_similarity
    return bool(similarity(of, close, dim=0) > similarity(of, distant, dim=0) + 0.3)
