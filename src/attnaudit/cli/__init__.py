"""The command line: one file per family of commands, each a thin call of a library function.

torch is imported only by commands that compute, so that `--help` answers at once.
"""

from attnaudit.cli.main import app, main

__all__ = ["app", "main"]
