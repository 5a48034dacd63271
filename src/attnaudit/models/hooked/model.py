"""A user's PyTorch classifier as a model with `read` and `decode`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import Batch, Record
from attnaudit.core.memory_budget import texts_at_once
from attnaudit.models.hooked.attention_capture import AttentionCapture
from attnaudit.models.hooked.attention_rows import AttentionRows
from attnaudit.models.hooked.passes import ForwardPass, HookOptions, Replace, run_pass
from attnaudit.models.hooked.positions import HookSite, items_of, positions_of, real_positions
from attnaudit.models.hooked.site import find_site


class Hooked:
    """A classifier wrapped by `from_hooks`: not copied, and unchanged by every pass."""

    def __init__(self, options: HookOptions) -> None:
        self.options = options
        self.model = options.model  # audits look for modules here
        self._site: HookSite | None = None

    @property
    def about(self) -> dict[str, Any]:
        """The choices made, stored with the results."""
        options = self.options
        query = options.query
        if not isinstance(query, (str, int)):
            query = getattr(query, "__name__", "function")
        return {
            "model": type(options.model).__name__,
            "alpha": options.alpha,
            "embedding": options.embedding,
            "query": query,
            "heads": "all" if options.heads is None else list(options.heads),
        }

    @property
    def vocabulary_size(self) -> int | None:
        """Number of tokens in the embedding module; None if it does not say."""
        return getattr(self.model.get_submodule(self.options.embedding), "num_embeddings", None)

    def row_names(self, record: Record) -> list[str]:
        """Name each row by query position and head, counted from 0 as in the attention module."""
        _, rows = record.state
        return rows.names(only_head=self.options.heads is None and len(rows.heads) == 1)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        """Run the model on a batch; `embeddings` (B,T,E) replace its own."""
        site = self._site or find_site(self.options, batch)
        if site.is_certain:
            self._site = site
        result = self._run(site, batch, embeddings)
        rows, mask, content = self._rows(site, batch, result.capture)
        token = torch.arange(batch.tokens.shape[1], device=batch.tokens.device).expand_as(
            batch.tokens
        )
        prefix = self.options.num_prefix_tokens
        alpha = rows.of(result.capture.weights).flatten(1, 2)
        return Record(
            batch=batch,
            embeddings=result.embeddings,
            hidden=None,
            # In an empty row softmax gives NaN or uniform weights; by contract they are 0.
            alpha=alpha.masked_fill(~mask.any(-1, keepdim=True), 0.0),
            mask=mask,
            content=content,
            item_of_token=(token + prefix).masked_fill(~content[:, prefix:], -1),
            logits=result.logits,
            state=(site, rows),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        """Return the logits under other attention: (B,R,N) -> (B,C), (B,K,R,N) -> (B,K,C).

        Each alternative is one more example of a forward pass; passes are bounded in size.
        """
        alternatives = alpha[:, None] if alpha.dim() == 3 else alpha
        examples, count = alternatives.shape[:2]
        index = torch.arange(examples, device=alpha.device).repeat_interleave(count)
        flat = alternatives.flatten(0, 1)
        size = texts_at_once(record.batch.tokens.shape[1])
        parts = [
            self._decode_part(record, index[part], flat[part])
            for part in torch.arange(len(index), device=alpha.device).split(size)
        ]
        logits = (
            torch.cat(parts).unflatten(0, (examples, count))
            if parts
            else record.logits[:, None][:, :count]
        )
        return logits[:, 0] if alpha.dim() == 3 else logits

    def _decode_part(self, record: Record, index: Tensor, alpha: Tensor) -> Tensor:
        """Return the logits (M,C) of the examples at index (M,) under alpha (M,R,N)."""
        site, all_rows = record.state
        rows = all_rows.examples(index)
        return self._run(
            site,
            record.batch.rows(index),
            record.embeddings[index],
            lambda capture: rows.put(capture.weights, alpha),
        ).logits

    def _run(
        self,
        site: HookSite,
        batch: Batch,
        embeddings: Tensor | None,
        replace: Replace | None = None,
    ) -> ForwardPass:
        return run_pass(
            self.options,
            batch,
            access=site.access,
            rows_are_positions=site.rows_are_positions,
            embeddings=embeddings,
            replace=replace,
        )

    def _rows(
        self, site: HookSite, batch: Batch, capture: AttentionCapture
    ) -> tuple[AttentionRows, Tensor, Tensor]:
        """Return the rows of the site, their masks (B,R,N) and the content items (B,N)."""
        options, (_, num_heads, queries, _) = self.options, capture.weights.shape
        positions = positions_of(
            site.rule, batch, queries, options.num_prefix_tokens, site.positions_are_items
        )
        heads = torch.arange(num_heads) if options.heads is None else torch.tensor(options.heads)
        heads = heads.to(positions.device)
        every_row = torch.ones(
            *positions.shape, len(heads), dtype=torch.bool, device=positions.device
        )
        allowed_items, content = items_of(options, batch)
        allowed = capture.allowed
        if allowed is None:
            allowed = torch.ones_like(capture.weights, dtype=torch.bool)
        real = real_positions(site, options, batch, positions)
        mask = AttentionRows(positions, heads, every_row).of(allowed)
        mask = mask & allowed_items[:, None, None] & real[:, :, None, None]
        rows = AttentionRows(positions, heads, mask.any(-1))
        mask = mask.flatten(1, 2)
        return rows, mask, content & mask.any(1)
