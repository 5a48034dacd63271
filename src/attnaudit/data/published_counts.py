"""Corpus counts of Jain & Wallace 2019, "Attention is not Explanation", table 1.

Where the released notebook prints another vocabulary size, it is given next to the paper's: the
two differ by more than the special tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SOURCE = "Jain & Wallace 2019, table 1"


@dataclass(frozen=True)
class PublishedCorpus:
    """One row of the table, as printed.

    Class counts are in the order of the labels; a single number if the paper gives only the total.
    """

    dataset: str  # as `attnaudit run --dataset` names it
    vocabulary: int
    mean_length: int
    train: tuple[int, ...]
    test: tuple[int, ...]
    notebook_vocabulary: int | None = None
    train_holds_dev: bool = False  # the printed train counts include the dev split
    options: Mapping[str, Any] = field(default_factory=dict)  # distinguish rows of one dataset


TABLE_1 = (
    PublishedCorpus("sst", 16_175, 19, (3_034, 3_321), (863, 862), 13_826),
    PublishedCorpus("imdb", 13_916, 179, (12_500, 12_500), (2_184, 2_172), train_holds_dev=True),
    PublishedCorpus("adr_tweets", 8_686, 20, (14_446, 1_939), (3_636, 487), train_holds_dev=True),
    PublishedCorpus("newsgroups", 8_853, 115, (716, 710), (151, 183), 6_515, train_holds_dev=True),
    PublishedCorpus("ag_news", 14_752, 36, (30_000, 30_000), (1_900, 1_900), train_holds_dev=True),
    PublishedCorpus(
        "mimic", 22_316, 1_858, (6_381, 1_353), (1_295, 319), options={"task": "diabetes"}
    ),
    PublishedCorpus(
        "mimic",
        19_743,
        2_188,
        (1_847, 3_251),
        (460, 802),
        train_holds_dev=True,
        options={"task": "anemia"},
    ),
    PublishedCorpus("cnn_qa", 74_790, 761, (380_298,), (3_198,)),
    PublishedCorpus(
        "babi", 40, 8, (10_000,), (1_000,), 24, train_holds_dev=True, options={"task": 1}
    ),
    PublishedCorpus(
        "babi", 40, 67, (10_000,), (1_000,), 38, train_holds_dev=True, options={"task": 2}
    ),
    PublishedCorpus(
        "babi", 40, 421, (10_000,), (1_000,), 39, train_holds_dev=True, options={"task": 3}
    ),
    PublishedCorpus("snli", 20_982, 14, (182_764, 183_187, 183_416), (3_219, 3_237, 3_368)),
)

_SAME = {"babi_files": "babi"}  # released files and simulated: two datasets for one row


def published_row(
    dataset: str, options: Mapping[str, Any], class_count: int
) -> PublishedCorpus | None:
    """The published row of a dataset with all its options; None for classes unlike the paper's."""
    for row in TABLE_1:
        same = row.dataset == _SAME.get(dataset, dataset) and all(
            options.get(key) == value for key, value in row.options.items()
        )
        if same and len(row.train) in (1, class_count):
            return row
    return None
