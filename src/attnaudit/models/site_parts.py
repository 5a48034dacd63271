"""One row of attention, as leaving out needs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor


@dataclass(frozen=True)
class SiteParts:
    """One row of attention: the parts of the model around it, and their inputs and outputs."""

    encoder: Any
    scorer: Any
    projection: Any
    output: Any
    vectors: Tensor  # (B,N,E), input of the encoder
    hidden: Tensor  # (B,N,H), output of the encoder
    mask: Tensor  # (B,N) bool, True = read by the encoder
    content: Tensor  # (B,N) bool, True = may be attended and is content
    query: Tensor | None  # (B,H)
    scores: Tensor  # (B,N), of the attention
    readout: Tensor | None  # (B,N,C); None if the output is not linear in the attention

    def rows(self, index: Tensor, width: int) -> SiteParts:
        """Return the examples at index, cut to the given width.

        Vectors and states are empty if neither encoder nor output will read them.
        """
        unread = getattr(self.encoder, "context_free", False) and self.readout is not None
        size = 0 if unread else None
        return replace(
            self,
            vectors=self.vectors[index, :width, :size],
            hidden=self.hidden[index, :width, :size],
            mask=self.mask[index, :width],
            content=self.content[index, :width],
            query=None if self.query is None else self.query[index],
            scores=self.scores[index, :width],
            readout=None if self.readout is None else self.readout[index, :width],
        )
