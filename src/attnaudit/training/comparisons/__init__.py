"""How models and finished runs differ, with intervals."""

from attnaudit.training.comparisons.divergence import divergence
from attnaudit.training.comparisons.performance import compare_performance

__all__ = ["compare_performance", "divergence"]
