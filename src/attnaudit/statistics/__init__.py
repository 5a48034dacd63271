"""Every statistic of the audits: rank correlations, distances between distributions, entropy, bootstrap.

Batched and masked; computed and returned in float64, whatever float comes in.
"""

from attnaudit.statistics.bootstrap import Interval, bootstrap
from attnaudit.statistics.distributions import entropy, jsd, tvd
from attnaudit.statistics.rank_correlation import average_ranks, kendall, spearman, weighted_kendall
from attnaudit.statistics.top_k import overlap_at_k, top_k_kendall

__all__ = [
    "Interval",
    "average_ranks",
    "bootstrap",
    "entropy",
    "jsd",
    "kendall",
    "overlap_at_k",
    "spearman",
    "top_k_kendall",
    "tvd",
    "weighted_kendall",
]
