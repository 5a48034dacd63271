"""Word vectors trained on a corpus itself, as Jain & Wallace 2019 do for MIMIC."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from attnaudit.core.errors import InputError
from attnaudit.core.output_files import check_file, write_file
from attnaudit.data.datasets import load


def train_vectors(
    dataset: str,
    out: str | Path,
    *,
    size: int = 300,
    window: int = 5,
    epochs: int = 5,
    seed: int = 0,
    data_dir: str | Path | None = None,
) -> Path:
    """Train word2vec (skip-gram) on the training texts of a dataset, with gensim.

    Queries are texts too. The dev and test splits are not read. The same seed gives the same
    vectors: one thread trains.

    Parameters
    ----------
    dataset : name with options, or the path of a file.
    out : the .npz file to write, for `--vectors`: `words` (W,) and `vectors` (W,E).
    size : E, numbers per word.
    window : words on either side that a word predicts.
    epochs : passes over the texts.
    data_dir : folder of the corpora.

    Returns
    -------
    The file.

    Examples
    --------
    >>> train_vectors("mimic:task=anemia", "anemia.npz")  # doctest: +SKIP
    """
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise InputError(
            "Training word vectors needs gensim. Run pip install 'attnaudit[vectors]'."
        ) from error
    out = Path(out)
    if out.suffix != ".npz":
        raise InputError(f"Vectors are written as .npz; got {out.name}. Give a name ending in it.")
    for name, value in (("size", size), ("window", window), ("epochs", epochs)):
        if value < 1:
            raise InputError(f"{name} must be at least 1; got {value}.")
    check_file(out, kind="vector file")
    splits = load(dataset, data_dir=None if data_dir is None else Path(data_dir))
    texts = [part for example in splits.train for part in (example.tokens, example.query) if part]
    model = Word2Vec(
        [list(text) for text in texts],
        vector_size=size,
        window=window,
        min_count=splits.min_count,
        sg=1,
        epochs=epochs,
        seed=seed,
        workers=1,  # or the order in which threads write would decide
    )
    stream = io.BytesIO()
    words = np.array(model.wv.index_to_key, dtype=np.str_)
    np.savez(stream, words=words, vectors=model.wv.vectors.astype(np.float32))
    return write_file(out, stream.getvalue(), kind="vector file")
