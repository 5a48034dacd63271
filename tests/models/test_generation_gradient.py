"""Input × gradient in bounded memory: equal to the plain gradient, in every family."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attnaudit.models.huggingface.generation import input_gradient as module
from attnaudit.models.huggingface.layers import layer_modules
from tiny_generation import EXAMPLES, FAMILIES, tiny_generator

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("family", FAMILIES)
def test_layers_that_are_run_again_give_the_same_gradient(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny_generator(family)
    (batch,) = model.batches(EXAMPLES)
    record = model.read(batch)
    plain = model.input_gradient(record)
    layers = layer_modules(model.model)
    leaves = [each for layer in layers for each in layer.modules() if not [*each.children()]]
    runs = {id(each): 0 for each in leaves}

    def count(each: torch.nn.Module, *_: Any) -> None:
        runs[id(each)] += 1

    handles = [each.register_forward_hook(count) for each in leaves]
    before = [dict(layer.__dict__) for layer in layers]
    monkeypatch.setattr(module, "LONG", 0)
    again = model.input_gradient(record)
    for handle in handles:
        handle.remove()
    assert float(plain.abs().max()) > 1e-3
    assert float((again - plain).abs().max()) <= 1e-5 * float(plain.abs().max())
    assert all("forward" not in layer.__dict__ for layer in layers)
    assert [set(each) for each in before] == [set(layer.__dict__) for layer in layers]
    assert max(runs.values()) == 2
    assert all(parameter.grad is None for parameter in model.model.parameters())
    assert all(parameter.requires_grad for parameter in model.model.parameters())


def test_fewer_activations_are_held_when_layers_are_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = tiny_generator("llama")
    (batch,) = model.batches(EXAMPLES)
    record = model.read(batch)

    def held() -> int:
        """Numbers that are kept of the layers between forward and backward pass."""
        kept: dict[int, int] = {}

        def pack(tensor: torch.Tensor) -> torch.Tensor:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            return tensor

        parameters = {p.untyped_storage().data_ptr() for p in model.model.parameters()}
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            sequences = module.answer_passes.sequences_of(batch, None)
            inputs = record.embeddings.detach().requires_grad_()
            with torch.enable_grad():
                module.answer_passes.token_log_probs(
                    model.model, batch, sequences, embedding=model.embedding, embeddings=inputs
                )
        return sum(size for place, size in kept.items() if place not in parameters)

    plain = held()
    with module.layers_run_again(model.model):
        bounded = held()
    assert bounded < plain / 2


def test_a_model_in_training_mode_is_differentiated_without_dropout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model: Any = tiny_generator("gpt2")
    (batch,) = model.batches(EXAMPLES)
    record = model.read(batch)
    plain = model.input_gradient(record)
    monkeypatch.setattr(module, "LONG", 0)
    for each in model.model.modules():
        if isinstance(each, torch.nn.Dropout):
            each.p = 0.5
    model.model.train()
    assert torch.allclose(model.input_gradient(record), plain, rtol=1e-5, atol=1e-6)
    assert model.model.training
