"""One epoch of training as released: batches from Python lists, a packed network, plain Adam."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from benchmarks.reference.plain_model import PlainModel
from torch.nn.functional import cross_entropy

Group = Sequence[tuple[list[int], int]]  # token ids and label of each text


def epoch(model: PlainModel, groups: Sequence[Group]) -> list[float]:
    """Train on the groups in their order; the loss of each."""
    attention = set(model.scorer.parameters())
    rest = [parameter for parameter in model.parameters() if parameter not in attention]
    optimiser = torch.optim.Adam(
        [
            {"params": rest, "weight_decay": 1e-5},
            {"params": list(attention), "weight_decay": 0.0},
        ],
        lr=1e-3,
        amsgrad=True,
    )
    model.train()
    device = next(model.parameters()).device
    losses = []
    for group in groups:
        width = max(len(ids) for ids, _ in group)
        tokens = torch.tensor([ids + [0] * (width - len(ids)) for ids, _ in group], device=device)
        labels = torch.tensor([label for _, label in group], device=device)
        loss = cross_entropy(model.logits(tokens, tokens > 0), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses
