"""Log-probabilities of answers after many prompts, as fast as the model allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from attnaudit.data.citations import CitationBatch
from attnaudit.models.huggingface.generation.answer_passes import TOKENS_AT_ONCE, in_groups
from attnaudit.models.huggingface.generation.prompt_batches import joined
from attnaudit.models.huggingface.generation.shared_prefixes import shared_prefix_log_probs
from attnaudit.models.huggingface.generation.spans import mean_of_span

if TYPE_CHECKING:
    from attnaudit.models.huggingface.generation.model import GenerationModel


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
