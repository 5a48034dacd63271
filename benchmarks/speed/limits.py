"""What each row cannot do without: operations of matrix products, functions, bytes.

n words make T = n + 2 tokens. Sizes are those of the model: E embedding, H hidden (both
directions), A of the scorer, C classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.speed.machine import Needed

from attnaudit.models.encoders.bidirectional import Bidirectional
from attnaudit.models.encoders.cnn import CNN

_FLOAT = 4  # bytes


def leave_one_out(model: Any, lengths: Sequence[int]) -> Needed:
    """Reading once, the states that a deletion changes, their scores, and new sums over all items.

    BiLSTM: of the T - 1 other tokens one direction each, whose half of the scorer is the only one
    that changes. CNN: the products of taps and items once, then sums for three neighbours on
    either side. Without context: only the sums.
    """
    inner, hidden = model.scorer.item.weight.shape
    total = Needed()
    for words in lengths:
        tokens = words + 2
        total += Needed(operations=2 * words * words * hidden)  # attention times states
        total += Needed(2 * tokens * hidden * inner, tokens * inner)  # scores of the whole text
        if isinstance(model.encoder, Bidirectional):
            size, states = hidden // 2, words * (tokens - 1)
            total += _cells(model, tokens * 2)
            total += Needed(states * 8 * size * size, states * 5 * size)
            total += Needed(states * 2 * size * inner, states * inner)
        elif isinstance(model.encoder, CNN):
            taps = [
                (module.weight.shape[2], module.weight.shape[0])
                for module in model.encoder.convolutions
            ]
            embedding = model.embedding.embedding_dim
            total += Needed(2 * tokens * embedding * sum(width * size for width, size in taps))
            changed = words * 6
            sums = sum(width * size for width, size in taps if width > 1)
            total += Needed(2 * changed * hidden * inner, changed * inner, changed * sums * _FLOAT)
        else:
            total += Needed(2 * tokens * model.embedding.embedding_dim * hidden)
    return total


def gradients(model: Any, lengths: Sequence[int], *, backward: int = 2) -> Needed:
    """One pass forwards, and `backward` backwards without gradients of the weights."""
    inner, hidden = model.scorer.item.weight.shape
    tokens = sum(words + 2 for words in lengths)
    passes = 1 + backward
    total = Needed()
    for _ in range(passes):
        total += _cells(model, 2 * tokens)
        total += Needed(2 * tokens * hidden * inner)
    return total + Needed(functions=tokens * (5 * hidden + inner))


def training(model: Any, lengths: Sequence[int], batches: int) -> Needed:
    """Forwards, backwards twice (inputs and weights), and Adam through all rows of the embedding.

    Adam with AMSGrad reads and writes the weight and three moments, and reads the gradient.
    """
    inner, hidden = model.scorer.item.weight.shape
    tokens = sum(words + 2 for words in lengths)
    total = Needed(functions=tokens * (5 * hidden + inner))
    for _ in range(3):
        total += _cells(model, 2 * tokens) + Needed(2 * tokens * hidden * inner)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return total + Needed(bytes=batches * parameters * 9 * _FLOAT)


def permutation(lengths: Sequence[int], classes: int, draws: int = 100) -> Needed:
    """Random numbers written once, sorted once (read and written), and products with readouts."""
    numbers = draws * sum(lengths)
    return Needed(operations=2 * numbers * classes, bytes=numbers * (8 + 8 + 8 + 4 + 4))


def ranks(lengths: Sequence[int], comparisons: int = 1) -> Needed:
    """Both scores and their orders, read and written once."""
    return Needed(bytes=comparisons * sum(lengths) * (8 + 8) * 2 * 2)


def removal(lengths: Sequence[int], classes: int, rankings: int) -> Needed:
    """Readouts in the order of each ranking, and their sums, read and written once."""
    return Needed(bytes=rankings * sum(lengths) * (classes + 1) * 8 * 4)


def _cells(model: Any, steps: int, *, with_state: bool = True) -> Needed:
    """Steps of one direction of an LSTM: products with the input, and with the state."""
    size, embedding = model.encoder.size // 2, model.embedding.embedding_dim
    return Needed(steps * 8 * size * (embedding + (size if with_state else 0)))
