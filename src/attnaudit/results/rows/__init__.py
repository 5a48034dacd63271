"""Attention rows of a site, one per layer and head, or per sentence.

`means` averages them and says which row stands for an example; `names` names them.
"""

from attnaudit.results.rows.means import (
    EVERY_ROW,
    METRIC_KEY,
    has_several_rows,
    mean_by_example,
    mean_over_rows,
    one_line_per_metric,
)
from attnaudit.results.rows.names import are_heads, row_name, row_names

__all__ = [
    "EVERY_ROW",
    "METRIC_KEY",
    "are_heads",
    "has_several_rows",
    "mean_by_example",
    "mean_over_rows",
    "one_line_per_metric",
    "row_name",
    "row_names",
]
