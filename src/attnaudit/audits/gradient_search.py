"""The furthest attention by search, for outputs that are not linear, and as Jain & Wallace released and printed it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit import statistics
from attnaudit.core import masking, randomness
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.decoding import logits_under


@dataclass(frozen=True)
class Settings:
    """restarts are searched together, as the papers' adversaries, and pushed apart by `diversity`."""

    restarts: int
    steps: int
    learning_rate: float
    penalty: float
    diversity: str  # "mean": minus the mean pairwise JSD; "paper": eq. 2; "none"
    keep_best: bool  # the best feasible point seen, rather than the last one
    margin: float | None = None  # where the penalty starts; None: at epsilon
    distance: str = (
        "tvd"  # or "l1": of the whole probability vector where there are more than two classes
    )


SETTINGS = {
    # Released: K = 5, 500 steps of Adam with amsgrad at 0.01, the final iterate; the penalty starts at 0.01 whatever is accepted later.
    "code": Settings(5, 500, 0.01, 500.0, "mean", keep_best=False, margin=0.01, distance="l1"),
    # Printed (eq. 1-2): k and the learning rate are not given, the released ones are used; the penalty, printed with a plus in
    # something maximised, is subtracted and divided by k.
    "paper": Settings(5, 500, 0.01, 500.0, "paper", keep_best=False),
    # Ours: the best feasible point seen, a larger step, restarts left alone.
    "corrected": Settings(5, 300, 0.05, 500.0, "none", keep_best=True),
}


def search(
    model: AttentionModel, record: Record, seed: int, *, epsilon: float, settings: Settings
) -> tuple[Tensor, Tensor]:
    """The furthest feasible attention found (B,R,N) and its JSD, mean over rows (B,). Nothing found: the original, and 0."""
    original = record.alpha.detach().double()
    probs = record.probs.detach().double()
    mask = record.mask[:, None].expand(-1, settings.restarts, -1, -1)
    scores = _start(record, seed, settings.restarts)
    best, best_jsd = (
        original.clone(),
        torch.zeros(len(original), dtype=torch.float64, device=original.device),
    )
    optimiser = torch.optim.Adam([scores], lr=settings.learning_rate, amsgrad=True)
    # Released: the L1 distance of one sigmoid output, which is the two-class TVD; for more classes twice the TVD.
    scale = 2.0 if settings.distance == "l1" and probs.shape[1] > 2 else 1.0
    margin = epsilon if settings.margin is None else settings.margin
    for step in range(settings.steps + 1):
        with differentiating():
            alpha = masking.softmax(scores, mask)
            logits = logits_under(model, record, alpha.to(record.alpha.dtype))
            moved = statistics.tvd(
                masking.probabilities(logits, record.batch.classes), probs[:, None]
            )
            jsd = _over_rows(statistics.jsd(alpha, original[:, None]), record.mask)
            if settings.keep_best or step == settings.steps:
                best, best_jsd = _take_better(
                    best, best_jsd, alpha.detach(), jsd.detach(), moved.detach() <= epsilon
                )
            if step == settings.steps:
                break
            excess = (scale * moved - margin).clamp_min(0)
            loss = _loss(alpha, jsd, excess, settings, record.mask)
            optimiser.zero_grad()
            (scores.grad,) = torch.autograd.grad(loss, [scores])
            optimiser.step()
    nothing = ~record.mask.any(-1).any(-1)  # no item to attend to, no answer
    return best, best_jsd.masked_fill(nothing, torch.nan)


def _loss(alpha: Tensor, jsd: Tensor, excess: Tensor, settings: Settings, mask: Tensor) -> Tensor:
    k = settings.restarts
    if settings.diversity == "paper":
        spread = _pairwise(alpha, mask).sum(-1) / (k * (k - 1))
        return (settings.penalty / k * excess.sum(1) - jsd.sum(1) - spread).sum()
    loss = (settings.penalty * excess - jsd).sum()
    if settings.diversity == "mean":
        # Released: the mean over all k·k pairs, those of a restart with itself among them.
        loss = loss - 2 * _pairwise(alpha, mask).sum(-1).sum() / k**2
    return loss


def _pairwise(alpha: Tensor, mask: Tensor) -> Tensor:
    """JSD of every pair of restarts: (B,k(k-1)/2)."""
    first, second = torch.triu_indices(alpha.shape[1], alpha.shape[1], offset=1)
    return _over_rows(statistics.jsd(alpha[:, first], alpha[:, second]), mask)


def _over_rows(jsd: Tensor, mask: Tensor) -> Tensor:
    """Mean over the rows that have items: (B,K,R) -> (B,K); 0 where none has."""
    rows = mask.any(-1)[:, None].expand_as(jsd)
    return masking.total(jsd, rows) / rows.sum(-1).clamp_min(1)


def _take_better(
    best: Tensor, best_jsd: Tensor, alpha: Tensor, jsd: Tensor, feasible: Tensor
) -> tuple[Tensor, Tensor]:
    far, which = masking.fill(jsd, feasible, -1.0).max(1)
    picked = alpha[torch.arange(len(alpha)), which]
    better = far > best_jsd
    return torch.where(better[:, None, None], picked, best), torch.where(better, far, best_jsd)


def _start(record: Record, seed: int, restarts: int) -> Tensor:
    """ln(1/length) + 3·N(0,1), the released start: (B,K,R,N), by example and place, whatever the batch."""
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
