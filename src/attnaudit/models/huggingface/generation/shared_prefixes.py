"""Log-probabilities of answers after many similar prompts: what two of them share is run once.

Prompts with and without some sources begin alike. In the order of their tokens, each is run from
where it differs from the one before; keys and values of the rest are kept. On a processor, which
gains little from batches, this takes less than half the work of running each prompt whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.module_state import evaluating
from attnaudit.data.citations import CitationBatch
from attnaudit.models.huggingface.generation.answer_passes import Sequences, sequences_of


@torch.no_grad()
def shared_prefix_log_probs(model: Any, batches: Sequence[CitationBatch]) -> list[Tensor]:
    """Log-probability of each answer token (A,), 0 in the padding, of each batch of one prompt."""
    from transformers import DynamicCache

    runs = [sequences_of(batch, None) for batch in batches]
    ids = [run.ids[0].tolist() for run in runs]
    found: dict[int, Tensor] = {}
    before: list[int] = []
    cache: Any = None
    with evaluating(model):
        for index in sorted(range(len(runs)), key=ids.__getitem__):
            first = int(runs[index].queries[0, 0])
            shared = min(_common(before, ids[index]), first)
            if shared:
                cache.crop(shared - len(before))  # negative: so many are removed; never all
            else:
                cache = DynamicCache()  # of all tokens, also in layers that look at a window
            rows = _logits(model, runs[index], shared, first, cache)
            before = ids[index]
            found[index] = _of_answer(rows, batches[index])
    return [found[index] for index in range(len(runs))]


def _logits(model: Any, run: Sequences, shared: int, first: int, cache: Any) -> Tensor:
    """Logits from the first query on, of the tokens after those that are shared."""
    rest = run.ids[:, shared:]
    given: dict[str, Any] = {"input_ids": rest, "past_key_values": cache, "use_cache": True}
    if "logits_to_keep" in signature(model.forward).parameters:
        keep = torch.arange(first - shared, rest.shape[1], device=rest.device)
        return model(**given, logits_to_keep=keep, return_dict=True).logits[0]
    return model(**given, return_dict=True).logits[0, first - shared :]


def _of_answer(rows: Tensor, batch: CitationBatch) -> Tensor:
    """Log-probability of the answer's tokens (A,), 0 in the padding, from logits (≥ A,V)."""
    assert batch.answer is not None and batch.answer_mask is not None  # noqa: PT018
    size = int(batch.answer_mask.sum())
    accurate = torch.float64 if rows.dtype == torch.float64 else torch.float32
    chosen = rows[:size].log_softmax(-1, dtype=accurate)
    found = chosen.gather(1, batch.answer[0, :size, None])[:, 0]
    return torch.nn.functional.pad(found, (0, batch.answer.shape[1] - size))


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two prompts begin with alike."""
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count
