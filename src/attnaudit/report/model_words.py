"""A user's own model described in words, for the page."""

from __future__ import annotations

from typing import Any

_READ_AT = {
    "first": "read at the first token",
    "start": "read at the start token",
    "end": "read at the end-of-text token",
    "mask": "read at the mask token",
    "last": "read at the last token",
}
_WORDS = {
    "offsets": "sub-word tokens merged into words by their place in the text",
    "marks of the pieces": "sub-word tokens merged into words by their spelling",
}
_LEAVE_OUT = {
    "delete": "deleted",
    "mask": "replaced by the mask token",
    "pad": "replaced by padding",
}


def model_words(about: dict[str, Any]) -> str:
    """What a model stores about itself, in words; unknown keys are shown as key and value.

    Examples
    --------
    >>> model_words({"layers": [5], "heads": "all", "query": "first"})
    'layer 5; all heads; read at the first token'
    >>> model_words({"layers": list(range(30))})
    'layers 0 to 29'
    """
    phrases = {
        "model": lambda value: str(value),
        "layers": lambda value: _numbered("layer", value),
        "heads": lambda value: "all heads" if value == "all" else _numbered("head", value),
        "query": lambda value: _READ_AT.get(value, f"read at position {value}"),
        "words": lambda value: _WORDS.get(value, f"words by {value}"),
        "leave_out": lambda value: f"left-out words are {_LEAVE_OUT.get(value, value)}",
        "max_length": lambda value: f"at most {value} tokens",
        "alpha": lambda value: f"attention from {value}",
        "embedding": lambda value: f"embedding from {value}",
    }
    return "; ".join(
        phrases[key](value) if key in phrases else f"{key} {value}"
        for key, value in about.items()
        if value is not None and key != "rows"  # layers and heads say it shorter
    )


def _numbered(noun: str, values: Any) -> str:
    listed = list(values) if isinstance(values, list | tuple) else [values]
    if len(listed) > 2 and listed == list(range(listed[0], listed[0] + len(listed))):
        return f"{noun}s {listed[0]} to {listed[-1]}"
    return f"{noun}{'' if len(listed) == 1 else 's'} {', '.join(map(str, listed))}"
