"""Wen et al. 2022, "Revisiting Attention Weights as Explanations from an Information Theoretic …".

Their code, like the released code of Wiegreffe & Pinter, halves the two-class TVD, so their lam is
half of ours. The paper does not say whether the TVD of table 3 is halved too.
"""

from __future__ import annotations

from attnaudit.papers.wen_2022.items import ITEMS

__all__ = ["ITEMS"]
