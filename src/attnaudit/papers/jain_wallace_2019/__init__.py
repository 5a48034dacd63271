"""Jain & Wallace 2019, "Attention is not Explanation".

Two versions of table 2 were published: that of the paper, with models selected on the test set,
and a later one with models selected on dev. The distance between them is the noise of retraining;
any other difference is judged by it.
"""

from __future__ import annotations

from attnaudit.papers.jain_wallace_2019.items import ITEMS

__all__ = ["ITEMS"]
