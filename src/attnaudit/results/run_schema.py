"""What run.json must hold to be read: its keys and the type of each.

Files may be damaged, or written by anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError

Check = Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _dict_of(check: Check) -> Check:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_interval(value: Any) -> bool:
    return _list_of(_or_none(_is_number))(value) and len(value) == 2


def _is_dict(value: Any) -> bool:
    return isinstance(value, dict)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _is_ranking(value: Any) -> bool:
    keys = {"explanation", "rank", "place", "tests", "passed", "beats_random", "seconds"}
    return _list_of(_is_dict)(value) and all(keys <= set(row) for row in value)


def _are_classes(value: Any) -> bool:
    return _list_of(_is_text)(value) and len(value) > 1 and len(set(value)) == len(value)


_ABOUT: Mapping[str, tuple[Check, str]] = {
    "seed": (lambda value: isinstance(value, int), "a whole number"),
    "classes": (_are_classes, "a list of at least two different names"),
    "has_readout": (_is_bool, "true or false"),
}
# What results of earlier versions, or of another kind, may lack.
_ABOUT_OPTIONAL: Mapping[str, tuple[Check, str]] = {
    "audits": (_list_of(_is_text), "a list of names"),
    "measures": (_list_of(_is_text), "a list of names"),
    "word_measures": (_list_of(_is_text), "a list of names"),
    "not_applicable": (_dict_of(_is_text), "reasons by name"),
    "measures_not_applicable": (_dict_of(_is_text), "reasons by name"),
    "rows": (_is_count, "a count"),
    "row_names": (_or_none(_list_of(_is_text)), "a list of names"),
    "illustrated": (_is_count, "a count"),
    "majority": (_or_none(_is_number), "a share"),
    "model": (_is_dict, "an object"),
    "truncated": (_is_count, "a count"),
    "texts": (_is_dict, "an object"),
    "explanations": (_list_of(_is_text), "a list of names"),
    "seconds_per_text": (_dict_of(_is_number), "seconds by name"),
    "explanation_ranking": (_is_ranking, "one object per explanation"),
}
_TEXTS: Mapping[str, tuple[Check, str]] = {
    "file": (_is_text, "a name"),
    "model": (_is_text, "a name"),
    "read": (_is_count, "a count"),
    "audited": (_is_count, "a count"),
    "skipped": (_is_dict, "an object"),
}
_RUN_OPTIONAL: Mapping[str, tuple[Check, str]] = {
    "versions": (_dict_of(_is_text), "versions by name"),
    "choices": (_is_dict, "an object"),
    "model": (_is_dict, "an object"),
    "data": (_is_dict, "an object"),
    "training": (_is_dict, "an object"),
    "performance": (_is_dict, "an object"),
    "seconds": (_dict_of(_is_number), "seconds by stage"),
    "threads": (_is_count, "a count"),
}
# The keys that each of these must have if it is there.
_PARTS: Mapping[str, Mapping[str, tuple[Check, str]]] = {
    "choices": {
        "dataset": (_is_text, "a choice"),
        "seed": (lambda value: isinstance(value, int), "a whole number"),
        "variant": (_is_text, "a choice"),
        "base": (_or_none(_is_text), "a name"),
        "recipe": (_is_dict, "an object"),
    },
    "model": {
        **dict.fromkeys(
            ("model", "encoder", "scorer", "projection", "output"), (_is_text, "a choice")
        ),
        "embedding": (_is_count, "a count"),
        "classes": (_is_count, "a count"),
        "with_query": (_is_bool, "true or false"),
    },
    "data": {
        "name": (_is_text, "a name"),
        "tokeniser": (_is_text, "a name"),
        "sizes": (_dict_of(_is_count), "counts by split"),
        "vocabulary": (_is_count, "a count"),
        "fingerprint": (_is_text, "a checksum"),
    },
    "training": {
        "kept_epoch": (_is_count, "a count"),
        "dev": (_list_of(_or_none(_is_number)), "a list of scores"),
    },
    "performance": {
        "accuracy": (_is_number, "a share"),
        "accuracy_interval": (_or_none(_is_interval), "two numbers"),
        "majority": (_is_number, "a share"),
    },
}
_RECIPE: Mapping[str, tuple[Check, str]] = {
    "optimiser": (_is_text, "a name"),
    "learning_rate": (_is_number, "a number"),
    "batch_size": (_is_count, "a count"),
}


def check_details(path: Path, details: dict[str, Any]) -> None:
    """Reject a run.json in which something that is read later is missing or of the wrong type."""
    about = details.get("about")
    if not isinstance(about, dict):
        raise InputError(f"{path} is damaged: `about` is missing. Run it again with --force.")
    _check(path, "about", about, _ABOUT)
    _check(path, "about", about, _ABOUT_OPTIONAL, optional=True)
    _check(path, "about.texts", about.get("texts") or {}, _TEXTS, optional=not about.get("texts"))
    _check(path, "", details, _RUN_OPTIONAL, optional=True)
    for name, keys in _PARTS.items():
        if name in details:
            _check(path, name, details[name], keys)
    if "choices" in details:
        _check(path, "choices.recipe", details["choices"]["recipe"], _RECIPE)


def _check(
    path: Path,
    prefix: str,
    content: dict[str, Any],
    keys: Mapping[str, tuple[Check, str]],
    *,
    optional: bool = False,
) -> None:
    for key, (check, expected) in keys.items():
        if optional and key not in content:
            continue
        if key not in content or not check(content[key]):
            got = repr(content[key])[:60] if key in content else "nothing"
            name = f"{prefix}.{key}" if prefix else key
            raise InputError(
                f"{path} is damaged: `{name}` should be {expected}, got {got}. "
                "Run it again with --force."
            )
