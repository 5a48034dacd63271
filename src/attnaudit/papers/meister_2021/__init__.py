"""Meister et al. 2021, "Is Sparse Attention more Interpretable?"."""

from __future__ import annotations

from attnaudit.papers.meister_2021.items import ITEMS

__all__ = ["ITEMS"]
