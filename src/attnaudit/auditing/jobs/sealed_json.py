"""JSON that says whether it is whole: a flipped bit is noticed, not computed with."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def sealed(content: Any) -> bytes:
    """The content with a checksum.

    Examples
    --------
    >>> unsealed(sealed({"kept": ["03"]}))
    {'kept': ['03']}
    """
    text = json.dumps(content)
    return json.dumps({"sha256": _digest(text), "content": text}).encode()


def unsealed(data: bytes) -> Any:
    """The content of `sealed`; a ValueError if it is damaged."""
    stored = json.loads(data)
    try:
        digest, text = stored["sha256"], stored["content"]
        is_whole = digest == _digest(text)
    except (KeyError, TypeError, AttributeError):
        is_whole = False
    if not is_whole:
        raise ValueError("its checksum does not match")
    return json.loads(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
