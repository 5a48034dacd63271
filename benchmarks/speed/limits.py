"""What each row cannot do without: matrix products, functions, bytes, random numbers, sorting.

n words make T = n + 2 tokens. Sizes are those of the model: E embedding, H hidden (both
directions), A of the scorer, C classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.speed.machine import Needed

from attnaudit.models.encoders.bidirectional import Bidirectional
from attnaudit.models.encoders.cnn import CNN

_FLOAT = 4  # bytes


def leave_one_out(model: Any, lengths: Sequence[int], classes: int = 2) -> Needed:
    """Reading once, the states that a deletion changes, their scores and readouts, and new sums.

    BiLSTM: of the T - 1 other tokens one direction each, whose half of the scorer and of the output
    is the only one that changes. CNN: the products of taps and items once, then sums for the
    neighbours in reach of each kernel. Without context nothing changes: the logits are the sum of
    all items less one.
    """
    inner, hidden = model.scorer.item.weight.shape
    total = Needed()
    for words in lengths:
        tokens = words + 2
        total += Needed(2 * tokens * hidden * inner, tokens * inner)  # scores of the whole text
        total += Needed(2 * tokens * hidden * classes)  # readouts
        if isinstance(model.encoder, Bidirectional):
            size, states = hidden // 2, words * (tokens - 1)
            total += _cells(model, tokens) + Needed(functions=5 * tokens * hidden)
            total += Needed(states * 8 * size * size, states * 5 * size)
            total += Needed(states * 2 * size * (inner + classes), states * inner)
            total += Needed(2 * words * tokens * classes)
        elif isinstance(model.encoder, CNN):
            embedding, changed = model.embedding.embedding_dim, 0
            for module in model.encoder.convolutions:
                size, _, width = module.weight.shape
                changed = _in_reach(words, width // 2)
                total += Needed(2 * tokens * embedding * width * size)
                total += Needed(2 * changed * size * (inner + classes))
                total += Needed(bytes=changed * width * size * _FLOAT)
            total += Needed(2 * words * tokens * classes, changed * inner)  # of the widest kernel
        else:
            total += Needed(2 * tokens * model.embedding.embedding_dim * hidden)
            total += Needed(2 * words * classes)
    return total


def _in_reach(words: int, reach: int) -> int:
    """Tokens within so many places of a deleted word, over all words; a mark at both ends."""
    return sum(min(reach, place) + min(reach, words + 1 - place) for place in range(1, words + 1))


def gradients(
    model: Any,
    lengths: Sequence[int],
    *,
    backward: int = 2,
    forward: int = 1,
    through_attention: int = 1,
) -> Needed:
    """One pass forwards, and `backward` backwards without gradients of the weights.

    Some of these, `through_attention`, go through the scorer as well; others hold attention fixed.
    """
    inner, hidden = model.scorer.item.weight.shape
    total = Needed()
    for words in lengths:
        tokens = words + 2
        total += _cells(model, tokens) * (forward + backward)
        total += Needed(2 * tokens * hidden * inner) * (forward + through_attention)
        total += Needed(functions=forward * tokens * (5 * hidden + inner))
    return total


def integrated_gradients(model: Any, lengths: Sequence[int], steps: int = 50) -> Needed:
    """A pass in both directions at every step."""
    return gradients(model, lengths, backward=1) * steps


def battery(model: Any, lengths: Sequence[int], classes: int) -> Needed:
    """Leave-one-out, whose first reading serves all, and a pass back; then what tests need."""
    back = gradients(model, lengths, backward=1, forward=0, through_attention=0)
    tests = permutation(lengths, classes) + ranks(lengths, 2) + furthest(lengths)
    return leave_one_out(model, lengths, classes) + back + tests


def transformer(config: Any, readings: Sequence[int]) -> Needed:
    """Readings of so many tokens each: the four projections, two sums over tokens, feed-forward.

    Of the last layer only keys and values are needed of every token.
    """
    size, inner, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    operations = 0
    for tokens in readings:
        layer = 2 * tokens * (4 * size * size + 2 * size * inner) + 4 * tokens * tokens * size
        operations += (layers - 1) * layer + 2 * tokens * 2 * size * size
    return Needed(operations=operations)


def training(model: Any, lengths: Sequence[int], batches: int) -> Needed:
    """Forwards, backwards twice (inputs and weights), and Adam through all rows of the embedding.

    Adam with AMSGrad reads and writes the weight and three moments.
    """
    passes = gradients(model, lengths, backward=2, through_attention=2)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return passes + Needed(bytes=batches * parameters * 8 * _FLOAT)


def permutation(lengths: Sequence[int], classes: int, draws: int = 100) -> Needed:
    """A random number per weight, and the products of weights with readouts.

    Texts of up to five words are decoded in every order, without random numbers.
    """
    drawn = draws * sum(words for words in lengths if words > 5)
    listed = sum(words * math.factorial(words) for words in lengths if words <= 5)
    return Needed(2 * (drawn + listed) * classes, draws=drawn)


def ranks(lengths: Sequence[int], comparisons: int = 1) -> Needed:
    """Two lists of scores per text, each sorted: the second in the order of the first."""
    return Needed(sorts=2 * comparisons * sum(lengths))


def removal(lengths: Sequence[int], classes: int, rankings: int) -> Needed:
    """Each ranking sorted, and readouts and weights read once in its order."""
    words = rankings * sum(lengths)
    return Needed(bytes=words * (classes + 1) * _FLOAT, sorts=words)


def furthest(lengths: Sequence[int]) -> Needed:
    """Readouts sorted, and the JSD of one attention: three terms x log x per item.

    That is less than a proof that no other is further can do with, above all with many classes.
    """
    items = sum(words + 2 for words in lengths)
    return Needed(functions=3 * items, sorts=items)


def sparsemax(rows: int, scores: int) -> Needed:
    """Scores read and weights written."""
    return Needed(bytes=rows * scores * 2 * _FLOAT)


def _cells(model: Any, tokens: int) -> Needed:
    """An LSTM in both directions: products with every input, and with every state but the first."""
    size, embedding = model.encoder.size // 2, model.embedding.embedding_dim
    return Needed(2 * 8 * size * (tokens * embedding + (tokens - 1) * size))
