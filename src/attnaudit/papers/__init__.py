"""One module per paper: its published numbers next to ours, and the tables made again.

Nothing is tuned towards the published numbers; differences are shown as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnaudit.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from attnaudit.papers.lesson import make_lesson
    from attnaudit.papers.reproductions import reproduce

__all__ = ["make_lesson", "reproduce"]

# Imported on first use: both need torch.
__getattr__ = lazy_names(__name__, {"make_lesson": "lesson", "reproduce": "reproductions"})
