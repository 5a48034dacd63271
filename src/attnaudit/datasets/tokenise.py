"""Texts to tokens. Every count depends on the tokeniser, so its name goes with the tokens."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterable, Sequence

from attnaudit.errors import InputError

Tokens = tuple[str, ...]

NUMBER = "qqq"  # stands for every word with a digit in it (Jain & Wallace 2019, appendix A)
_PIECE = re.compile(r"\w+(?:[’'-]\w+)*|[^\w\s]")


def tokenise(texts: Iterable[str], tokeniser: str = "auto") -> tuple[list[Tokens], str]:
    """The tokens of each text and the tokeniser's full name. "auto" is spaCy where it is installed, else "regex"."""
    if tokeniser == "auto":
        tokeniser = "spacy" if importlib.util.find_spec("spacy") else "regex"
    if tokeniser not in TOKENISERS:
        raise InputError(f"There is no tokeniser {tokeniser!r}. Choose from: auto, {', '.join(TOKENISERS)}.")
    return TOKENISERS[tokeniser](texts)


def clean(tokens: Sequence[str], *, replace_numbers: bool = True) -> Tokens:
    """Lower case, and words with a digit in them made one and the same word."""
    lower = (token.lower() for token in tokens)
    if not replace_numbers:
        return tuple(lower)
    return tuple(NUMBER if any(map(str.isdigit, token)) else token for token in lower)


def _spacy(texts: Iterable[str]) -> tuple[list[Tokens], str]:
    """spaCy's English rules without a trained model."""
    try:
        import spacy
    except ImportError as error:
        raise InputError(
            "The tokeniser 'spacy' needs spaCy, which is not installed. "
            "Run pip install 'attnaudit[text]', or choose tokeniser=regex."
        ) from error
    split = spacy.blank("en").tokenizer
    # Blanks in a row come out as tokens of their own; no model should attend to them.
    found = [tuple(token.text for token in split(text) if not token.is_space) for text in texts]
    return found, f"spacy-{'.'.join(spacy.__version__.split('.')[:2])} blank en"


def _regex(texts: Iterable[str]) -> tuple[list[Tokens], str]:
    """Words with inner apostrophes or hyphens, and every other mark by itself."""
    return [tuple(_PIECE.findall(text)) for text in texts], "regex"


def _blanks(texts: Iterable[str]) -> tuple[list[Tokens], str]:
    return [tuple(text.split()) for text in texts], "blanks"


TOKENISERS: dict[str, Callable[[Iterable[str]], tuple[list[Tokens], str]]] = {
    "spacy": _spacy,
    "regex": _regex,
    "blanks": _blanks,
}
