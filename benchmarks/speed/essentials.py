"""The parts of a row that its way of computing cannot do without, run by themselves.

If everything else took no time, the ratio of the row would be the time of the other side over
theirs: more needs another way, not tidier code. They are run with what they need at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from benchmarks.speed.setting import records
from torch import Tensor, nn

from attnaudit.audits.counterfactual import MOST_ORDERS, number_of_orders, words_of
from attnaudit.core import randomness
from attnaudit.core.adam import Adam
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import Batch, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.sorting import sort_in_place
from attnaudit.exact.inputs import prepare
from attnaudit.exact.outer_bound import outer_bound
from attnaudit.exact.relaxations import relaxations

Essential = Callable[[], Any]


def reading(model: Any, batches: list[Batch]) -> Essential:
    """Each text read once."""
    return lambda: list(records(model, batches))


def passes(model: Any, batches: list[Batch], backward: int) -> Essential:
    """The encoder passed forwards with gradients, and so many times backwards."""
    read = list(records(model, batches))

    def run() -> None:
        for record in read:
            with differentiating():
                embeddings = record.embeddings.detach().requires_grad_()
                hidden = model.encoder(embeddings, record.batch.mask)
            slope = torch.ones_like(hidden)
            for _ in range(backward):
                torch.autograd.grad(hidden, embeddings, slope, retain_graph=True)

    return run


def shuffles(model: Any, read: list[Record], draws: int = 100) -> Essential:
    """The random numbers of texts of more than five words, sorted, and every shuffle decoded."""
    prepared = []
    for record in read:
        random = number_of_orders(words_of(record)) > MOST_ORDERS
        ids = [id_ for id_, some in zip(record.batch.example_id, random, strict=True) if some]
        keys = randomness.keys(0, "permutation", ids)
        width = int(record.content[random].sum(-1).max()) if len(ids) else 0
        shuffled = record.alpha[:, None].expand(-1, draws, -1, -1).contiguous()
        prepared.append((record, keys, torch.arange(draws * width).view(draws, width), shuffled))

    def run() -> None:
        for record, keys, places, shuffled in prepared:
            sort_in_place(randomness.bits_at(keys[:, None, None], places))
            logits_under(model, record, shuffled)

    return run


def bound(
    read: list[Record], known: Callable[[Record], Tensor], epsilon: float = 0.01
) -> Essential:
    """The certified upper bound, where the furthest distance that is found is `known`: (B,)."""
    prepared = []
    for record in read:
        given = prepare(record.alpha[:, 0].double(), record.readout.double(), record.mask[:, 0])
        tolerance = torch.full_like(given.probs[:, 0], epsilon)
        prepared.append((given, tolerance, known(record)))

    def run() -> None:
        for given, tolerance, lower in prepared:
            upper = torch.full_like(lower, torch.inf)
            for vertex in relaxations(given, tolerance):
                upper = torch.minimum(upper, vertex.jsd)
            some = (lower < upper - 1e-12).nonzero()[:, 0]
            if len(some):
                outer_bound(given.rows(some), tolerance[some], lower[some])

    return run


def training(model: nn.Module, shapes: Sequence[tuple[int, int]]) -> Essential:
    """For batches of such shapes (B,T): the LSTM in both directions, and AMSGrad on all rows."""
    size = model.embedding.embedding_dim
    device = model.embedding.weight.device
    inputs = [torch.randn(*shape, size, device=device, requires_grad=True) for shape in shapes]
    networks = (model.encoder.forwards, model.encoder.backwards)

    def run() -> None:
        weight = torch.zeros_like(model.embedding.weight).requires_grad_()
        weight.grad = torch.ones_like(weight)
        optimiser = Adam([{"params": [weight], "lr": 1e-3, "weight_decay": 1e-5}], amsgrad=True)
        for texts in inputs:
            for network in networks:
                states, _ = network(texts)
                torch.autograd.grad(states.sum(), [texts, *network.parameters()])
            optimiser.step()

    return run
