"""Random models with large parameters, with and without a readout, with their logits in NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import rel_entr, softmax
from torch import Tensor, nn

from attnaudit import audit
from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.measures import DEFAULT_MEASURES, MEASURES
from attnaudit.models import Architecture, build

START, END = 1, 2


LENGTHS = (7, 3, 1, 9, 2, 5, 8, 6, 4, 7, 9, 2)


EXAMPLES = len(LENGTHS)


class TwoRows(nn.Module):
    """Two rows of attention, the second blind to the last word, and a bent output: no readout."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(30, 4))
        self.score = nn.Parameter(torch.zeros(2, 4))
        self.inner = nn.Parameter(torch.zeros(8, 6))
        self.outer = nn.Parameter(torch.zeros(6, classes))

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        embeddings = self.table[batch.tokens] if embeddings is None else embeddings
        words = batch.mask & (batch.tokens > END)
        before = embeddings * words[..., None]
        hidden = (embeddings + before.cumsum(1) / 3).tanh() * 2
        last = words & (words.flip(1).cumsum(1).flip(1) == 1)
        second = torch.where(words.sum(-1, keepdim=True) > 1, words & ~last, words)
        mask = torch.stack([words, second], 1)
        alpha = masking.softmax(self.score @ hidden.transpose(1, 2), mask)
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=hidden,
            alpha=alpha,
            mask=mask,
            content=words,
            item_of_token=place.masked_fill(~words, -1),
            logits=self._logits(alpha, hidden),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]  # type: ignore[index]
        return self._logits(alpha, hidden)

    def _logits(self, alpha: Tensor, hidden: Tensor) -> Tensor:
        return ((alpha @ hidden).flatten(-2) @ self.inner).tanh() @ self.outer * 2

    def plain(self, record: Record, index: int, alpha: np.ndarray) -> np.ndarray:
        context = (alpha @ record.hidden[index].numpy()).reshape(-1)  # type: ignore[index]
        return np.tanh(context @ self.inner.numpy()) @ self.outer.numpy() * 2


def large(model: nn.Module, std: float = 0.7) -> Any:
    """Parameters of a size at which everything moves everything."""
    draw = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=std, generator=draw)
        parameter.requires_grad_(False)
    return model.eval()


def attentive(batch: Batch, *, classes: int, dtype: torch.dtype = torch.float64) -> Any:
    """A random model with sharp attention that decides for every class about as often."""
    architecture = Architecture(encoder="bilstm:hidden=5", embedding=6)
    model = large(
        build(architecture, words=30, classes=classes, with_query=batch.query is not None)
    ).double()
    model.scorer.score.weight *= 4
    model.output.context.weight *= 5
    model.output.context.bias -= model.read(batch).logits.mean(0)
    return model.to(dtype)


def random_batch(
    *, classes: int, query: bool = False, candidates: bool = False, seed: int = 0
) -> Batch:
    draw = np.random.default_rng(seed)

    def texts(lengths: tuple[int, ...]) -> Tensor:
        rows = [[START, *draw.integers(3, 30, size=n), END] for n in lengths]
        return torch.tensor([row + [0] * (max(map(len, rows)) - len(row)) for row in rows])

    tokens = texts(LENGTHS)
    asked = texts(tuple(draw.integers(1, 5, size=EXAMPLES))) if query else None
    allowed = draw.random((EXAMPLES, classes)) < 0.6
    allowed[:, :2] = True
    known = torch.tensor(draw.random(tokens.shape) < 0.3)
    return Batch(
        tuple(f"example/{index}" for index in range(EXAMPLES)),
        tokens,
        tokens > 0,
        asked,
        None if asked is None else asked > 0,
        classes=torch.tensor(allowed) if candidates else None,
        labels=torch.tensor(draw.integers(0, 2, size=EXAMPLES)),
        evidence=known & (tokens > END),
    )


@dataclass(frozen=True)
class Case:
    model: Any
    record: Record
    logits: Callable[[int, np.ndarray], np.ndarray]  # of one example under (R,N), in NumPy

    @property
    def alpha(self) -> np.ndarray:
        return self.record.alpha.numpy()

    @property
    def mask(self) -> np.ndarray:
        return self.record.mask.numpy()

    def allowed(self, index: int) -> np.ndarray:
        classes = self.record.batch.classes
        return (
            np.ones(self.record.logits.shape[1], bool)
            if classes is None
            else classes[index].numpy()
        )

    def probs(self, index: int, alpha: np.ndarray) -> np.ndarray:
        return softmax(np.where(self.allowed(index), self.logits(index, alpha), -np.inf))

    def decided(self, index: int, alpha: np.ndarray) -> int:
        return int(np.argmax(self.probs(index, alpha)))


