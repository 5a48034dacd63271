"""audit(model, data) of frames, Hugging Face datasets and other tables with named columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tokenizers import normalizers

import attnaudit
from attnaudit.core.errors import InputError
from attnaudit.results.results import Results
from tiny_transformers import TEXTS, tiny

CLASSES = ["negative", "neutral", "positive"]
LABELS = ["positive", "negative", "neutral"]
PAIRED = {"premise": TEXTS, "hypothesis": ["a film", "we liked it", "not at all"], "label": LABELS}


def model(names: list[str] | None = None) -> Any:
    named = {} if names is None else {"id2label": dict(enumerate(names))}
    hugging, tokenizer = tiny("bert", **named)
    tokenizer.backend_tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=False
    )  # as BERT's has
    return attnaudit.from_huggingface(hugging, tokenizer)


def audited(
    data: Any, labels: Any = None, *, names: list[str] | None = CLASSES, **columns: Any
) -> Results:
    return attnaudit.audit(
        model(names), data, labels, audits=["uniform_attention"], measures=["random"], **columns
    )


def values(results: Results) -> list[tuple[Any, ...]]:
    frame = results.frame()
    kept = ["example_id", "label", "predicted", "metric", "value"]
    return sorted(map(tuple, frame[kept].astype(str).to_numpy().tolist()))


def message(data: Any, labels: Any = None, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        audited(data, labels, **options)
    return str(error.value)


def tables(columns: dict[str, list[Any]], tmp_path: Path) -> dict[str, Any]:
    datasets = pytest.importorskip("datasets")
    frame = pd.DataFrame(columns, index=[7, 8, 9])
    path = tmp_path / "d.parquet"
    frame.to_parquet(path)
    return {
        "frame": frame,
        "dataset": datasets.Dataset.from_dict(columns),
        "dict": columns,
        "list": frame.to_dict("records"),
        "path": path,
    }


def test_every_kind_of_table_gives_the_same_values_as_its_texts(tmp_path: Path) -> None:
    expected = values(audited(TEXTS, LABELS))
    for name, table in tables(
        {"id": [1, 2, 3], "review": TEXTS, "stars": LABELS}, tmp_path
    ).items():
        assert values(audited(table)) == expected, name
        assert values(audited(table, text="review", label="stars")) == expected, name
    assert values(audited(pd.Series(TEXTS), pd.Series(LABELS))) == expected


def test_pairs_are_inferred_or_named(tmp_path: Path) -> None:
    pairs = list(zip(PAIRED["premise"], PAIRED["hypothesis"], strict=True))
    expected, alone = values(audited(pairs, LABELS)), values(audited(TEXTS, LABELS))
    assert expected != alone  # or reading the premise alone could not be seen
    for name, table in tables(PAIRED, tmp_path).items():
        assert values(audited(table)) == expected, name
        assert values(audited(table, text="premise", pair="hypothesis")) == expected, name
        assert values(audited(table, text="premise")) == alone, name


def test_labels_of_a_dataset_are_matched_with_the_model_by_name() -> None:
    datasets = pytest.importorskip("datasets")
    other = ["positive", "negative", "neutral"]  # another order than the model's
    features = datasets.Features(
        {"text": datasets.Value("string"), "label": datasets.ClassLabel(names=other)}
    )
    data = datasets.Dataset.from_dict({"text": TEXTS, "label": [0, 1, 2]}, features=features)
    assert values(audited(data)) == values(audited(TEXTS, LABELS))
    # A model whose classes nobody named: the numbers are all there is.
    assert values(audited(data, names=None)) == values(audited(TEXTS, [0, 1, 2], names=None))
    words = message(data, names=["bad", "fair", "good"])
    assert words.startswith("dataset, row 0: the label 'positive' is not a class of the model")
    unlabelled = datasets.Dataset.from_dict({"text": TEXTS, "label": [0, -1, 2]}, features=features)
    assert (
        message(unlabelled)
        == "dataset, row 1: the label -1 is none of the 3 classes, numbered from 0."
    )


def test_several_splits_are_rejected_listing_them() -> None:
    datasets = pytest.importorskip("datasets")
    part = datasets.Dataset.from_dict({"text": TEXTS})
    words = message(datasets.DatasetDict({"train": part, "test": part}))
    assert "several splits: 'train', 'test'. Choose one, for example data['train']" in words


def test_labels_given_twice_are_rejected() -> None:
    frame = pd.DataFrame({"text": TEXTS, "label": LABELS})
    assert "Labels were given twice" in message(frame, LABELS)
    assert "Labels were given twice" in message(frame, LABELS, label="label")
    assert values(audited(frame, LABELS, label="")) == values(audited(TEXTS, LABELS))
    assert values(audited(frame[["text"]], LABELS)) == values(audited(TEXTS, LABELS))
    assert "3 texts but 2 labels" in message(frame[["text"]], LABELS[:2])


def test_errors_use_the_names_of_the_parameters() -> None:
    frame = pd.DataFrame({"one": TEXTS, "two": TEXTS})
    assert "Name it with text='COLUMN'. Its columns: 'one', 'two'" in message(frame)
    assert "frame: pair='three', but it has no such column" in message(
        frame, text="one", pair="three"
    )
    missing = pd.DataFrame({"text": [*TEXTS[:2], None]})
    assert message(missing) == "frame, row 2: the text is empty. Drop the row."
    blank = pd.DataFrame({"text": [*TEXTS[:2], "\u200b"]})
    assert "frame, row 2: nothing is left of the text after the tokenizer" in message(blank)
    assert "text='a' names a column, but the data has none" in message(TEXTS, text="a")
    assert "got int" in message(3)
    assert "one text" in message("reviews.csv")
    assert "all of the same length" in message({"text": TEXTS, "label": LABELS[:2]})


def test_texts_are_rejected_for_a_model_that_reads_batches() -> None:
    class Reader:
        def read(self, batch: Any, embeddings: Any = None) -> Any: ...

        def decode(self, record: Any, alpha: Any) -> Any: ...

    with pytest.raises(InputError, match="This model reads batches, not texts; got DataFrame"):
        attnaudit.audit(Reader(), pd.DataFrame({"text": TEXTS}))  # type: ignore[arg-type]
