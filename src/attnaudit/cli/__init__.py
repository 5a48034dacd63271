"""The command line: one file a family of commands. torch is imported only by commands that compute, so that `--help` answers at once."""

from attnaudit.cli.main import app, main

__all__ = ["app", "main"]
