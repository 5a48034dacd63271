"""The furthest attention by gradient search, also as in Jain & Wallace (2019)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking, randomness
from attnaudit.core.adam import Adam, Group
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under
from attnaudit.core.onednn import faster_products


@dataclass(frozen=True)
class Settings:
    """How to search. Restarts are optimised together and pushed apart by `diversity`."""

    restarts: int
    steps: int
    learning_rate: float
    penalty: float
    diversity: str  # "mean": minus the mean pairwise JSD; "paper": eq. 2; "none"
    keep_best: bool  # the best feasible point seen, rather than the last one
    margin: float | None = None  # where the penalty starts; None: at epsilon
    distance: str = "tvd"  # or "l1": of the probability vector, with more than two classes


SETTINGS = {
    # As released: K = 5, 500 steps of Adam with amsgrad at 0.01, the final iterate. The penalty
    # starts at 0.01 whatever is accepted later.
    "code": Settings(5, 500, 0.01, 500.0, "mean", keep_best=False, margin=0.01, distance="l1"),
    # As printed (eq. 1-2). k and the learning rate are not given: those of the code are used. The
    # penalty, printed with a plus in a maximised objective, is subtracted and divided by k.
    "paper": Settings(5, 500, 0.01, 500.0, "paper", keep_best=False),
    # Our own: the best feasible point seen, a larger step, independent restarts.
    "corrected": Settings(5, 300, 0.05, 500.0, "none", keep_best=True),
}


def search(
    model: AttentionModel, record: Record, seed: int, *, epsilon: float, settings: Settings
) -> tuple[Tensor, Tensor]:
    """The furthest feasible attention (B,R,N) and its JSD (B,), the mean over rows.

    If nothing is found: the original attention, and 0.
    """
    original = record.alpha.detach().double()
    probs = record.probs.detach().double()
    mask = record.mask[:, None].expand(-1, settings.restarts, -1, -1)
    scores = _start(record, seed, settings.restarts)
    best, best_jsd = (
        original.clone(),
        torch.zeros(len(original), dtype=torch.float64, device=original.device),
    )
    group: Group = {"params": [scores], "lr": settings.learning_rate, "weight_decay": 0.0}
    optimiser = Adam([group], amsgrad=True)
    # As released: the L1 distance of one sigmoid output is the TVD of two classes; with more
    # classes it is twice the TVD.
    scale = 2.0 if settings.distance == "l1" and probs.shape[1] > 2 else 1.0
    margin = epsilon if settings.margin is None else settings.margin
    for step in range(settings.steps + 1):
        with differentiating(), faster_products():
            alpha = masking.softmax(scores, mask)
            logits = logits_under(model, record, alpha.to(record.alpha.dtype))
            change = statistics.tvd(
                masking.probabilities(logits, record.batch.classes), probs[:, None]
            )
            jsd = _over_rows(statistics.jsd(alpha, original[:, None]), record.mask)
            if settings.keep_best or step == settings.steps:
                best, best_jsd = _take_better(
                    best, best_jsd, alpha.detach(), jsd.detach(), change.detach() <= epsilon
                )
            if step == settings.steps:
                break
            excess = (scale * change - margin).clamp_min(0)
            objective = loss(alpha, jsd, excess, settings, record.mask)
            optimiser.zero_grad()
            (scores.grad,) = torch.autograd.grad(objective, [scores])
            optimiser.step()
    no_items = ~record.mask.any(-1).any(-1)
    return best, best_jsd.masked_fill(no_items, torch.nan)


def loss(alpha: Tensor, jsd: Tensor, excess: Tensor, settings: Settings, mask: Tensor) -> Tensor:
    """The objective to minimise, of alpha (B,K,R,N), jsd (B,K) and excess over the margin (B,K)."""
    k = settings.restarts
    if settings.diversity == "paper":
        spread = _pairwise(alpha, mask).sum(-1) / (k * (k - 1))
        return (settings.penalty / k * excess.sum(1) - jsd.sum(1) - spread).sum()
    total = (settings.penalty * excess - jsd).sum()
    if settings.diversity == "mean":
        # As released: the mean over all k·k pairs, including those of a restart with itself.
        total = total - 2 * _pairwise(alpha, mask).sum(-1).sum() / k**2
    return total


def _pairwise(alpha: Tensor, mask: Tensor) -> Tensor:
    """JSD of every pair of restarts (B,K(K-1)/2)."""
    first, second = torch.triu_indices(alpha.shape[1], alpha.shape[1], offset=1)
    return _over_rows(statistics.jsd(alpha[:, first], alpha[:, second]), mask)


def _over_rows(jsd: Tensor, mask: Tensor) -> Tensor:
    """Mean (B,K) of jsd (B,K,R) over the rows that have items; 0 if none has."""
    rows = mask.any(-1)[:, None].expand_as(jsd)
    return masking.total(jsd, rows) / rows.sum(-1).clamp_min(1)


def _take_better(
    best: Tensor, best_jsd: Tensor, alpha: Tensor, jsd: Tensor, feasible: Tensor
) -> tuple[Tensor, Tensor]:
    """The better of the best attention so far and the furthest feasible one of the restarts."""
    furthest, restart = masking.fill(jsd, feasible, -1.0).max(1)
    candidate = alpha[torch.arange(len(alpha)), restart]
    better = furthest > best_jsd
    best = torch.where(better[:, None, None], candidate, best)
    return best, torch.where(better, furthest, best_jsd)


def _start(record: Record, seed: int, restarts: int) -> Tensor:
    """Initial scores (B,K,R,N) as released, ln(1/length) + 3·N(0,1), drawn per example id."""
    batch, rows, items = record.alpha.shape
    draws = [
        randomness.normal(
            randomness.keys(seed, f"furthest/{k}/{r}", record.batch.example_id), items
        )
        for k in range(restarts)
        for r in range(rows)
    ]
    noise = torch.stack(draws, 1).view(batch, restarts, rows, items).to(record.alpha.device)
    level = -record.mask.sum(-1).clamp_min(1).double().log()
    return (level[:, None, :, None] + 3 * noise).requires_grad_()
