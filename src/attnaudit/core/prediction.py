"""The logits of a batch where nothing else of the record is needed."""

from __future__ import annotations

from torch import Tensor

from attnaudit.core.contract import AttentionModel, Batch


def logits_of(model: AttentionModel, batch: Batch) -> Tensor:
    """The logits (B,C) of a batch, by the fastest way that the model offers.

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> logits_of(Glass("oracle"), glass_batch(3)).shape
    torch.Size([3, 2])
    """
    reader: AttentionModel = getattr(model, "without_readout", model)
    own = getattr(reader, "read_logits", None)
    return reader.read(batch).logits if own is None else own(batch)
