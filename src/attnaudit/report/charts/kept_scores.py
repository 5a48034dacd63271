"""The scores of the examples that were kept whole: of attention and of every measure."""

from __future__ import annotations

from typing import Any


def scores_of(line: Any) -> dict[str, Any]:
    """Measure -> its scores, attention first; line: of `Results.examples`, as a named tuple."""
    return {
        "attention": line.attention,
        **{score["measure"]: score["values"] for score in line.scores},
    }