def attentive_case(*, classes: int, query: bool = False, candidates: bool = False) -> Case:
    batch = random_batch(classes=classes, query=query, candidates=candidates)
    model = attentive(batch, classes=classes)
    record = model.read(batch)

    def logits(index: int, alpha: np.ndarray) -> np.ndarray:
        output = model.output
        found = output.context.weight.numpy() @ (alpha[0] @ record.hidden[index].numpy())
        found = found + output.context.bias.numpy()
        if query:
            found = found + output.query.weight.numpy() @ record.state.query[index].numpy()
        return found

    return Case(model, record, logits)


def two_row_case(classes: int) -> Case:
    model = large(TwoRows(classes), std=1.2).double()
    record = model.read(random_batch(classes=classes))
    return Case(model, record, lambda index, alpha: model.plain(record, index, alpha))


MAKE = {
    "two classes": lambda: attentive_case(classes=2),
    "two classes, query": lambda: attentive_case(classes=2, query=True),
    "four classes": lambda: attentive_case(classes=4),
    "four classes, query, candidates": lambda: attentive_case(
        classes=4, query=True, candidates=True
    ),
    "two rows": lambda: two_row_case(3),
}


LINEAR = [name for name in MAKE if name != "two rows"]


@cache
def case(name: str) -> Case:
    return MAKE[name]()


@cache
def scores_of(name: str) -> dict[str, Tensor]:
    chosen = case(name)
    return {
        measure: MEASURES[measure](chosen.model, chosen.record, 0).detach()
        for measure in DEFAULT_MEASURES
    }


every_case = pytest.mark.parametrize("name", MAKE)


def tvd(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.abs(p - q).sum() / 2)


def jsd(p: np.ndarray, q: np.ndarray) -> float:
    middle = (p + q) / 2
    return float((rel_entr(p, middle) + rel_entr(q, middle)).sum() / 2)


def hidden_readout(chosen: Case) -> Record:
    return replace(chosen.record, readout=None)


def same(found: Tensor, expected: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(
        found.double().numpy(), np.asarray(expected, float), atol=tolerance, rtol=0
    )


def made_scores(chosen: Case) -> dict[str, Tensor]:
    """Ties, a constant and a NaN, none of which may be passed over."""
    draw = np.random.default_rng(8)
    shape = chosen.record.content.shape
    a, b, c = (torch.tensor(draw.integers(0, 4, size=shape).astype(float)) for _ in range(3))
    a[0] = 1.0
    b[3, 3] = math.nan
    random = torch.tensor(draw.random(shape))
    return {"attention": chosen.record.alpha, "a": a, "b": b, "c": c, "random": random}


def no_ties(seed: int, chosen: Case) -> dict[str, Tensor]:
    draw = np.random.default_rng(seed)
    shape = chosen.record.content.shape
    return {
        "attention": chosen.record.alpha,
        **{f"made/{n}": torch.tensor(draw.normal(size=shape)) for n in range(4)},
    }


def split_batch(batch: Batch, order: list[int], size: int) -> list[Batch]:
    """Batches of `size` in that order, each as narrow as its longest text."""
    found = []
    for index in range(0, len(order), size):
        part = batch.rows(torch.tensor(order[index : index + size]))
        found.append(part.without(torch.zeros_like(part.mask)))
    return found


@cache
def batching_models() -> dict[str, tuple[Any, Batch]]:
    two, four = (random_batch(classes=n, query=True, candidates=n == 4) for n in (2, 4))
    return {
        "float32": (attentive(two, classes=2, dtype=torch.float32), two),
        "float64": (attentive(four, classes=4), four),
        "two rows": (large(TwoRows(3), std=1.2).double(), random_batch(classes=3)),
    }


def audit_model(name: str, data: list[Batch], **more: Any) -> Any:
    model, _ = batching_models()[name]
    return audit(model, data, show_progress=False, seed=4, **more)
