"""A hash of a corpus, stored with results to identify the data they were computed on."""

from __future__ import annotations

import hashlib

from attnaudit.data.splits import SPLITS, Splits


def fingerprint(splits: Splits) -> str:
    """SHA-256 over the ids, labels, words and queries of all splits."""
    digest = hashlib.sha256()
    for split in SPLITS:
        for example in getattr(splits, split):
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
