"""Which word of a text is each token of? Words are what blanks separate."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_WORDS = 400  # of all sources of a question, when words are items


def words_of_tokens(text: str, offsets: Sequence[tuple[int, int]]) -> list[int]:
    """The number of each token's word, from 0; -1 for blanks after the last word.

    A token is of the word that its first character is in, blanks aside; a token of blanks alone is
    of the word after it. Words without a token, if there are any, keep their number.

    Parameters
    ----------
    text : that was tokenised.
    offsets : where each token begins and ends in it, in the order of the text.

    Examples
    --------
    >>> words_of_tokens("Mia lives.\\n", [(0, 1), (1, 3), (3, 9), (9, 10), (10, 11)])
    [0, 0, 1, 1, -1]
    """
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    found: list[int] = []
    for start, end in offsets:
        blanks = len(text[start:end]) - len(text[start:end].lstrip())
        # Of blanks alone: the next word that ends after them.
        first = start + blanks
        found.append(next((word for word, end in enumerate(ends) if end > first), -1))
    return found
