"""Exact answers, where the output is linear in the attended items: `logits = alpha @ readout`.

Everything here is on alpha (B,N), readout (B,N,C), mask (B,N) True = real, and optional classes (B,C) True = candidate answer; computed
in float64, returned in the dtype of alpha, batched over examples and chunked so that memory stays bounded.
"""

from attnaudit.exact.furthest import Furthest, furthest
from attnaudit.exact.removal import SmallestFlip, removal_curve, smallest_flip

__all__ = ["Furthest", "SmallestFlip", "furthest", "removal_curve", "smallest_flip"]
