"""Exact answers without a forward pass, for outputs that are linear in the attention.

If ``logits = alpha @ readout``, the furthest equivalent attention, the effect of removing items
and the smallest removal that flips the decision can be computed from alpha and readout alone.

Everywhere: alpha (B,N), readout (B,N,C), mask (B,N) True = real, and optionally classes (B,C)
True = candidate answer. Computed in float64 and in chunks; returned in the dtype of alpha.
"""

from attnaudit.exact.furthest import Furthest, furthest
from attnaudit.exact.removal import SmallestFlip, removal_curve, smallest_flip

__all__ = ["Furthest", "SmallestFlip", "furthest", "removal_curve", "smallest_flip"]
