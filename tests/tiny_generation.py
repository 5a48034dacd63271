"""Tiny random language models that answer questions from sources, one per family."""

from __future__ import annotations

from typing import Any

import transformers as hf

import attnaudit
import tiny_transformers as tiny
from attnaudit.data.citations import CitationExample

_DECODER = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 4,
    "intermediate_size": 24,
    "vocab_size": tiny.VOCABULARY,
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}
_MARKS = {"bos_token_id": None, "eos_token_id": None}
_SEQ2SEQ = {"t5": tiny.FAMILIES["t5_lm"], "bart": tiny.FAMILIES["bart_lm"]}

# class, config class, its options, tokenizer
FAMILIES: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", _DECODER, "decoder"),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", _DECODER, "decoder"),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", _DECODER, "decoder"),
    "mistral": (
        "MistralForCausalLM",
        "MistralConfig",
        _DECODER | {"sliding_window": 20},
        "decoder",
    ),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", tiny.FAMILIES["gpt2_lm"][2] | _MARKS, "decoder"),
    "t5": (*_SEQ2SEQ["t5"][:3], "end"),
    "bart": (*_SEQ2SEQ["bart"][:3], "end"),
}

EXAMPLES = [
    CitationExample(
        "a", ("the film was good", "we liked it not", "a dull one"), "was it good", "very good"
    ),
    CitationExample(
        "b", ("the film was very bad and dull", "we liked it"), "not it", "bad one , dull", (1,)
    ),
]


def tiny_generator(name: str, *, tokenizer: Any = None, **options: Any) -> Any:
    """A wrapped tiny model; options are those of `from_huggingface`."""
    kind, config, sizes, marks = FAMILIES[name]
    model = tiny.drawn(getattr(hf, kind)(getattr(hf, config)(**sizes)), double=False)
    tokenizer = tiny.tiny_tokenizer(marks) if tokenizer is None else tokenizer
    return attnaudit.from_huggingface(model, tokenizer, task="generation", **options)
