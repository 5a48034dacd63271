"""`python -m attnaudit`, the same as `attnaudit`."""

from attnaudit.cli import main

main()
