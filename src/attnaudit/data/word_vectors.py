"""Pretrained word vectors for a vocabulary, from GloVe, fastText, word2vec or .npz files."""

from __future__ import annotations

import gzip
import lzma
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import torch
from torch import Tensor

from attnaudit.core import randomness
from attnaudit.core.errors import InputError
from attnaudit.core.number_text import is_number
from attnaudit.core.special_tokens import PAD, SPECIAL_TOKENS
from attnaudit.data.vocabulary import Vocabulary


def load_vectors(
    path: Path | str, vocabulary: Vocabulary, *, seed: int = 0
) -> tuple[Tensor, float]:
    """Load the vectors of a vocabulary's words from a file.

    Parameters
    ----------
    path : Path or str
        GloVe, fastText or word2vec text (plain, .gz or .xz), or an .npz file with the arrays
        `words` (W,) and `vectors` (W,E). If a word occurs twice, its first vector counts.
    vocabulary : Vocabulary
        The V words to load.
    seed : int
        A word without a vector gets N(0,1) numbers that depend on (seed, word) only.

    Returns
    -------
    vectors : Tensor
        (V,E) float32, one row per word; padding gets zeros.
    coverage : float
        Share of the words, without the special tokens, that the file has a vector for.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file of word vectors at {path}. Check the path.")
    vectors: dict[str, np.ndarray] = {}
    size = 0
    for word, vector in (
        _npz(path, vocabulary) if path.suffix == ".npz" else _text(path, vocabulary)
    ):
        size = len(vector)
        if not np.isfinite(vector).all():
            raise InputError(
                f"{path}: the vector of {word!r} has numbers that are not finite. Use another file."
            )
        vectors.setdefault(word, vector)
    if not vectors:
        raise InputError(
            f"{path}: none of the vocabulary's {len(vocabulary) - len(SPECIAL_TOKENS)} words "
            "has a vector here. Check that the file is for the same language and in the same case."
        )
    rows = torch.empty(len(vocabulary), size)
    for number, word in enumerate(vocabulary.words):
        if word in vectors:
            rows[number] = torch.from_numpy(vectors[word])
        else:
            rows[number] = torch.randn(size, generator=randomness.generator(seed, "vectors", word))
    rows[PAD] = 0
    words = vocabulary.words[len(SPECIAL_TOKENS) :]
    return rows, sum(word in vectors for word in words) / max(len(words), 1)


def _npz(path: Path, vocabulary: Vocabulary) -> Iterator[tuple[str, np.ndarray]]:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            words, vectors = arrays["words"], arrays["vectors"]
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: expected an .npz file with the arrays words (text) and vectors (numbers), "
            f"got {error}. Save it with numpy.savez(path, words=..., vectors=...), "
            "words as an array of str."
        ) from error
    if (
        words.dtype.kind != "U"
        or vectors.dtype.kind != "f"
        or vectors.shape[:1] != words.shape
        or vectors.ndim != 2
    ):
        raise InputError(
            f"{path}: expected words (W,) of text and vectors (W,E) of floats, "
            f"got {words.shape} of {words.dtype} and {vectors.shape} of {vectors.dtype}."
        )
    for number, word in enumerate(words.tolist()):
        if word in vocabulary.index:
            yield word, vectors[number].astype(np.float32)


def _text(path: Path, vocabulary: Vocabulary) -> Iterator[tuple[str, np.ndarray]]:
    """Lines "word number number …"; a first line of two whole numbers (words, size) is a header."""
    size: int | None = None
    try:
        with _open(path) as lines:
            for number, line in enumerate(lines, start=1):
                fields = line.rstrip(" \n").split(" ")
                if number == 1 and len(fields) == 2 and all(field.isdecimal() for field in fields):
                    size = int(fields[1])
                    continue
                size = size or len(fields) - 1
                word = fields[0]
                if len(fields) != size + 1:
                    # GloVe 840B has a few words with blanks (". . ."): the last `size` fields are
                    # the numbers.
                    if len(fields) < size + 1 or is_number(fields[1]):
                        raise _malformed(path, number, f"{len(fields) - 1}", size, line)
                    word = " ".join(fields[:-size])
                if word in vocabulary.index:
                    try:
                        yield word, np.array(fields[-size:], dtype=np.float32)
                    except ValueError as error:
                        raise _malformed(path, number, "something else", size, line) from error
    except (UnicodeDecodeError, EOFError, OSError, lzma.LZMAError) as error:
        raise InputError(
            f"{path}: cannot be read as UTF-8 text (plain, .gz or .xz): {error}. "
            "Download the file again."
        ) from error


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _malformed(path: Path, number: int, got: str, size: int, line: str) -> InputError:
    return InputError(
        f"{path}, line {number}: expected a word and {size} numbers separated by single blanks, "
        f"got {got} in {line[:60]!r}. Download the file again."
    )
