"""The names of attention rows, by layer and head."""

from __future__ import annotations

from typing import Any

from attnaudit.results.rows.means import EVERY_ROW


def row_names(about: dict[str, Any]) -> list[str]:
    """One name per row: as the model names them, by layer and head, or "row 0", "row 1", …

    Parameters
    ----------
    about : what is stored about an audit (`Results.about`).

    Examples
    --------
    >>> row_names({"rows": 2, "row_names": ["layer 5 head 0", "layer 5 head 7"]})
    ['layer 5 head 0', 'layer 5 head 7']
    """
    count = int(about.get("rows", 1))
    given = about.get("row_names")
    if given and len(given) == count:
        return [str(name) for name in given]
    return _by_layer_and_head(about.get("model") or {}, count) or [
        f"row {row}" for row in range(count)
    ]


def row_name(about: dict[str, Any], row: int) -> str:
    """The name of one row, such as "layer 5 head 0"; row -1 is the mean over all of them."""
    if row == EVERY_ROW:
        return "mean of all rows"
    names = row_names(about)
    return names[row] if 0 <= row < len(names) else f"row {row}"


def are_heads(about: dict[str, Any]) -> bool:
    """Whether the rows are known to be attention heads."""
    return all("head" in name for name in row_names(about))


def _by_layer_and_head(model: dict[str, Any], count: int) -> list[str] | None:
    """Names for runs stored before names were: Hugging Face models list their layers and heads."""
    layers, heads = model.get("layers"), model.get("heads")
    if (
        not isinstance(layers, list)
        or not isinstance(heads, list)
        or len(layers) * len(heads) != count
    ):
        return None
    return [f"layer {layer} head {head}" for layer in layers for head in heads]
