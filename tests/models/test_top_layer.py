"""The last layer for one token gives the logits of the whole model, or is not used."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.huggingface import from_huggingface, passes
from attnaudit.models.huggingface.plain_logits import logits_of_pass
from attnaudit.models.huggingface.top_layer import TopLayer, _AttentionReached, top_layer_for
from tiny_transformers import FAMILIES, texts_for, tiny

TWO_ATTENTIONS = ("bart", "t5")  # in the last layer, with a mask for all tokens


def wrapped(name: str, **options: Any) -> tuple[Any, Any]:
    model = from_huggingface(*tiny(name), **options)
    (batch,) = model.batches(texts_for(name))
    return model, batch


def own_logits(model: Any, batch: Any) -> Tensor:
    """Those of the user's model, text by text without padding."""
    inputs, positions = model.model_inputs(batch)
    parts = []
    for index in range(len(batch)):
        rows = inputs.rows(torch.tensor([index]), int(batch.mask[index].sum()))
        with torch.no_grad(), passes.padding_token_set(model.model.config, inputs.pad):
            out = model.model(**passes.arguments(model.model, rows)).logits
        parts.append(model.decision.logits(out, positions[index : index + 1]))
    return torch.cat(parts)


@pytest.mark.parametrize("name", FAMILIES)
def test_logits_are_those_of_the_whole_model(name: str) -> None:
    model, batch = wrapped(name)
    assert model.top_layer_is_short == (name not in TWO_ATTENTIONS)
    expected = own_logits(model, batch)
    with torch.no_grad():
        found = model.read_logits(batch)
    assert (found - expected).abs().max() <= tolerance_of(expected)
    assert (expected[0] - expected[1]).abs().max() > 1e-3


@pytest.mark.parametrize(("name", "kind"), [("bert", "output"), ("gpt2", "mlp"), ("llama", "mlp")])
def test_the_last_layer_sees_one_token_of_each_text_and_the_others_all(
    name: str, kind: str
) -> None:
    model, batch = wrapped(name)
    shapes = []

    def watched(forward: Any) -> Any:  # by a hook it would be seen, and all tokens read
        def run(*given: Any, **more: Any) -> Any:
            out = forward(*given, **more)
            shapes.append(tuple(out.shape[:2]))
            return out

        return run

    for layer in model.wiring.layers:
        module = layer.get_submodule(kind)
        module.forward = watched(module.forward)
    inputs, positions = model.model_inputs(batch)
    with torch.no_grad():
        short = logits_of_pass(model, inputs, positions, short=True)
        assert shapes == [*2 * [tuple(batch.tokens.shape)], (len(batch), 1)]
        whole = logits_of_pass(model, inputs, positions, short=False)
    assert (short - whole).abs().max() <= tolerance_of(whole)


def test_a_head_that_reads_other_tokens_gets_them_all() -> None:
    hugging, tokenizer = tiny("modernbert", classifier_pooling="mean")
    model = from_huggingface(hugging, tokenizer, query=1)
    assert not model.top_layer_is_short
    (batch,) = model.batches(texts_for("modernbert"))
    inputs, positions = model.model_inputs(batch)
    with torch.no_grad():
        whole = logits_of_pass(model, inputs, positions, short=False)
        torch.testing.assert_close(model.read_logits(batch), whole)
        assert (logits_of_pass(model, inputs, positions, short=True) - whole).abs().max() > 1e-3


def test_another_attention_function_is_run_as_it_is() -> None:
    model, batch = wrapped("bert")
    model.model.set_attn_implementation("eager")
    inputs, positions = model.model_inputs(batch)
    with torch.no_grad():
        short = logits_of_pass(model, inputs, positions, short=True)
        assert torch.equal(short, logits_of_pass(model, inputs, positions, short=False))


def test_layers_are_as_before_even_after_an_exception() -> None:
    model, batch = wrapped("bert")
    _, positions = model.model_inputs(batch)
    with pytest.raises(TypeError), top_layer_for(model.wiring, positions):
        model.wiring.layers[-1](None, None, None, None, None, None, None)
    assert not any("forward" in module.__dict__ for module in model.model.modules())


@pytest.mark.parametrize("mask", ["none", "causal", "of keys", "of queries", "added"])
def test_attention_from_one_position_is_that_row_of_all_attention(mask: str) -> None:
    draw = torch.Generator().manual_seed(0)
    query, key, value = torch.randn(3, 2, 4, 6, 5, generator=draw, dtype=torch.float64)
    positions = torch.tensor([0, 3])
    options: dict[str, Any] = {"scale": 0.3}
    if mask == "causal":
        options["is_causal"] = True
    elif mask != "none":
        shape = (2, 1, 1, 6) if mask == "of keys" else (2, 1, 6, 6)
        allowed = torch.rand(shape, generator=draw) < 0.7
        allowed[..., 0] = True
        scores = torch.randn(shape, generator=draw, dtype=torch.float64)
        options["attn_mask"] = scores if mask == "added" else allowed
    expected = scaled_dot_product_attention(query, key, value, **options)
    with pytest.raises(_AttentionReached) as caught:
        TopLayer(0, positions)._stop(query, key, value, **options)
    torch.testing.assert_close(
        caught.value.args[0][:, :, 0], expected[torch.arange(2), :, positions]
    )


def test_a_hook_that_mixes_tokens_is_respected() -> None:
    model, batch = wrapped("bert")
    assert model.top_layer_is_short

    def mix(module: Any, given: Any, out: Any) -> Any:
        mixed = out[0] if isinstance(out, tuple) else out
        mixed = mixed + mixed.mean(1, keepdim=True)
        return (mixed, *out[1:]) if isinstance(out, tuple) else mixed

    with torch.no_grad():
        before = model.read_logits(batch)
        model.model.bert.encoder.layer[-1].register_forward_hook(mix)
        inputs, positions = model.model_inputs(batch)
        expected = model.decision.logits(passes.plain_logits(model.model, inputs), positions)
        found = model.read_logits(batch)
    assert (expected - before).abs().max() > 1e-3
    # Mixing padding in, too: texts are read in other groups.
    for each in (0, 1):
        rows = inputs.rows(torch.tensor([each]), int(batch.mask[each].sum()))
        with torch.no_grad():
            alone = passes.plain_logits(model.model, rows)
            logits = logits_of_pass(model, rows, positions[each : each + 1], short=True)
        assert (model.decision.logits(alone, positions[each : each + 1]) - logits).abs().max() == 0
    assert found.isfinite().all()


def test_decoding_in_inference_mode_leaves_nothing_that_gradients_cannot_use() -> None:
    model, batch = wrapped("bert")
    with torch.no_grad():
        record = model.read(batch)
    with torch.inference_mode():
        model.decode(record, record.alpha)
    weights = record.alpha.detach().clone().requires_grad_()
    (slope,) = torch.autograd.grad(model.decode(record, weights).sum(), weights)
    assert slope.isfinite().all()
