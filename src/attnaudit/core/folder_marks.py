"""Which folders hold results of ours, and which files in them we wrote.

A folder is ours if run.json, intervention.json or corpus_audit.json in it lists attnaudit among
its versions.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attnaudit.core.output_files import MANIFEST, is_our_page

CORPUS_AUDIT = "corpus_audit.json"
MARKS = ("run.json", "intervention.json", CORPUS_AUDIT)
# The files of runs that were written before run.json listed them.
_UNLISTED = frozenset(
    {
        *MARKS,
        MANIFEST,
        "values.parquet",
        "summary.parquet",
        "examples.parquet",
        "detail.parquet",
        "card.json",
        "model.safetensors",
        "vocabulary.json",
        "figure.png",
    }
)


def mark_of(folder: Path) -> dict[str, Any] | None:
    """The JSON object that makes this folder ours, or None."""
    for name in MARKS:
        try:
            mark = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            continue
        versions = mark.get("versions") if isinstance(mark, dict) else None
        if isinstance(versions, dict) and "attnaudit" in versions:
            return mark
    return None


def is_written_by_us(path: Path, folder: Path) -> bool:
    """Is this a file that attnaudit wrote into its own folder?"""
    if not path.is_file() or path.is_symlink():
        return False
    listed = (mark_of(folder) or {}).get("files")
    if path.name in _UNLISTED or (isinstance(listed, dict) and path.name in listed):
        return True
    return path.suffix == ".html" and is_our_page(path)
