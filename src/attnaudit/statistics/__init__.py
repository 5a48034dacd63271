"""The statistics of the audits, batched and masked.

Rank correlations, agreement of top-k lists, distances between distributions, entropy and bootstrap
intervals are exported here; retrieval scores, tests over several runs and classification scores
are in their modules. Everything is computed and returned in float64.
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
