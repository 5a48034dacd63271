"""Predictions within epsilon of the original one, as changes of the log-odds.

The changes x (K-1 log-odds against the predicted class) that keep TVD <= epsilon form a curved set.
A linear function g·x has a closed-form maximum over it: with g_c summing to 0 over the classes,

    Σ g_c ln p'_c / p_c

is largest if mass epsilon leaves one class with g < 0 (the gain is convex in what leaves) and is
spread over the classes with g > 0 by water-filling (the gain is concave in what arrives).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from attnaudit.core import masking


@dataclass(frozen=True)
class Region:
    """The most probable classes, the predicted one first, and the tolerance."""

    log_p: Tensor  # (B,K)
    epsilon: Tensor  # (B,)

    @property
    def p(self) -> Tensor:
        """Probabilities (B,K)."""
        return self.log_p.exp()

    def rows(self, index: Tensor) -> Region:
        """The examples at index."""
        return Region(self.log_p[index], self.epsilon[index])

    def support(self, g: Tensor) -> Tensor:
        """The largest g·x over the region: g (B,K-1) -> (B,), infinite if there is none."""
        weights = _all_classes(g)
        up, _ = self._risen(weights)
        gain = torch.where(weights > 0, weights * (up - self.log_p), 0.0).sum(-1)
        return gain + self._fall(weights).amax(-1)

    def furthest_point(self, g: Tensor) -> Tensor:
        """A point x (B,K-1) of the region where g·x is largest; g with a finite maximum."""
        weights = _all_classes(g)
        up, moved = self._risen(weights)
        change = torch.where(weights > 0, up - self.log_p, 0.0)
        source = self._fall(weights).argmax(-1, keepdim=True)
        left = self._log_left()
        fall = masking.fill(left, moved[:, None] & torch.isfinite(left)).gather(1, source)
        change = change.scatter_add(1, source, fall)
        return change[:, 1:] - change[:, :1]

    def allowed(self, g: Tensor) -> Tensor:
        """The nearest g (B,K-1) with a finite maximum.

        A class of probability epsilon or less may vanish, so its weight cannot be negative.
        """
        vanishes = self.p <= self.epsilon[:, None]
        g = torch.where(vanishes[:, 1:], g.clamp_min(0), g)
        return masking.fill(
            g, (~vanishes[:, :1] & torch.isfinite(g).all(-1, keepdim=True)).expand_as(g)
        )

    def corners(self) -> tuple[Tensor, Tensor]:
        """Points (B,V,K-1) after moving mass between two classes, and rays (B,K,K-1) of vanishing.

        Rays of classes that cannot vanish are 0.
        """
        p, classes = self.p, self.log_p.shape[1]
        into, out = (~torch.eye(classes, dtype=torch.bool, device=p.device)).nonzero().unbind(1)
        # A class that may vanish gives half of what it has; its ray does the rest.
        mass = torch.where(p[:, out] > self.epsilon[:, None], self.epsilon[:, None], p[:, out] / 2)
        change = p.new_zeros(len(p), len(out), classes)
        arrives = (p[:, into] + mass).log() - self.log_p[:, into]
        leaves = torch.where(mass > 0, torch.log1p(-mass / p[:, out].clamp_min(1e-300)), 0.0)
        change.scatter_(2, into.expand(len(p), -1)[..., None], arrives[..., None])
        change.scatter_(2, out.expand(len(p), -1)[..., None], leaves[..., None])
        rays = -torch.eye(classes, dtype=p.dtype, device=p.device)
        rays = (rays[:, 1:] - rays[:, :1]) * (p <= self.epsilon[:, None])[..., None]
        points = change[..., 1:] - change[..., :1]
        return torch.cat([torch.zeros_like(points[:, :1]), points], 1), rays

    def _log_left(self) -> Tensor:
        """ln of the share (B,K) left of a class after it has lost epsilon; -inf if it vanishes."""
        share = (self.epsilon[:, None] / self.p.clamp_min(1e-300)).clamp_max(1.0)
        return torch.log1p(-share)

    def _fall(self, weights: Tensor) -> Tensor:
        """What each class (B,K) gains by losing mass epsilon."""
        return torch.where(weights < 0, weights * self._log_left(), 0.0)

    def _risen(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """ln p' (B,K) of the classes with positive weight, and whether anything moves (B,)."""
        gain = weights.clamp_min(0)
        order = (gain.log() - self.log_p).argsort(dim=-1, descending=True)
        sorted_gain, sorted_p = gain.gather(1, order), self.p.gather(1, order)
        level = (self.epsilon[:, None] + sorted_p.cumsum(-1)) / sorted_gain.cumsum(-1)
        # The classes filled come first in this order; level is p' per unit of gain.
        filled = (sorted_gain * level > sorted_p).cumprod(-1).sum(-1)
        chosen = level.gather(1, (filled - 1).clamp_min(0)[:, None])
        raised = torch.maximum((gain * chosen).log(), self.log_p)
        return torch.where((filled > 0)[:, None] & (gain > 0), raised, self.log_p), filled > 0


def _all_classes(g: Tensor) -> Tensor:
    """The weights (B,K) of all classes: those of the rivals, and minus their sum in front."""
    return torch.cat([-g.sum(-1, keepdim=True), g], -1)
