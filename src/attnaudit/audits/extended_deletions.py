"""Long texts without a set of words and one more word: read without the set once.

A model that knows what a single deletion changes (`leave_out_some`) need not read a text of
thousands of words again for each word that a search tries.
"""

from __future__ import annotations

import torch
from torch import Tensor

from attnaudit.audits.deletions import dropped_tokens
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.measures.log_odds import log_odds_of

# Items from which on it is done. The numbers of shorter texts come from reading them, whatever the
# model offers.
LONG_TEXT = 1024


@torch.no_grad()
def log_odds_of_extensions(
    model: AttentionModel, record: Record, example: int, drop: Tensor
) -> Tensor | None:
    """Log-odds (K,) of the predicted class without each of K sets of items, drop (K,N) bool.

    None unless the text is long, the sets are one set with one more item each, and the model has a
    way that is faster than reading.
    """
    reader = getattr(model, "without_readout", model)
    without_some = getattr(reader, "leave_out_some", None)
    if without_some is None or len(drop) < 2 or int(record.content[example].sum()) < LONG_TEXT:
        return None
    base = drop.all(0)
    added = drop & ~base
    if not bool((added.sum(1) == 1).all()):
        return None
    rows = torch.tensor([example], device=drop.device)
    dropped = dropped_tokens(record, rows, base[None])
    shorter = reader.read(record.batch.rows(rows).without(dropped))
    item = _new_items(record, example, dropped[0], shorter)[added.nonzero()[:, 1]]
    wanted = torch.zeros_like(shorter.content).index_fill(1, item, True)
    logits = without_some(shorter, wanted)
    if logits is None:
        return None
    classes, odds = record.batch.classes, logits[0, item].double()
    candidates = None if classes is None else classes[rows].expand(len(item), -1)
    return log_odds_of(odds, record.predicted[rows].expand(len(item)), candidates)


def _new_items(record: Record, example: int, dropped: Tensor, shorter: Record) -> Tensor:
    """The number that each item (N,) of a text has in the shorter one; -1 if it is gone."""
    kept = record.batch.mask[example] & ~dropped
    before = record.item_of_token[example][kept]
    after = shorter.item_of_token[0][shorter.batch.mask[0]]
    number = before.new_full((record.content.shape[1],), -1)
    is_item = before >= 0
    number[before[is_item]] = after[is_item]
    return number
