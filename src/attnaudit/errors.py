"""The one exception for what a user can put right; the command line prints it without a traceback."""

from __future__ import annotations


class InputError(ValueError):
    """What is wrong, what was expected, what came, and what to do."""
