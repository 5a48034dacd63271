"""Messages for the user about things that did not fail: what was left out, moved or removed.

The command line prints them to stderr, a notebook shows them.
"""

from __future__ import annotations

import logging

_LOG = logging.getLogger("attnaudit")


def notice(text: str) -> None:
    """Log a message for the user."""
    _LOG.warning("%s", text)


def detail(text: str) -> None:
    """Log what only those want to know who ask for it with --verbose."""
    _LOG.info("%s", text)
