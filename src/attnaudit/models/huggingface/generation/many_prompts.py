"""Log-probabilities of answers after many prompts, as fast as the model allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from attnaudit.data.citations import CitationBatch
from attnaudit.models.huggingface.generation.answer_passes import TOKENS_AT_ONCE, in_groups
from attnaudit.models.huggingface.generation.prompt_batches import (
    joined,
    kept_tokens,
    with_tokens,
)
from attnaudit.models.huggingface.generation.shared_prefixes import shared_prefix_log_probs
from attnaudit.models.huggingface.generation.spans import mean_of_span

if TYPE_CHECKING:
    from attnaudit.models.huggingface.generation.model import GenerationModel


def kept_log_probs(
    model: GenerationModel,
    batch: CitationBatch,
    sets: Sequence[Sequence[Sequence[bool]]],
    known: Sequence[dict[bytes, float]],
) -> list[float]:
    """Mean log-probability of the span with only some sources, or words, in the prompt.

    Parameters
    ----------
    batch : B examples.
    sets : per example K sets; whether each item from the first source on is kept.
    known : per example, what is known already, by the tokens that are kept; is added to.

    Returns
    -------
    B × K values, those of one example after those of the one before.
    """
    wanted: list[tuple[int, bytes]] = []
    missing: dict[tuple[int, bytes], Tensor] = {}
    for index, several in enumerate(sets):
        for kept in several:
            stays = kept_tokens(batch, index, kept)
            key = (index, stays.cpu().numpy().tobytes())
            wanted.append(key)
            if key[1] not in known[index]:
                missing[key] = stays
    shorter = [with_tokens(batch, index, stays) for (index, _), stays in missing.items()]
    for (index, tokens), value in zip(missing, log_probs_of_each(model, shorter), strict=True):
        known[index][tokens] = value
    return [known[index][tokens] for index, tokens in wanted]


def log_probs_of_each(model: GenerationModel, prompts: Sequence[CitationBatch]) -> list[float]:
    """Mean log-probability of the span, of batches of one prompt each."""
    if model.shares_prefixes and model.model.device.type == "cpu":
        per_token = shared_prefix_log_probs(model.model, prompts)
        return [
            float(mean_of_span(each[None], prompt)[0])
            for each, prompt in zip(per_token, prompts, strict=True)
        ]
    values = [0.0] * len(prompts)
    lengths = [int(each.mask.sum()) for each in prompts]
    for part in in_groups(lengths, TOKENS_AT_ONCE):
        together = joined([prompts[i] for i in part])
        with torch.no_grad():
            found = model.log_probs(together).tolist()
        for i, value in zip(part, found, strict=True):
            values[i] = value
    return values
