"""Word vectors trained on a corpus: which texts they see, and what is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from attnaudit.cli import app
from attnaudit.core.errors import InputError
from attnaudit.data import Vocabulary, load, load_vectors, train_vectors

SMALL = "keyword:train=60,dev=8,test=8,length=10,jitter=2"


def test_training_words_get_vectors_that_load_for_the_vocabulary(tmp_path: Path) -> None:
    made = train_vectors(SMALL, tmp_path / "small.npz", size=7, epochs=1)
    train = load(SMALL).train
    vectors, coverage = load_vectors(made, Vocabulary.build(train, min_count=1))
    assert coverage == 1.0
    assert vectors.shape[1] == 7
    with np.load(made) as arrays:
        assert set(arrays["words"]) == {word for example in train for word in example.tokens}


def test_words_of_a_question_are_texts_too(tmp_path: Path) -> None:
    made = train_vectors("babi:task=1,train=20,test=4", tmp_path / "babi.npz", size=3, epochs=1)
    with np.load(made) as arrays:
        assert "where" in {word.lower() for word in arrays["words"]}


def test_the_same_seed_gives_the_same_vectors(tmp_path: Path) -> None:
    def vectors(name: str, seed: int) -> np.ndarray:
        made = train_vectors(SMALL, tmp_path / name, size=5, epochs=2, seed=seed)
        with np.load(made) as arrays:
            return arrays["vectors"]

    assert np.array_equal(vectors("a.npz", 1), vectors("b.npz", 1))
    assert not np.array_equal(vectors("a2.npz", 1), vectors("c.npz", 2))


def test_words_that_occur_together_are_near(tmp_path: Path) -> None:
    """Two groups of words that never meet: neighbours must be of the same group."""
    rng = np.random.default_rng(0)
    lines = ["text,label"]
    for number in range(600):
        group = "abcd" if number % 2 else "wxyz"
        words = " ".join(letter * 3 for letter in rng.choice(list(group), 8))
        lines.append(f"{words},{number % 2}")
    data = tmp_path / "own.csv"
    data.write_text("\n".join(lines))
    made = train_vectors(str(data), tmp_path / "own.npz", size=8, epochs=20)
    with np.load(made) as arrays:
        of = dict(zip(arrays["words"], arrays["vectors"], strict=True))

    def cosine(a: str, b: str) -> float:
        return float(of[a] @ of[b] / np.linalg.norm(of[a]) / np.linalg.norm(of[b]))

    within = [cosine("aaa", other) for other in ("bbb", "ccc", "ddd")]
    between = [cosine("aaa", other) for other in ("www", "xxx", "yyy", "zzz")]
    assert min(within) > max(between)


def test_the_command_writes_the_file_and_protects_others(tmp_path: Path) -> None:
    out = tmp_path / "own.npz"
    command = ["data", "vectors", SMALL, "--out", str(out), "--size", "4", "--epochs", "1"]
    assert CliRunner().invoke(app, command).exit_code == 0
    with np.load(out) as arrays:
        assert arrays["vectors"].shape[1] == 4
    out.write_text("a thesis")
    rejected = CliRunner().invoke(app, command)
    assert "not written by attnaudit" in str(rejected.exception)
    assert out.read_text() == "a thesis"


@pytest.mark.parametrize(("name", "options"), [("v.txt", {}), ("v.npz", {"size": 0})])
def test_bad_choices_are_rejected(tmp_path: Path, name: str, options: dict) -> None:
    with pytest.raises(InputError, match=r"npz|at least 1"):
        train_vectors(SMALL, tmp_path / name, **options)
