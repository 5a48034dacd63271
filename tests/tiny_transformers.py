"""Tiny random models of every family, and tokenizers for them, made here: nothing is downloaded.

Weights are drawn again with a large spread: as initialised, attention is uniform, and no law about
it could fail.
"""

from __future__ import annotations

from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

WORDS = [
    "the",
    "film",
    "was",
    "good",
    "bad",
    "and",
    "we",
    "liked",
    "it",
    "a",
    "dull",
    "one",
    "not",
    "at",
    "all",
    "very",
    ",",
    ".",
]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SPECIAL = {
    "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"],
    "decoder": ["<unk>"],
    "end": ["<pad>", "<unk>", "<s>", "</s>"],
}
TEXTS = ["the film was very good , and we liked it", "a dull film", "not good at all"]
VOCABULARY = 90

_BASE = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "vocab_size": VOCABULARY,
}
_ENCODER = _BASE | {"num_labels": 3, "pad_token_id": 0}
_DECODER = _BASE | {"num_labels": 3, "pad_token_id": None, "num_key_value_heads": 2, "head_dim": 4}
_GPT2 = {"n_embd": 16, "n_layer": 3, "n_head": 4, "vocab_size": VOCABULARY, "num_labels": 3}
_BART = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "vocab_size": VOCABULARY,
    "num_labels": 3,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "decoder_start_token_id": 3,
}
_T5 = {
    "d_model": 16,
    "d_kv": 4,
    "num_layers": 2,
    "num_heads": 4,
    "d_ff": 24,
    "vocab_size": VOCABULARY,
    "num_labels": 3,
    "pad_token_id": 0,
    "eos_token_id": 3,
    "decoder_start_token_id": 0,
}
_MODERN = _ENCODER | {"cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3}
_DEBERTA = _ENCODER | {
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "max_relative_positions": 32,
}
_DISTIL = {
    "dim": 16,
    "n_layers": 3,
    "n_heads": 4,
    "hidden_dim": 24,
    "vocab_size": VOCABULARY,
    "num_labels": 3,
}

# (class, config class, its options, tokenizer, position the head reads, float64 throughout)
Family = tuple[str, str, dict[str, Any], str, str, bool]


def _classifier(
    name: str, options: dict[str, Any], tokenizer: str, position: str, *, double: bool = True
) -> Family:
    classes = f"{name}ForSequenceClassification", f"{name}Config"
    return (*classes, options, tokenizer, position, double)


FAMILIES: dict[str, Family] = {
    "bert": _classifier("Bert", _ENCODER, "bert", "first"),
    "roberta": _classifier("Roberta", _ENCODER | {"type_vocab_size": 2}, "bert", "first"),
    "distilbert": _classifier("DistilBert", _DISTIL, "bert", "first"),
    "electra": _classifier("Electra", _ENCODER | {"embedding_size": 8}, "bert", "first"),
    "albert": _classifier("Albert", _ENCODER | {"embedding_size": 8}, "bert", "first"),
    "modernbert": _classifier("ModernBert", _MODERN, "bert", "first", double=False),
    "deberta": _classifier("Deberta", _DEBERTA, "bert", "first"),
    "deberta_v2": _classifier("DebertaV2", _DEBERTA, "bert", "first"),
    "gpt2": _classifier("GPT2", _GPT2 | {"pad_token_id": None}, "decoder", "last"),
    "llama": _classifier("Llama", _DECODER, "decoder", "last", double=False),
    "mistral": _classifier("Mistral", _DECODER, "decoder", "last", double=False),
    "qwen3": _classifier("Qwen3", _DECODER, "decoder", "last", double=False),
    "gemma2": _classifier("Gemma2", _DECODER, "decoder", "last", double=False),
    "bart": _classifier("Bart", _BART, "end", "end"),
    "t5": _classifier("T5", _T5, "end", "end"),
    "gpt2_lm": ("GPT2LMHeadModel", "GPT2Config", _GPT2, "decoder", "last", True),
    "bert_lm": ("BertForMaskedLM", "BertConfig", _ENCODER, "bert", "mask", True),
    "t5_lm": ("T5ForConditionalGeneration", "T5Config", _T5, "end", "start", True),
    "bart_lm": ("BartForConditionalGeneration", "BartConfig", _BART, "end", "start", True),
}


def tiny_tokenizer(kind: str) -> Any:
    """WordPiece that cuts every longer word in two; special tokens as of each kind of model."""
    special = SPECIAL[kind]
    long = [word for word in WORDS if len(word) > 2]
    listed = [*special, *(word[:2] for word in long), *(f"##{word[2:]}" for word in long), *WORDS]
    listed = [word for word in listed if word not in long] + [
        *LETTERS,
        *(f"##{letter}" for letter in LETTERS),
    ]
    vocabulary = {word: at for at, word in enumerate(dict.fromkeys(listed))}
    assert len(vocabulary) <= VOCABULARY
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]" if kind == "bert" else "<unk>"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    if kind == "bert":
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
        )
        return hf.PreTrainedTokenizerFast(
            tokenizer_object=made,
            pad_token="[PAD]",
            unk_token="[UNK]",
            cls_token="[CLS]",
            sep_token="[SEP]",
            mask_token="[MASK]",
            model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        )
    if kind == "end":
        made.post_processor = processors.TemplateProcessing(
            single="$A </s>", pair="$A $B </s>", special_tokens=[("</s>", vocabulary["</s>"])]
        )
        return hf.PreTrainedTokenizerFast(
            tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", eos_token="</s>"
        )
    return hf.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>")


def tiny_model(name: str, **options: Any) -> Any:
    kind, config, defaults, _, _, double = FAMILIES[name]
    return drawn(getattr(hf, kind)(getattr(hf, config)(**(defaults | options))), double=double)


def drawn(model: Any, *, double: bool = True) -> Any:
    source = torch.Generator().manual_seed(1)
    model = (model.double() if double else model.float()).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.copy_(
                    torch.randn(parameter.shape, generator=source, dtype=torch.float64) / 2
                )
    return model


def tiny(name: str, **options: Any) -> tuple[Any, Any]:
    """The model and its tokenizer."""
    return tiny_model(name, **options), tiny_tokenizer(FAMILIES[name][3])


def texts_for(name: str) -> list[str]:
    return [f"{text} [MASK]" for text in TEXTS] if name == "bert_lm" else TEXTS
