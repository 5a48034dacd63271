"""The names of run directories and files: readable, and the same for the same choices."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

# Left out of names and labels.
DEFAULT_PARTS = {"model": "attentive", "output": "linear_query", "variant": "ordinary"}


def run_name(choices: dict[str, Any]) -> str:
    """The name of a run's directory: readable, and ending in a hash of all its choices.

    Parameters
    ----------
    choices : everything that decides the numbers; the same choices give the same name anywhere.

    Examples
    --------
    >>> run_name({"dataset": "keyword:test=60", "encoder": "average", "seed": 0})
    'keyword_test=60-average-seed_0-1c21336f'
    """
    digest = hashlib.blake2b(
        json.dumps(choices, sort_keys=True).encode(), digest_size=4
    ).hexdigest()
    readable = file_name("-".join(distinguishing_choices(choices)))
    return f"{readable[:80]}-{digest}"


def file_name(text: str) -> str:
    """The text with every character that may trouble a file system as an underscore.

    Examples
    --------
    >>> file_name("mutual_information:clusters=50, seed 0")
    'mutual_information_clusters=50_seed_0'
    """
    return re.sub(r"[^A-Za-z0-9.=-]+", "_", text)


def distinguishing_choices(choices: dict[str, Any]) -> list[str]:
    """The choices that a run's name shows: the usual five, and others unless they are the default.

    Examples
    --------
    >>> distinguishing_choices({"dataset": "sst", "encoder": "bilstm", "seed": 3})
    ['sst', 'bilstm', 'seed 3']
    """
    shown = [
        str(choices[key])
        for key in ("dataset", "encoder", "scorer", "projection")
        if key in choices
    ]
    shown += [
        str(choices[key])
        for key, default in DEFAULT_PARTS.items()
        if choices.get(key, default) != default
    ]
    return [*shown, f"seed {choices['seed']}"] if "seed" in choices else shown
