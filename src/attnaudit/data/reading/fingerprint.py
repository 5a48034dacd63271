"""Which data these numbers are of."""

from __future__ import annotations

import hashlib

from attnaudit.data.splits import Splits


def fingerprint(splits: Splits) -> str:
    """SHA-256 over every word and label of every split: which data these numbers are of."""
    digest = hashlib.sha256()
    for name in ("train", "dev", "test"):
        for example in getattr(splits, name):
            line = "\x1f".join(
                [
                    example.example_id,
                    str(example.label),
                    *example.tokens,
                    "\x1e",
                    *(example.query or ()),
                ]
            )
            digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()
