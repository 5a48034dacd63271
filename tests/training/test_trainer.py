"""Training: it learns, it repeats, it keeps its best epoch, and it rejects what it cannot use."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from attnaudit.core.errors import InputError
from attnaudit.data import load
from attnaudit.data.batching import collate, in_batches
from attnaudit.data.splits import Example, Splits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.models import Architecture, build
from attnaudit.statistics.classification import performance
from attnaudit.training.objectives.cross_entropy import cross_entropy
from attnaudit.training.recipe import Recipe
from attnaudit.training.trainer import fit, predictions

SMALL = "keyword:train=600,dev=100,test=100,length=8,jitter=2,distractors=1"


def trained(seed: int = 0, epochs: int = 4, choice: str = SMALL) -> tuple:
    splits = load(choice)
    vocabulary = Vocabulary.build(splits.train)
    architecture = Architecture(encoder="bilstm:hidden=16", embedding=16)
    model = build(architecture, words=len(vocabulary), classes=2, with_query=False, seed=seed)
    recipe = Recipe(epochs=epochs, learning_rate=5e-3)
    return (
        model,
        splits,
        vocabulary,
        fit(model, splits, vocabulary, recipe, seed=seed, show_progress=False),
    )


def test_the_keyword_task_is_learnt() -> None:
    model, splits, vocabulary, history = trained()
    labels, probs = predictions(model, splits.test, vocabulary, 2)
    assert performance(labels, probs)["accuracy"] > 0.95
    assert history.losses[-1] < history.losses[0]
    assert not model.training


def test_the_same_seed_trains_the_same_model_bit_by_bit() -> None:
    first, again, other = (trained(seed, epochs=1)[0].state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_the_best_epoch_on_dev_is_the_one_kept() -> None:
    model, splits, vocabulary, history = trained(epochs=3)
    labels, probs = predictions(model, splits.dev, vocabulary, 2)
    kept = performance(labels, probs)["roc_auc"]
    assert kept == pytest.approx(max(history.dev_scores), abs=1e-12)
    assert history.dev_scores[history.best_epoch] == max(history.dev_scores)


def test_predictions_come_in_the_order_of_the_examples() -> None:
    model, splits, vocabulary, _ = trained(epochs=1)
    _, together = predictions(model, splits.test, vocabulary, 2)
    one = collate(splits.test[17:18], vocabulary, 2)
    torch.testing.assert_close(model.read(one).probs[0], together[17], atol=1e-6, rtol=0)


def test_performance_against_counting() -> None:
    labels, probs = (
        torch.tensor([0, 1, 1, 0]),
        torch.tensor([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]]),
    )
    found = performance(labels, probs)
    assert found["accuracy"] == 0.5
    assert found["f1"] == pytest.approx(2 * 1 / (2 * 1 + 1 + 1))
    pairs = [float(p > n) for p in (0.8, 0.4) for n in (0.1, 0.7)]
    assert found["roc_auc"] == pytest.approx(np.mean(pairs))


def test_cross_entropy_knows_only_the_candidates() -> None:
    model, splits, vocabulary, _ = trained(epochs=1)
    batch = collate(splits.test[:4], vocabulary, 2)
    free = cross_entropy(model, batch)
    logits = model.read(batch).logits
    expected = -logits.log_softmax(-1)[torch.arange(4), batch.labels].mean()
    assert free.item() == pytest.approx(expected.item(), abs=1e-6)
    only_the_label = torch.nn.functional.one_hot(batch.labels, 2).bool()
    assert cross_entropy(model, replace(batch, classes=only_the_label)).item() == pytest.approx(
        0.0, abs=1e-7
    )


def test_batches_hold_every_example_once_and_are_alike_in_length() -> None:
    splits = load("keyword:train=203,dev=10,test=10")
    groups = in_batches(splits.train, 20, generator=torch.Generator().manual_seed(0))
    names = [example.example_id for group in groups for example in group]
    assert sorted(names) == sorted(example.example_id for example in splits.train)
    spread = [max(len(e.tokens) for e in g) - min(len(e.tokens) for e in g) for g in groups]
    assert max(spread) <= 3
    assert names != [e.example_id for g in in_batches(splits.train, 20) for e in g]


def words(*texts: str, labels: tuple[int, ...] = (0, 1)) -> tuple[Example, ...]:
    return tuple(
        Example(f"train/{at}", tuple(text.split()), label)
        for at, (text, label) in enumerate(zip(texts, labels, strict=False))
    )


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            lambda: Splits("mine", words("a b", ""), (), (), ("x", "y"), "blanks"),
            "the text is empty",
        ),
        (
            lambda: Splits("mine", words("a", "b", labels=(0, 0)), (), (), ("x", "y"), "blanks"),
            "labels are the same",
        ),
        (
            lambda: Splits("mine", words("a", "b", labels=(0, 5)), (), (), ("x", "y"), "blanks"),
            "label 5 is not one of",
        ),
        (
            lambda: Splits("mine", words("a", "b"), (), (), ("x",), "blanks"),
            "at least two classes|not one of the 1",
        ),
        (
            lambda: Splits("mine", words("a"), words("b"), (), ("x", "y"), "blanks"),
            "ids must be unique",
        ),
    ],
)
def test_bad_examples_are_rejected_by_name(made: object, text: str) -> None:
    with pytest.raises(InputError, match=text):
        made()  # type: ignore[operator]


def test_bad_recipes_and_missing_splits_are_rejected_before_training() -> None:
    with pytest.raises(InputError, match="epochs must be above 0, got 0"):
        Recipe(epochs=0)
    splits = load(SMALL)
    vocabulary = Vocabulary.build(splits.train)
    model = build(Architecture(embedding=4), words=len(vocabulary), classes=2, with_query=False)
    with pytest.raises(InputError, match="the dev split is empty"):
        fit(model, replace(splits, dev=()), vocabulary, Recipe())


def test_diverging_training_is_reported_in_words() -> None:
    splits = load(SMALL)
    vocabulary = Vocabulary.build(splits.train)
    model = build(
        Architecture(encoder="bilstm:hidden=4", embedding=4),
        words=len(vocabulary),
        classes=2,
        with_query=False,
    )
    with torch.no_grad():
        model.output.context.weight.fill_(float("inf"))
    with pytest.raises(InputError, match="Training diverged in epoch 1"):
        fit(model, splits, vocabulary, Recipe(epochs=1), show_progress=False)


@pytest.mark.parametrize("projection", ["softmax", "sparsemax", "entmax", "sparsegen:lam=0.5"])
def test_a_last_step_too_far_is_reported_in_words(projection: str) -> None:
    splits = load(SMALL)
    vocabulary = Vocabulary.build(splits.train)
    architecture = Architecture(embedding=4, projection=projection)
    model = build(architecture, words=len(vocabulary), classes=2, with_query=False)
    recipe = Recipe(epochs=1, batch_size=len(splits.train), learning_rate=1e38)  # one step
    with pytest.raises(InputError, match=r"the loss is 0\.\d+, and weights or predictions"):
        fit(model, splits, vocabulary, recipe, show_progress=False)
