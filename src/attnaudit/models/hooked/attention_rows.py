"""The audited rows of a module's attention weights: picked out, and put back."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class AttentionRows:
    """The audited rows of weights (B,H,Q,N), ordered by position and then by head."""

    positions: Tensor  # (B,P) query positions
    heads: Tensor  # (h,)
    has_items: Tensor  # (B,P,h) bool; a row without items keeps its weights

    def of(self, weights: Tensor) -> Tensor:
        """Select the rows: (B,H,Q,N) -> (B,P,h,N)."""
        return weights[self._index()]

    def put(self, weights: Tensor, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weights with alpha (B,P·h,N) in these rows, and where they changed (B,Q)."""
        own = self.of(weights)
        new = torch.where(self.has_items[..., None], alpha.to(own.dtype).reshape(own.shape), own)
        touched = torch.zeros(
            weights.shape[0], weights.shape[2], dtype=torch.bool, device=weights.device
        )
        return weights.index_put(self._index(), new), touched.scatter(
            1, self.positions, self.has_items.any(-1)
        )

    def names(self, *, only_head: bool) -> list[str]:
        """Name the rows, by position if there are several and by head unless there is only one."""
        queries = self.positions.shape[1]
        positions = [f"position {index}" for index in range(queries)] if queries > 1 else [""]
        heads = [""] if only_head else [f"head {head}" for head in self.heads.tolist()]
        return [
            f"{position} {head}".strip() or "attention" for position in positions for head in heads
        ]

    def examples(self, index: Tensor) -> AttentionRows:
        """Return the rows of the examples at index."""
        return AttentionRows(self.positions[index], self.heads, self.has_items[index])

    def _index(self) -> tuple[Tensor, Tensor, Tensor]:
        example = torch.arange(len(self.positions), device=self.positions.device)
        return example[:, None, None], self.heads[None, None], self.positions[:, :, None]
