"""Word or token scores from elsewhere: jsonl, inseq JSON, SHAP `Explanation`, tensors, columns.

Each becomes one `ScoredText` per text: numbers, and the tokens they are of where these are known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attnaudit.core.errors import InputError

_TOKENS = ("tokens", "words")
_SCORES = ("scores", "weights", "attributions", "values")


@dataclass(frozen=True)
class ScoredText:
    """The scores of one text.

    Attributes
    ----------
    values : (T,), or (T,C) with one column per class; NaN where a score is missing.
    tokens : the T tokens or words; None if the scores are for the model's own words or tokens.
    spans : the characters of each token, (start, end); None if they are found in the text.
    where : for messages.
    """

    values: np.ndarray
    tokens: tuple[str, ...] | None = None
    spans: tuple[tuple[int, int], ...] | None = None
    where: str = ""


def read_given_scores(source: Any, name: str) -> list[ScoredText]:
    """The scores of every text, in the order of the texts.

    Parameters
    ----------
    source : one of

        - the path of a .jsonl file, one object per text: `tokens` (or `words`) and `scores`,
          optionally `offsets`; or of a .json file that inseq saved;
        - a SHAP `Explanation` of texts (`data` and `values`);
        - a tensor or array (B,T), or (B,T,E) as Captum gives, which is summed over E;
        - a list with, per text, a list of numbers, a tensor (T,) or (T,E), or a dict as in jsonl.
    name : of the explanation, for messages.

    Examples
    --------
    >>> (text,) = read_given_scores([{"tokens": ["a", "dull"], "scores": [0.1, 0.9]}], "mine")
    >>> text.tokens, text.values.tolist()
    (('a', 'dull'), [0.1, 0.9])
    """
    if isinstance(source, str | Path):
        return list(_file(Path(source)))
    is_array = hasattr(source, "detach") or isinstance(source, np.ndarray)
    is_mapping = isinstance(source, Mapping)
    if hasattr(source, "values") and hasattr(source, "data") and not (is_array or is_mapping):
        return _shap(source, name)
    if is_array:
        array = _array(source, name)
        if array.ndim not in (2, 3):
            raise InputError(
                f"The scores {name!r} must be (texts, tokens) or (texts, tokens, embedding), got "
                f"{array.shape}."
            )
        source = list(array)
    if isinstance(source, Sequence):
        return [_one(each, f"{name}, text {index}") for index, each in enumerate(source)]
    raise InputError(
        f"Cannot read the scores {name!r}: expected a file, a SHAP Explanation, a tensor or a list "
        f"with one entry per text, got {type(source).__name__}."
    )


def _file(path: Path) -> Iterator[ScoredText]:
    if not path.is_file():
        raise InputError(f"The file of scores {str(path)!r} does not exist.")
    if path.suffix == ".json":
        yield from _inseq(path)
        return
    if path.suffix != ".jsonl":
        raise InputError(
            f"{path}: scores are read from .jsonl (one object per text with tokens and scores) or "
            "from the .json of inseq."
        )
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _one(_parsed(line, f"{path}, line {number}"), f"{path}, line {number}")


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise InputError(f"{where}: this is not JSON ({error}).") from None


def _inseq(path: Path) -> Iterator[ScoredText]:
    """What inseq's `FeatureAttributionOutput.save` writes, summed over all generated tokens."""
    content = _parsed(path.read_text(encoding="utf-8"), str(path))
    texts = content.get("sequence_attributions") if isinstance(content, dict) else None
    if not isinstance(texts, list) or not texts:
        raise InputError(f"{path}: expected the JSON of inseq, with sequence_attributions.")
    for number, text in enumerate(texts):
        where = f"{path}, sequence {number}"
        side = "source" if text.get("source_attributions") is not None else "target"
        values, tokens = text.get(f"{side}_attributions"), text.get(side)
        if values is None or not isinstance(tokens, list):
            raise InputError(f"{where}: there are no {side}_attributions with their tokens.")
        array = _array([[_number(each) for each in _flat(row)] for row in values], where)
        named = [str(token["token"] if isinstance(token, dict) else token) for token in tokens]
        yield _checked(np.nansum(array, 1), named[: len(array)], None, where)


def _flat(values: Any) -> list[Any]:
    if not isinstance(values, list):
        return [values]
    return [each for part in values for each in _flat(part)]


def _shap(source: Any, name: str) -> list[ScoredText]:
    tokens, values = source.data, source.values
    if len(tokens) != len(values):
        raise InputError(f"The Explanation {name!r} has {len(tokens)} texts, {len(values)} values.")
    if len(tokens) and isinstance(tokens[0], str):  # of a single text
        tokens, values = [tokens], [values]
    return [
        _checked(_array(value, f"{name}, text {index}"), list(map(str, text)), None, f"{name}")
        for index, (text, value) in enumerate(zip(tokens, values, strict=True))
    ]


def _one(given: Any, where: str) -> ScoredText:
    if isinstance(given, str):
        given = _parsed(given, where)
    if isinstance(given, Mapping):
        tokens = next((given[key] for key in _TOKENS if key in given), None)
        scores = next((given[key] for key in _SCORES if key in given), None)
        if scores is None:
            raise InputError(
                f"{where}: there are no scores. Expected tokens and scores, got: "
                f"{', '.join(map(str, given)) or 'nothing'}."
            )
        spans = given.get("offsets")
        return _checked(_array(scores, where), tokens, spans, where)
    array = _array(given, where)
    # Captum attributes to embeddings (T,E): a token's score is their sum.
    return _checked(array.sum(-1) if array.ndim == 2 else array, None, None, where)


def _array(values: Any, where: str) -> np.ndarray:
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    if isinstance(values, list | tuple):
        values = [[_number(e) for e in v] if isinstance(v, list) else _number(v) for v in values]
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{where}: the scores must be numbers.") from None


def _number(value: Any) -> Any:
    return math.nan if value is None else value


def _checked(values: np.ndarray, tokens: Any, spans: Any, where: str) -> ScoredText:
    if values.ndim not in (1, 2) or not len(values):
        raise InputError(f"{where}: expected one score per token, got an array {values.shape}.")
    if np.isinf(values).any():
        raise InputError(f"{where}: score {int(np.isinf(values).argmax())} is infinite.")
    if tokens is not None and len(tokens) != len(values):
        raise InputError(f"{where}: there are {len(tokens)} tokens and {len(values)} scores.")
    pairs = None
    if spans is not None:
        if len(spans) != len(values) or any(len(span) != 2 for span in spans):
            raise InputError(f"{where}: offsets must be one [start, end] per score.")
        pairs = tuple((int(start), int(end)) for start, end in spans)
    return ScoredText(values, None if tokens is None else tuple(map(str, tokens)), pairs, where)
