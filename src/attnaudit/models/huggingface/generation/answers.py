"""Answers that the model gives itself, by greedy decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from attnaudit.core import progress
from attnaudit.core.module_state import evaluating
from attnaudit.data.citations import CitationExample

if TYPE_CHECKING:
    from attnaudit.models.huggingface.generation.model import GenerationModel


def with_answers(
    model: GenerationModel,
    examples: Sequence[CitationExample],
    *,
    max_new_tokens: int = 32,
    show_progress: bool = False,
) -> list[CitationExample]:
    """The examples, those without an answer with the model's own; the first line of it.

    An example for which the model says nothing keeps its empty answer.
    """
    answered: list[CitationExample] = []
    missing = sum(not example.answer for example in examples)
    with progress.bar("Generating answers", missing, show=show_progress and missing > 0) as advance:
        for example in examples:
            if example.answer:
                answered.append(example)
                continue
            text = _generate(model, example, max_new_tokens)
            answered.append(replace(example, answer=text.strip().partition("\n")[0].strip()))
            advance("", 1)
    return answered


def _generate(model: GenerationModel, example: CitationExample, max_new_tokens: int) -> str:
    prompt = model.prompt.encode(replace(example, answer="", span=""))
    ids = torch.tensor([prompt.ids], device=model.model.device)
    with evaluating(model.model), torch.no_grad():
        out = model.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            num_beams=1,
            max_new_tokens=max_new_tokens,
            pad_token_id=getattr(model.tokenizer, "pad_token_id", None)
            or getattr(model.tokenizer, "eos_token_id", None)
            or 0,
        )
    new = out[0] if model.decoder_start is not None else out[0, ids.shape[1] :]
    return str(model.tokenizer.decode(new, skip_special_tokens=True))
