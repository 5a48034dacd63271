"""What tests need to compute a transformer's measures by hand: plain passes, and where weights are.

Texts are run one by one, without padding, by the user's model itself with eager attention.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from attnaudit.models.huggingface import from_huggingface
from tiny_transformers import texts_for, tiny


def read(name: str, **options: Any) -> tuple[Any, Any]:
    """The wrapped model of a family, and its record of the texts."""
    model = from_huggingface(*tiny(name), **options)
    (batch,) = model.batches(texts_for(name))
    with torch.no_grad():
        return model, model.read(batch)


def columns_all(width: int) -> Tensor:
    return torch.arange(width)


def columns_last_third(width: int) -> Tensor:
    return torch.arange(2 * width // 3, width)


def columns_of_deberta(width: int) -> Tensor:
    """Query, key and value of a head are next to each other, 4 columns each."""
    return torch.arange(width)[torch.arange(width) % 12 >= 8]


@dataclass(frozen=True)
class Parts:
    """The modules of the last layer whose attention is audited, by their paths."""

    layer: str
    value: str  # below the layer; its output holds the values
    output: str  # below the layer; the projection of the attended sums
    columns: Callable[[int], Tensor] = columns_all  # of the output of `value`


_BERT = ("attention.self.value", "attention.output.dense")
_LLAMA = ("self_attn.v_proj", "self_attn.o_proj")
_BART = ("encoder_attn.v_proj", "encoder_attn.out_proj")
_T5 = ("layer.1.EncDecAttention.v", "layer.1.EncDecAttention.o")
PARTS = {
    "bert": Parts("bert.encoder.layer.2", *_BERT),
    "roberta": Parts("roberta.encoder.layer.2", *_BERT),
    "distilbert": Parts("distilbert.transformer.layer.2", "attention.v_lin", "attention.out_lin"),
    "electra": Parts("electra.encoder.layer.2", *_BERT),
    "albert": Parts(
        "albert.encoder.albert_layer_groups.0.albert_layers.0", "attention.value", "attention.dense"
    ),
    "modernbert": Parts("model.layers.2", "attn.Wqkv", "attn.Wo", columns_last_third),
    "deberta": Parts(
        "deberta.encoder.layer.2",
        "attention.self.in_proj",
        "attention.output.dense",
        columns_of_deberta,
    ),
    "deberta_v2": Parts(
        "deberta.encoder.layer.2", "attention.self.value_proj", "attention.output.dense"
    ),
    "gpt2": Parts("transformer.h.2", "attn.c_attn", "attn.c_proj", columns_last_third),
    "llama": Parts("model.layers.2", *_LLAMA),
    "mistral": Parts("model.layers.2", *_LLAMA),
    "qwen3": Parts("model.layers.2", *_LLAMA),
    "gemma2": Parts("model.layers.2", *_LLAMA),
    "bart": Parts("model.decoder.layers.1", *_BART),
    "t5": Parts("transformer.decoder.block.1", *_T5),
    "gpt2_lm": Parts("transformer.h.2", "attn.c_attn", "attn.c_proj", columns_last_third),
    "bert_lm": Parts("bert.encoder.layer.2", *_BERT),
    "t5_lm": Parts("decoder.block.1", *_T5),
    "bart_lm": Parts("model.decoder.layers.1", *_BART),
}


def plain_pass(model: Any, record: Any, index: int, **hooks: Callable[..., Any]) -> Any:
    """Run the user's model on one text; hooks, by the path of a module with / for its dots."""
    hugging, batch = model.model, record.batch
    real = batch.mask[index]
    arguments: dict[str, Any] = {
        "input_ids": batch.tokens[index : index + 1, real],
        "output_attentions": True,
    }
    parameters = signature(hugging.forward).parameters
    if batch.types is not None and "token_type_ids" in parameters:
        arguments["token_type_ids"] = batch.types[index : index + 1, real]
    if "use_cache" in parameters:
        arguments["use_cache"] = False
    if model.decision.decoder_start is not None:
        arguments["decoder_input_ids"] = torch.tensor([[model.decision.decoder_start]])
    before = hugging.config._attn_implementation
    hugging.set_attn_implementation("eager")
    with ExitStack() as stack:
        stack.callback(hugging.set_attn_implementation, before)
        for path, hook in hooks.items():
            module = hugging.get_submodule(path.replace("/", "."))
            stack.callback(module.register_forward_hook(hook).remove)
        with torch.no_grad():
            return hugging(**arguments)


def weights_by_layer(model: Any, out: Any) -> tuple[list[Tensor], list[Tensor]]:
    """Self-attention (T,T) of the layers below, and the audited layers' (H,T,S), from a pass."""
    if model.model.config.is_encoder_decoder:
        return [each[0].mean(0) for each in out.encoder_attentions], [
            each[0] for each in out.cross_attentions
        ]
    return [each[0].mean(0) for each in out.attentions], [each[0] for each in out.attentions]
