"""The special tokens every vocabulary begins with, so that a model knows them by id alone.

Padding, start and end are never attended; the unknown token is a word like any other. Hence
``tokens > END`` selects the words.
"""

from __future__ import annotations

PAD, START, END, UNKNOWN = range(4)
SPECIAL_TOKENS = ("<pad>", "<start>", "<end>", "<unk>")  # by id
