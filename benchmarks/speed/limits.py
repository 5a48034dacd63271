"""What each row cannot do without: matrix products, functions, bytes, random numbers, sorting.

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


def gradients(model: Any, lengths: Sequence[int], *, backward: int = 2, forward: int = 1) -> Needed:
    """One pass forwards, and `backward` backwards without gradients of the weights."""
    inner, hidden = model.scorer.item.weight.shape
    tokens = sum(words + 2 for words in lengths)
    passes = forward + backward
    total = Needed()
    for _ in range(passes):
        total += _cells(model, 2 * tokens)
        total += Needed(2 * tokens * hidden * inner)
    return total + Needed(functions=forward * tokens * (5 * hidden + inner))


def integrated_gradients(model: Any, lengths: Sequence[int], steps: int = 50) -> Needed:
    """A pass in both directions at every step."""
    return gradients(model, lengths, backward=1) * steps


def battery(model: Any, lengths: Sequence[int], classes: int) -> Needed:
    """Leave-one-out, whose first reading serves all, and a pass back; then what tests need."""
    read_again = gradients(model, lengths, backward=1, forward=0)
    tests = permutation(lengths, classes) + ranks(lengths, 2) + furthest(lengths)
    return leave_one_out(model, lengths) + read_again + tests


def transformer(config: Any, readings: Sequence[int]) -> Needed:
    """Readings of so many tokens each: the four projections, two sums over tokens, feed-forward."""
    size, inner = config.hidden_size, config.intermediate_size
    per_layer = sum(
        2 * tokens * (4 * size * size + 2 * size * inner) + 4 * tokens * tokens * size
        for tokens in readings
    )
    return Needed(operations=config.num_hidden_layers * per_layer)


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
    """A random number per weight, sorted, and the products of weights with readouts."""
    numbers = draws * sum(lengths)
    return Needed(2 * numbers * classes, bytes=numbers * 2 * _FLOAT, draws=numbers, sorts=numbers)


def ranks(lengths: Sequence[int], comparisons: int = 1) -> Needed:
    """Two lists of scores per text, each sorted: the second in the order of the first."""
    return Needed(sorts=2 * comparisons * sum(lengths))


def removal(lengths: Sequence[int], classes: int, rankings: int) -> Needed:
    """Each ranking sorted, and sums of the readouts in its order, read and written once."""
    words = rankings * sum(lengths)
    return Needed(bytes=words * (classes + 1) * 8 * 2, sorts=words)


def furthest(lengths: Sequence[int]) -> Needed:
    """Readouts sorted, and the JSD of one attention: three terms x log x per item.

    That is less than a proof that no other is further can do with, above all with many classes.
    """
    items = sum(words + 2 for words in lengths)
    return Needed(functions=3 * items, sorts=items)


def sparsemax(rows: int, scores: int) -> Needed:
    """Scores read and weights written."""
    return Needed(bytes=rows * scores * 2 * _FLOAT)


def _cells(model: Any, steps: int, *, with_state: bool = True) -> Needed:
    """Steps of one direction of an LSTM: products with the input, and with the state."""
    size, embedding = model.encoder.size // 2, model.embedding.embedding_dim
    return Needed(steps * 8 * size * (embedding + (size if with_state else 0)))
