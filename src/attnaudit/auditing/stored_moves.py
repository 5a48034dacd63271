"""Moves of attention whose predictions are stored with an example, for the playground of its page.

A model without a readout cannot be computed in the browser. So a designed set of moves is decoded
in the audit, and the page shows these and no others: every number is the model's own.

Every row moves in the same way, by the weights of its words; weights on marks, such as [CLS], stay
where they are, as in the audit `permutation`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.audits.counterfactual import logits_of_draws, permuted, words_of
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import NotApplicable
from attnaudit.core.id_order import id_hash

MOST_EXAMPLES = 24  # of an audit; at most about 220 moves are decoded for each
MOST_WORDS = 24  # of an example, those with the most attention: others are not moved by themselves
MOST_CARRIED = 6  # words whose attention can be carried to another word
MOST_COUNTS = 16  # of words that are taken out together
SHUFFLES = 5


class Move(NamedTuple):
    """One change of the attention.

    Attributes
    ----------
    kind : "without" a word, its weight shared by the others in proportion; "only" on a word;
        "carry" its weight `to` another; "top": without the `word` words with the most attention;
        "uniform" over words; "shuffle" number `word`; "furthest", as the audit found it.
    word, to : places among the words that count; -1 if there is none.
    alpha : (R,N), the attention after the move.
    """

    kind: str
    word: int
    to: int
    alpha: Tensor


@lru_cache(maxsize=4)
def examples_with_moves(kept: frozenset[str]) -> frozenset[str]:
    """Which of the kept examples have moves: those that a page takes first in each group."""
    return frozenset(sorted(kept, key=id_hash)[:MOST_EXAMPLES])


@torch.no_grad()
def stored_moves(
    model: AttentionModel, record: Record, index: int, seed: int, furthest: Tensor | None
) -> list[dict[str, Any]] | None:
    """The predictions of example `index` under all moves, as the store holds them.

    Parameters
    ----------
    furthest : (R,N), the attention that the audit `furthest` found; None if it was not run.

    Returns
    -------
    One dict per move, with `kind`, `word`, `to`, `probs` (C,), `jsd` (of the attention from the
    original, mean over rows) and, for a shuffle, `weights`: the mean over rows of each word that
    counts. None if the model has a readout, which needs no moves, if a row may not attend to all
    words, or if the model cannot be decoded.
    """
    if record.readout is not None:
        return None
    single = model.read(record.batch.rows(torch.tensor([index], device=record.alpha.device)))
    words = words_of(single)
    if not bool(single.content.any()) or not torch.equal(
        words, single.content[:, None].expand_as(words)
    ):
        return None
    if furthest is not None:
        furthest = _by_item(furthest, record.mask[index].any(0), single.mask[0].any(0))
    shown = _shown_weights(record.alpha[index][:, record.content[index]])
    moves = list(_moves(single, shown, seed, furthest))
    alpha = torch.stack([move.alpha for move in moves])[None]

    def draw(first: int, number: int) -> Tensor:
        return alpha[:, first : first + number]

    try:
        logits = logits_of_draws(model, single, len(moves), draw)
    except NotApplicable:
        return None
    probs = masking.probabilities(logits, single.batch.classes)[0].double()
    jsd = statistics.jsd(alpha[0].double(), single.alpha.double()).mean(-1)
    content = single.content[0]
    return [
        {
            "kind": move.kind,
            "word": move.word,
            "to": move.to,
            "probs": of_move.tolist(),
            "jsd": distance,
            "weights": move.alpha[:, content].double().mean(0).tolist()
            if move.kind == "shuffle"
            else None,
        }
        for move, of_move, distance in zip(moves, probs, jsd.tolist(), strict=True)
    ]


def _shown_weights(attention: Tensor) -> Tensor:
    """Mean over rows of attention (R,W), as the page computes it: in the same order and type."""
    total = torch.zeros(attention.shape[1], dtype=torch.float64, device=attention.device)
    for row in attention.float().double():
        total = total + row
    return total / len(attention)


def _by_item(weights: Tensor, real: Tensor, other: Tensor) -> Tensor:
    """Weights (R,N) of the items in `real` (N,) at the items in `other` (M,): (R,M)."""
    placed = weights.new_zeros(len(weights), len(other))
    placed[:, other] = weights[:, real]
    return placed


def _moves(record: Record, shown: Tensor, seed: int, furthest: Tensor | None) -> Iterable[Move]:
    """All moves of the only example of a record, whose words have the weights `shown` (W,)."""
    content = record.content[0]
    items = content.nonzero()[:, 0].tolist()
    alpha = record.alpha[0].detach()
    mass = masking.fill(alpha, content.expand_as(alpha)).sum(-1)  # (R,) on words
    order = shown.argsort(descending=True, stable=True).tolist()
    chosen = sorted(order[:MOST_WORDS])

    def rest(without: list[int]) -> Tensor:
        """The weights with these words taken out and shared by the others in proportion."""
        left = content.clone()
        left[[items[word] for word in without]] = False
        return _placed(alpha, content, left, mass)

    if len(items) > 1:
        for word in chosen:
            yield Move("without", word, -1, rest([word]))
        for count in _counts(len(items)):
            yield Move("top", count, -1, rest(order[:count]))
    for word in chosen:
        alone = torch.zeros_like(content)
        alone[items[word]] = True
        yield Move("only", word, -1, _placed(alpha, content, alone, mass))
    for word in order[:MOST_CARRIED]:
        for to in chosen:
            if to != word:
                moved = alpha.clone()
                moved[:, items[to]] += alpha[:, items[word]]
                moved[:, items[word]] = 0.0
                yield Move("carry", word, to, moved)
    uniform = masking.uniform(content, alpha.dtype) * mass[:, None]
    yield Move("uniform", -1, -1, torch.where(content, uniform, alpha))
    shuffled = permuted(record.alpha, words_of(record), SHUFFLES, seed, record.batch.example_id)
    for number, order_of in enumerate(shuffled[0]):
        yield Move("shuffle", number, -1, order_of)
    if furthest is not None:
        yield Move("furthest", -1, -1, furthest.to(alpha.dtype))


def _placed(alpha: Tensor, content: Tensor, left: Tensor, mass: Tensor) -> Tensor:
    """Each row's weight on words placed on the words in `left`: in proportion, or evenly."""
    kept = masking.fill(alpha, left.expand_as(alpha))
    total = kept.sum(-1, keepdim=True)
    share = torch.where(total > 0, kept / total, masking.uniform(left, alpha.dtype))
    return torch.where(content, share * mass[:, None], alpha)


def _counts(words: int) -> list[int]:
    """How many top words are taken out together: every number, or some up to all but one.

    Examples
    --------
    >>> _counts(4), _counts(1)
    ([1, 2, 3], [])
    """
    steps = torch.linspace(1, words - 1, min(MOST_COUNTS, words - 1)).round()
    return [int(count) for count in steps.tolist()]
