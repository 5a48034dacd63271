"""Measures against finite differences in float64 and against texts shortened by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from scipy.stats import kstest, spearmanr
from torch import Tensor

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.measures import MEASURES
from attnaudit.measures.attention_gradient import attention_gradient, attention_times_gradient
from attnaudit.measures.gradient import gradient
from attnaudit.measures.leave_one_out import leave_one_out
from attnaudit.measures.random import random
from attnaudit.models import Architecture, Attentive, build

START, END = 1, 2
STEP = 1e-5
TEXTS = (
    [5, 6, 7, 8, 9, 10, 11],
    [12, 5, 5, 13],
    [7, 14],
    [15],
    [20, 21, 22, 23, 24, 5, 6, 7, 8],
)
QUERIES = ([16, 17], [18], [5, 6, 7], [19, 5], [7])


def batch_of(
    texts: tuple[list[int], ...], queries: tuple[list[int], ...] | None = None, **more
) -> Batch:
    def padded(rows: tuple[list[int], ...]) -> Tensor:
        marked = [[START, *row, END] for row in rows]
        return torch.tensor([row + [0] * (max(map(len, marked)) - len(row)) for row in marked])

    tokens = padded(texts)
    query = padded(queries) if queries is not None else None
    names = tuple(f"text/{index}" for index in range(len(texts)))
    return Batch(names, tokens, tokens > 0, query, None if query is None else query > 0, **more)


CANDIDATES = torch.tensor([[True, True, False, True]] * 3 + [[False, True, True, False]] * 2)
CASES = {
    "two classes": (2, False, None),
    "two classes, query": (2, True, None),
    "four classes": (4, False, None),
    "four classes, query, candidates": (4, True, CANDIDATES),
}


@cache
def case(name: str) -> tuple[Attentive, Record]:
    classes, with_query, candidates = CASES[name]
    model = build(
        Architecture(encoder="bilstm:hidden=5", embedding=6),
        words=30,
        classes=classes,
        with_query=with_query,
    )
    draw = torch.Generator().manual_seed(len(name))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7, generator=draw)
    model = model.double().eval()
    batch = batch_of(TEXTS, QUERIES if with_query else None, classes=candidates)
    with torch.no_grad():
        return model, model.read(batch)


def chosen(logits: Tensor, record: Record) -> np.ndarray:
    """Probability (B,) of the class predicted in the record, candidates only, in plain NumPy."""
    found = []
    for index, row in enumerate(logits.detach().numpy()):
        allowed = (
            range(len(row))
            if record.batch.classes is None
            else [c for c in range(len(row)) if record.batch.classes[index, c]]
        )
        top = max(allowed, key=lambda c, index=index: float(record.logits[index, c]))
        found.append(math.exp(row[top]) / sum(math.exp(row[c]) for c in allowed))
    return np.array(found)


def scaled(record: Record, tokens: Tensor, by: float) -> Tensor:
    """The embeddings with those of the tokens (B,T) multiplied."""
    factor = torch.where(tokens, torch.tensor(by, dtype=torch.float64), 1.0)
    return record.embeddings * factor[..., None]


# Gradient


@pytest.mark.parametrize("name", CASES)
@torch.no_grad()
def test_gradient_is_the_slope_along_the_word_with_the_attention_held(name: str) -> None:
    """Σ_e x_e ∂p/∂x_e is how p changes as the word vector is scaled: a central difference."""
    model, record = case(name)
    found = gradient(model, record, 0).numpy()
    moving = np.zeros_like(found)
    expected = np.zeros_like(found)
    for index in range(record.batch.tokens.shape[1]):
        only = torch.zeros_like(record.batch.mask)
        only[:, index] = True
        held, free = [], []
        for by in (1 + STEP, 1 - STEP):
            fresh = model.read(record.batch, scaled(record, only, by))
            held.append(chosen(model.decode(fresh, record.alpha), record))
            free.append(chosen(fresh.logits, record))
        expected[:, index] = abs(held[0] - held[1]) / (2 * STEP)
        moving[:, index] = abs(free[0] - free[1]) / (2 * STEP)
    real = record.content.numpy()
    np.testing.assert_allclose(found[real], expected[real], atol=1e-8)
    assert (
        np.abs(expected[real] - moving[real]).max() > 1e-3
    )  # attention left on the graph is another number
    assert (found[~real] == 0).all()


@pytest.mark.parametrize("name", CASES)
def test_gradient_leaves_no_gradient_behind(name: str) -> None:
    model, record = case(name)
    gradient(model, record, 0)
    attention_gradient(model, record, 0)
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not record.embeddings.requires_grad


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "random"])
def test_a_measure_is_the_same_with_and_without_gradient_mode(measure: str) -> None:
    model, record = case("four classes, query, candidates")
    found = []
    for mode in (torch.no_grad, torch.enable_grad):
        with mode():
            try:
                found.append(MEASURES[measure](model, record, 0).detach().numpy())
            except NotApplicable as reason:
                found.append(str(reason))
    np.testing.assert_array_equal(*found)
    # What cannot be asked of a recurrent network says so in both.
    assert isinstance(found[0], str) == (measure in ("rollout", "deeplift", "head_mean"))


# Leave one out


@pytest.mark.parametrize("name", CASES)
@torch.no_grad()
def test_leave_one_out_is_the_change_when_the_shortened_text_is_read(name: str) -> None:
    model, record = case(name)
    found = leave_one_out(model, record, 0).numpy()
    with_query = record.batch.query is not None
    for index, text in enumerate(TEXTS):
        for place in range(record.batch.tokens.shape[1]):
            word = place - 1  # the start mark comes first
            if not 0 <= word < len(text) or len(text) == 1:
                assert math.isnan(found[index, place])
                continue
            shorter = batch_of(
                (text[:word] + text[word + 1 :],),
                (QUERIES[index],) if with_query else None,
                classes=None
                if record.batch.classes is None
                else record.batch.classes[index : index + 1],
            )
            logits = model.read(shorter).logits[0].numpy()
            allowed = (
                np.ones(len(logits), bool)
                if shorter.classes is None
                else shorter.classes[0].numpy()
            )
            p, q = (
                np.where(allowed, np.exp(x), 0) / np.exp(x)[allowed].sum()
                for x in (logits, record.logits[index].numpy())
            )
            assert found[index, place] == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_a_batch_of_texts_of_one_word_has_nothing_to_leave_out(name: str) -> None:
    model, record = case(name)
    alone = record.batch.rows(torch.tensor([3]))
    assert TEXTS[3] == [15]
    found = leave_one_out(model, model.read(alone), 0)
    assert found.shape == alone.tokens.shape
    assert found.isnan().all()


def test_the_models_own_leave_out_is_used_where_there_is_one() -> None:
    _, record = case("two classes")

    class Own:
        def leave_out(self, record: Record) -> Tensor:
            return record.logits[:, None].expand(-1, record.content.shape[1], -1).flip(-1)

    p = record.probs.numpy()
    found = leave_one_out(Own(), record, 0).numpy()  # type: ignore[arg-type]
    np.testing.assert_allclose(
        found, np.abs(p[:, :1] - p[:, 1:]).repeat(found.shape[1], 1), atol=1e-12
    )


# Attention and its gradient


@pytest.mark.parametrize("name", CASES)
@torch.no_grad()
def test_attention_gradient_is_the_slope_in_each_weight_alone_off_the_simplex(name: str) -> None:
    model, record = case(name)
    found = attention_gradient(model, record, 0).numpy()
    assert found.shape == record.alpha.shape
    for item in range(record.alpha.shape[2]):
        step = torch.zeros_like(record.alpha)
        step[:, :, item] = STEP
        up, down = (
            chosen(model.decode(record, record.alpha + sign * step), record) for sign in (1, -1)
        )
        np.testing.assert_allclose(found[:, 0, item], (up - down) / (2 * STEP), atol=1e-8)
    assert (found < -1e-3).any()  # signed
    assert (found > 1e-3).any()
    times = attention_times_gradient(model, record, 0).numpy()
    np.testing.assert_allclose(times, found * record.alpha.numpy(), atol=1e-14)


def test_attention_is_the_attention() -> None:
    model, record = case("two classes")
    found = MEASURES["attention"](model, record, 0)
    assert torch.equal(found, record.alpha)


# Random


def nameless(names: list[str], items: int = 5) -> Record:
    """As much of a record as random scores may look at."""
    _, record = case("two classes")
    tokens = torch.full((len(names), items), 7)
    batch = Batch(tuple(names), tokens, tokens > 0)
    return replace(record, batch=batch, content=tokens > 0)


def test_random_scores_are_uniform_and_unrelated() -> None:
    model, _ = case("two classes")
    draws = random(model, nameless([f"text/{index}" for index in range(2000)]), 0).numpy()
    assert draws.shape == (2000, 5)
    assert kstest(draws.ravel(), "uniform").pvalue > 1e-3
    for place in range(5):
        assert kstest(draws[:, place], "uniform").pvalue > 1e-4
        assert abs(spearmanr(draws[:, place], draws[:, (place + 1) % 5])[0]) < 0.1
    assert abs(spearmanr(draws[:-1, 0], draws[1:, 0])[0]) < 0.1
    other = random(model, nameless([f"text/{index}" for index in range(2000)]), 1).numpy()
    assert abs(spearmanr(draws.ravel(), other.ravel())[0]) < 0.05


def test_random_scores_depend_on_the_example_and_the_place_not_on_the_batch() -> None:
    model, _ = case("two classes")
    together = random(model, nameless(["a", "b", "c"], items=9), 0)
    for index, name in ((2, "c"), (0, "a")):
        assert torch.equal(random(model, nameless([name]), 0)[0], together[index, :5])
    assert len(set(together.ravel().tolist())) == 27


# Items of several tokens


class Pairs:
    """Every two words are one item, start and end none; signs within an item differ."""

    def __init__(self) -> None:
        draw = torch.Generator().manual_seed(1)
        self.table, self.inner, self.score, self.out = (
            torch.randn(*shape, generator=draw, dtype=torch.float64)
            for shape in ((30, 4), (4, 5), (5, 1), (5, 2))
        )

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        embeddings = self.table[batch.tokens] if embeddings is None else embeddings
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        words = batch.tokens > END
        item_of_token = torch.where(words, (place - 1).div(2, rounding_mode="floor"), -1)
        items = max(int(item_of_token.max()) + 1, 1)
        belongs = (item_of_token[:, None] == torch.arange(items)[:, None]).double()  # (B,N,T)
        content = belongs.any(-1)
        # Through another function of each token before they are added: the pair is no plain sum.
        hidden = (belongs @ (embeddings @ self.inner).tanh()) ** 2 - 1
        alpha = masking.softmax((hidden @ self.score)[..., 0], content)[:, None]
        logits = (alpha @ hidden @ self.out)[:, 0]
        return Record(
            batch,
            embeddings,
            hidden,
            alpha,
            content[:, None],
            content,
            item_of_token,
            logits,
            state=None,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return (alpha @ record.hidden @ self.out).squeeze(-2)


@pytest.fixture
def pairs() -> tuple[Pairs, Record]:
    model = Pairs()
    return model, model.read(batch_of(TEXTS))


def test_tokens_of_one_item_are_added_with_their_signs_before_the_absolute_value(
    pairs: tuple[Pairs, Record],
) -> None:
    model, record = pairs
    found = gradient(model, record, 0).numpy()
    assert found.shape == (5, 5)
    apart = np.zeros_like(found)
    for item in range(5):
        belongs = record.item_of_token == item
        slopes = []
        for tokens in (belongs, *(_nth(belongs, n) for n in (0, 1))):
            up, down = (
                chosen(
                    model.decode(
                        model.read(record.batch, scaled(record, tokens, by)), record.alpha
                    ),
                    record,
                )
                for by in (1 + STEP, 1 - STEP)
            )
            slopes.append((up - down) / (2 * STEP))
        np.testing.assert_allclose(found[:, item], abs(slopes[0]), atol=1e-8)
        apart[:, item] = abs(slopes[1]) + abs(slopes[2])
    assert np.abs(apart - found).max() > 1e-2  # absolute values first would be another number


def _nth(tokens: Tensor, n: int) -> Tensor:
    """The n-th token of each example among those marked."""
    return tokens & (tokens.cumsum(-1) == n + 1)


def test_leaving_out_an_item_deletes_all_of_its_tokens(pairs: tuple[Pairs, Record]) -> None:
    model, record = pairs
    found = leave_one_out(model, record, 0).numpy()
    for index, text in enumerate(TEXTS):
        count = math.ceil(len(text) / 2)
        for item in range(5):
            if item >= count or count == 1:
                assert math.isnan(found[index, item])
                continue
            left = text[: 2 * item] + text[2 * item + 2 :]
            p = chosen(model.read(batch_of((left,))).logits, _only(record, index))
            assert found[index, item] == pytest.approx(
                abs(p[0] - chosen(record.logits, record)[index]), abs=1e-12
            )


def _only(record: Record, index: int) -> Record:
    return replace(record, logits=record.logits[index : index + 1])
