"""Which texts a model reads in one pass: those of similar length, as many as a bound allows."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor


def passes_by_length(
    length: Tensor, tokens: int, texts: int | None = None
) -> Iterator[tuple[Tensor, int]]:
    """Yield the texts of each pass, longest first, and the length of the longest of them.

    Parameters
    ----------
    length : Tensor, (M,) int64
        Of the texts, in tokens.
    tokens : int
        That a pass reads at most, padding included; a longer text has a pass of its own.
    texts : int, optional
        That a pass reads at most.

    Examples
    --------
    >>> import torch
    >>> [(rows.tolist(), width) for rows, width in passes_by_length(torch.tensor([2, 5, 3]), 6)]
    [([1], 5), ([2, 0], 3)]
    """
    order = length.argsort(descending=True, stable=True)
    longest_first = length[order].tolist()
    start = 0
    while start < len(order):
        width = max(longest_first[start], 1)
        count = max(1, tokens // width)
        part = order[start : start + (count if texts is None else min(count, texts))]
        start += len(part)
        yield part, width
