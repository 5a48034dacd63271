"""Texts to tokens. Every count depends on the tokeniser, so its name is stored with the tokens."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from attnaudit.core.errors import InputError

Tokens = tuple[str, ...]
Span = tuple[int, int]  # first character and the one after the last

NUMBER = "qqq"  # replaces every word with a digit in it (Jain & Wallace 2019, appendix A)
# Words with inner apostrophes or hyphens; any other mark by itself.
_PIECE = re.compile(r"\w+(?:[’'-]\w+)*|[^\w\s]")
_WORD = re.compile(r"\S+")
# The rule of Keras' text_to_word_sequence: these characters separate words.
_KERAS = re.compile(r"""[^!"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~\t\n ]+""")


@dataclass(frozen=True)
class Tokeniser:
    """A way to split texts into tokens."""

    # With the version of its library: "spacy-3.8 blank en". Cached corpora are found by it, so a
    # change of a pattern above must raise `cache.FORMAT`.
    name: str
    split: Callable[[str], list[str]]
    spans: Callable[[str], list[Span]]  # the same tokens as spans of the text


def find_tokeniser(choice: str = "auto") -> Tokeniser:
    """The tokeniser of a name; "auto" is spaCy if it is installed, else "regex"."""
    return TOKENISERS[_resolved(choice)]()


def tokeniser_name(choice: str = "auto") -> str:
    """The full name of the tokeniser that `find_tokeniser` returns, without loading it."""
    name = _resolved(choice)
    if name != "spacy" or not importlib.util.find_spec("spacy"):
        return name
    return f"spacy-{'.'.join(version('spacy').split('.')[:2])} blank en"


def _resolved(choice: str) -> str:
    if choice == "auto":
        return "spacy" if importlib.util.find_spec("spacy") else "regex"
    if not isinstance(choice, str) or choice not in TOKENISERS:
        raise InputError(
            f"There is no tokeniser {choice!r}. Choose from: auto, {', '.join(TOKENISERS)}."
        )
    return choice


class Cleaner(dict[str, str]):
    """token -> the word that replaces it: in lower case, or `NUMBER` if it has a digit.

    A dictionary, so that each distinct word is converted once and kept in memory once.
    """

    def __init__(self, *, replace_numbers: bool = True) -> None:
        super().__init__()
        self.replace_numbers = replace_numbers

    def __missing__(self, token: str) -> str:
        word = token.lower()
        if self.replace_numbers and any(map(str.isdigit, word)):
            word = NUMBER
        self[token] = word
        return word

    def clean(self, tokens: list[str]) -> Tokens:
        """The words that replace the tokens."""
        return tuple(map(self.__getitem__, tokens))


def _spacy() -> Tokeniser:
    """spaCy's English rules without a trained model; tokens of blanks only are dropped."""
    try:
        import spacy
    except ImportError as error:
        raise InputError(
            "The tokeniser 'spacy' needs spaCy, which is not installed. "
            "Run pip install 'attnaudit[text]', or choose tokeniser=regex."
        ) from error
    tokenizer = spacy.blank("en").tokenizer
    return Tokeniser(
        tokeniser_name("spacy"),
        lambda text: [token.text for token in tokenizer(text) if not token.is_space],
        lambda text: [(t.idx, t.idx + len(t)) for t in tokenizer(text) if not t.is_space],
    )


def _by_pattern(name: str, pattern: re.Pattern[str]) -> Callable[[], Tokeniser]:
    return lambda: Tokeniser(
        name, pattern.findall, lambda text: [match.span() for match in pattern.finditer(text)]
    )


TOKENISERS: dict[str, Callable[[], Tokeniser]] = {
    "spacy": _spacy,
    "regex": _by_pattern("regex", _PIECE),
    "blanks": _by_pattern("blanks", _WORD),
    "keras": _by_pattern("keras", _KERAS),
}
