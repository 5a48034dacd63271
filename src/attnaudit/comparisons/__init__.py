"""Comparisons: two models on the same examples -> how they differ, with intervals."""

from attnaudit.comparisons.divergence import divergence
from attnaudit.comparisons.performance import compare_performance

__all__ = ["compare_performance", "divergence"]
