"""One module or folder per paper: its tables, figures and claims, next to the published numbers.

Nothing is tuned towards the published numbers; differences are shown as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnaudit.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from attnaudit.papers.lesson import make_lesson
    from attnaudit.papers.listing import item_list
    from attnaudit.papers.reproductions import reproduce

__all__ = ["item_list", "make_lesson", "reproduce"]

# Imported on first use: they need torch.
__getattr__ = lazy_names(
    __name__, {"make_lesson": "lesson", "reproduce": "reproductions", "item_list": "listing"}
)
