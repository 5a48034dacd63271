"""Shuffled attention, the adversarial search and removal by rank, as released."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from benchmarks.reference.plain_model import PlainModel, Read
from scipy import stats
from torch import Tensor

from attnaudit.core.special_tokens import END

# (weights of the words of one text, text, draw) -> the same weights in another order
Shuffle = Callable[[np.ndarray, int, int], np.ndarray]


@torch.no_grad()
def permutation(model: PlainModel, read: Read, *, shuffle: Shuffle, draws: int = 100) -> Tensor:
    """Median TVD (B,) over shuffles of the attention, one decoder pass per draw."""
    whole = model.decode(read.alpha, read.hidden)
    lengths = read.mask.sum(-1).tolist()
    changes = []
    for draw in range(draws):
        shuffled = read.alpha.cpu().numpy().copy()
        for index, length in enumerate(lengths):  # the words are between the two marks
            words = slice(1, length - 1)
            shuffled[index, words] = shuffle(shuffled[index, words], index, draw)
        probs = model.decode(torch.from_numpy(shuffled).to(read.hidden), read.hidden)
        changes.append((probs - whole).abs().sum(-1) / 2)
    return torch.from_numpy(np.median(torch.stack(changes).cpu().numpy(), axis=0))


def kendall(x: Tensor, y: Tensor, lengths: list[int]) -> Tensor:
    """tau and p (B,2) of the first `length` scores of each text: SciPy, one text at a time."""
    pairs = zip(x.cpu().numpy(), y.cpu().numpy(), lengths, strict=True)
    return torch.tensor(
        [tuple(stats.kendalltau(one[:length], other[:length])) for one, other, length in pairs]
    )


def furthest(
    model: PlainModel,
    read: Read,
    *,
    epsilon: float = 0.01,
    steps: int = 500,
    seed: int = 0,
) -> Tensor:
    """ε-max JSD (B,): five starts, 500 steps of Adam, best of the last iterates or 0."""
    tokens, mask, hidden, alpha = read
    alpha = alpha[:, None]
    with torch.no_grad():
        whole = model.output(alpha @ hidden, None).softmax(-1)
    words = (mask & (tokens > END))[:, None]
    draw = torch.Generator().manual_seed(seed)
    noise = torch.randn(len(tokens), 5, tokens.shape[1], generator=draw).to(hidden)
    scores = (3 * noise - words.sum(-1, keepdim=True).to(hidden).log()).requires_grad_()
    optimiser = torch.optim.Adam([scores], lr=0.01, amsgrad=True)
    for step in range(steps + 1):
        other = scores.masked_fill(~words, -torch.inf).softmax(-1)
        probs = model.output(other @ hidden, None).softmax(-1)
        # The L1 distance of one sigmoid output is the TVD of two classes.
        change = (probs - whole).abs().sum(-1) / (2 if probs.shape[-1] == 2 else 1)
        distance = jsd(other, alpha)
        if step == steps:
            break
        spread = jsd(other[:, :, None], other[:, None]).mean((1, 2))
        loss = (500 * (change - 0.01).clamp_min(0) - distance).sum() - spread.sum()
        optimiser.zero_grad()
        (scores.grad,) = torch.autograd.grad(loss, [scores])
        optimiser.step()
    tvd = (probs - whole).abs().sum(-1) / 2
    return distance.detach().where(tvd <= epsilon, 0.0).amax(1)


def jsd(p: Tensor, q: Tensor) -> Tensor:
    """Jensen–Shannon divergence in nats over the last dimension."""
    middle = (p + q) / 2
    return (_relative_entropy(p, middle) + _relative_entropy(q, middle)) / 2


def _relative_entropy(p: Tensor, q: Tensor) -> Tensor:
    return (torch.special.xlogy(p, p) - torch.special.xlogy(p, q)).sum(-1)


@torch.no_grad()
def removed_until_flip(model: PlainModel, read: Read, score: Tensor) -> Tensor:
    """Share of the words removed, by decreasing score (B,T), until the decision flips (B,).

    One decoder pass per text and prefix; 1 if it never flips.
    """
    _, mask, hidden, alpha = read
    decision = model.decode(alpha, hidden).argmax(-1)
    shares = []
    for index, length in enumerate(mask.sum(-1).tolist()):
        words = length - 2
        order = 1 + np.argsort(-score[index, 1 : 1 + words].cpu().numpy(), kind="stable")
        share = 1.0
        for count in range(1, words):
            left = alpha[index].clone()
            left[order[:count]] = 0
            if left.sum() == 0:
                break
            probs = model.decode((left / left.sum())[None], hidden[index : index + 1])
            if probs.argmax(-1) != decision[index]:
                share = count / words
                break
        shares.append(share)
    return torch.tensor(shares)
