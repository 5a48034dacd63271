"""Stored moves of attention as the page reads them, for models that have no readout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnaudit.report.inline_data import packed

KINDS = ("without", "top", "only", "carry", "uniform", "shuffle", "furthest")


def packed_moves(moves: Any, words: int, candidates: Sequence[int]) -> dict[str, Any] | None:
    """The moves of one example, as `PackedMoves` in static/types.d.ts describes them.

    Parameters
    ----------
    moves : dicts with `kind`, `word`, `to`, `probs`, `jsd` and `weights`, as the store holds
        them; None for an example without moves, and in older runs.
    words : number of words of the example.
    candidates : the classes that can be predicted.

    Returns
    -------
    None if there is no move. A move without a known probability for every class is left out.
    """
    listed, probs, jsd, shuffled = [], [], [], []
    for move in () if moves is None else moves:
        of_move = np.asarray(move["probs"], dtype=float)
        if move["kind"] not in KINDS or not np.isfinite(of_move).all():
            continue
        listed.append([KINDS.index(move["kind"]), int(move["word"]), int(move["to"])])
        probs.append(of_move[list(candidates)])
        jsd.append(move["jsd"])
        if move["kind"] == "shuffle":
            weights = np.asarray(move["weights"], dtype=float)
            if len(weights) != words:
                raise ValueError(f"a shuffle has {len(weights)} weights for {words} words")
            shuffled.append(weights)
    if not listed:
        return None
    return {
        "kinds": list(KINDS),
        "moves": listed,
        "probs": packed(np.stack(probs)),
        "jsd": packed(jsd),
        "shuffled": packed(np.stack(shuffled)) if shuffled else "",
    }
