"""The command that repeats an audit with some options changed, from what it was called with."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any


def audit_command(call: Mapping[str, Any], **changes: Any) -> str:
    """`attnaudit audit …` with the options of a call; changed ones instead of or besides them.

    Parameters
    ----------
    call : `model` and `data` (a list), and other options by their name on the command line, with _
        for -; lists are repeated, True is a flag, None and False are left out.
    changes : the same. The results go to another folder, since the first are there already.

    Examples
    --------
    >>> call = {"model": "my-model", "data": ["reviews.csv"], "sample": 200, "out": "audit"}
    >>> audit_command(call, sample=400)
    'attnaudit audit my-model --data reviews.csv --sample 400 --out audit-2'
    """
    options = {**call, **changes}
    words = ["attnaudit", "audit", str(options.pop("model"))]
    out = str(options.pop("out", None) or "audit")
    options["out"] = changes.get("out") or f"{out}-2"
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        for each in value if isinstance(value, list | tuple) else [value]:
            if each is None or each is False:
                continue
            words += [option] if each is True else [option, str(each)]
    return shlex.join(words)
