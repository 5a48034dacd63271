"""Corpora, simulators and the user's own texts, as tokenised train, dev and test splits.

`corpora/` has one reader per corpus; `reading/` is what the readers share, from files to examples.
A new dataset is one file in `corpora/` and one line in `datasets.py`.

- Load: `load` (by name or path), `from_frame`, `from_dataset`; `DATASETS` lists the names.
- Use: `Splits` of `Example`; `Vocabulary` and `collate` turn examples into a batch, and
  `random_batch` makes one of random words; tokens above `END` are words.
- Inspect: `describe` counts texts, words and classes.
- Word vectors: `load_vectors` from a file, `train_vectors` on a corpus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnaudit.core.lazy_names import lazy_names
from attnaudit.core.special_tokens import END
from attnaudit.data.corpus_info import corpus_of
from attnaudit.data.datasets import (
    DATASETS,
    check_choice,
    choice_without_folders,
    data_folder,
    load,
    parse_choice,
    reads_files,
)
from attnaudit.data.describe import Description, describe
from attnaudit.data.splits import Example, Splits
from attnaudit.data.user_tables import from_dataset, from_frame
from attnaudit.data.vocabulary import Vocabulary

if TYPE_CHECKING:
    from attnaudit.data.batching import batches_of, collate
    from attnaudit.data.random_texts import random_batch
    from attnaudit.data.trained_vectors import train_vectors
    from attnaudit.data.word_vectors import load_vectors

__all__ = [
    "DATASETS",
    "END",
    "Description",
    "Example",
    "Splits",
    "Vocabulary",
    "batches_of",
    "check_choice",
    "choice_without_folders",
    "collate",
    "corpus_of",
    "data_folder",
    "describe",
    "from_dataset",
    "from_frame",
    "load",
    "load_vectors",
    "parse_choice",
    "random_batch",
    "reads_files",
    "train_vectors",
]

# Imported on first use, because they need torch: `attnaudit --help` starts without it.
__getattr__ = lazy_names(
    __name__,
    {
        "batches_of": "batching",
        "collate": "batching",
        "load_vectors": "word_vectors",
        "random_batch": "random_texts",
        "train_vectors": "trained_vectors",
    },
)
