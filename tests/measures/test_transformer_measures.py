"""Rollout, norms and value zeroing of every family, against plain computations from the weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.distance import cosine
from torch import Tensor, nn

from attnaudit.core.errors import NotApplicable
from attnaudit.measures import MEASURES
from attnaudit.measures.attention_norm import attention_norm
from attnaudit.measures.rollout import rollout
from attnaudit.measures.value_zeroing import value_zeroing
from attnaudit.models.huggingface import from_huggingface, text_batches
from tiny_transformers import FAMILIES, tiny
from transformer_cases import PARTS, plain_pass, read, weights_by_layer

TAPPED = ("deberta", "deberta_v2")


def tolerance(name: str) -> float:
    return 1e-10 if FAMILIES[name][5] else 2e-5


def words_of(record: Any, index: int) -> list[np.ndarray]:
    """The tokens of each item of a text."""
    items = record.item_of_token[index][record.batch.mask[index]].numpy()
    return [np.flatnonzero(items == item) for item in range(items.max() + 1)]


def rolled_by_hand(model: Any, record: Any, index: int, layers: int | None = None) -> np.ndarray:
    """(items,): the product of the layers in NumPy, then the sum over each word's tokens."""
    between, audited = weights_by_layer(model, plain_pass(model, record, index))
    product = np.eye(len(between[0]))
    for weights in between[:layers]:
        mixed = 0.5 * weights.double().numpy() + 0.5 * np.eye(len(product))
        product = (mixed / mixed.sum(-1, keepdims=True)) @ product
    position = int(record.state.positions[index])
    if model.model.config.is_encoder_decoder:
        row = audited[-1][:, position].double().numpy().mean(0) @ product
    else:
        row = product[position]
    return np.array([row[word].sum() for word in words_of(record, index)])


@pytest.mark.parametrize("name", FAMILIES)
def test_rollout_equals_the_product_of_the_models_own_attentions(name: str) -> None:
    model, record = read(name)
    found = rollout(model, record, 0)
    assert found.shape == record.content.shape
    for index in range(len(record.batch)):
        expected = rolled_by_hand(model, record, index)
        np.testing.assert_allclose(found[index, : len(expected)], expected, atol=tolerance(name))
        assert not found[index, len(expected) :].any()
        assert abs(expected.sum() - 1) < 1e-5
    assert (found - record.alpha.mean(1)).abs().max() > 1e-2


def test_rollout_merges_words_after_the_product_and_not_before() -> None:
    """The older form: attention between words, mean over a word's tokens, then the product."""
    model, record = read("bert")
    found = rollout(model, record, 0)[0].numpy()
    between, _ = weights_by_layer(model, plain_pass(model, record, 0))
    words = words_of(record, 0)
    merged = np.eye(len(words))
    for weights in between:
        matrix = weights.numpy()
        of_words = np.array([[matrix[np.ix_(a, b)].sum(1).mean() for b in words] for a in words])
        merged = 0.5 * (of_words + np.eye(len(words))) @ merged
    assert abs(found - merged[0]).max() > 1e-3


def test_rollout_of_several_layers_has_each_rows_own_layer() -> None:
    model, record = read("bert", layers=[0, 2], heads=[3, 1])
    found = rollout(model, record, 0)
    assert found.shape == record.alpha.shape
    for row, layers in enumerate((1, 1, 3, 3)):
        expected = rolled_by_hand(model, record, 1, layers)
        np.testing.assert_allclose(found[1, row, : len(expected)], expected, atol=1e-10)


def norms_by_hand(model: Any, record: Any, index: int, name: str) -> np.ndarray:
    """(heads,items): norms of weighted, projected values, from the weights and the inputs."""
    parts, kept = PARTS[name], []

    def keep(_: nn.Module, args: tuple[Tensor, ...], __: Any) -> None:
        kept.append(args[0][0])

    path = f"{parts.layer}.{parts.value}".replace(".", "/")
    out = plain_pass(model, record, index, **{path: keep})
    value, project = (
        model.model.get_submodule(f"{parts.layer}.{part}") for part in (parts.value, parts.output)
    )
    (weight, bias), (w_out, _) = (_weights(module) for module in (value, project))
    columns = parts.columns(weight.shape[1]).numpy()
    states = kept[-1].numpy() @ weight[:, columns] + bias[columns]  # (S, kv heads · D)
    alpha = weights_by_layer(model, out)[1][-1][:, int(record.state.positions[index])].numpy()
    heads = len(alpha)
    size = w_out.shape[0] // heads
    shared = heads // (states.shape[1] // size)  # heads per group
    norms = np.zeros((heads, len(words_of(record, index))))
    for head in range(heads):
        group = head // shared
        vectors = states[:, group * size : (group + 1) * size]
        projected = vectors @ w_out[head * size : (head + 1) * size]
        for item, word in enumerate(words_of(record, index)):
            together = sum(alpha[head, token] * projected[token] for token in word)
            norms[head, item] = np.sqrt((together**2).sum())
    return norms


def _weights(module: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    """The matrix (in, out) and the bias of a linear layer; GPT-2 stores its own transposed."""
    weight = module.weight.detach().numpy()
    weight = weight.T if isinstance(module, nn.Linear) else weight
    bias = np.zeros(weight.shape[1]) if module.bias is None else module.bias.detach().numpy()
    return weight, bias


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in TAPPED])
def test_norms_equal_a_computation_from_the_weights(name: str) -> None:
    model, record = read(name)
    with torch.no_grad():  # the tiny models have no biases of their own to be wrong about
        for module in model.model.modules():
            if getattr(module, "bias", None) is not None and not isinstance(module, nn.LayerNorm):
                module.bias.normal_(0, 0.3, generator=torch.Generator().manual_seed(2))
        record = model.read(record.batch)
    found = attention_norm(model, record, 0)
    assert found.shape == record.alpha.shape
    for index in range(len(record.batch)):
        expected = norms_by_hand(model, record, index, name)
        largest = max(1.0, expected.max())
        np.testing.assert_allclose(
            found[index, :, : expected.shape[1]], expected, atol=tolerance(name) * largest
        )
        assert not found[index, :, expected.shape[1] :].any()
    shares = found / found.sum(-1, keepdim=True)
    assert (shares - record.alpha).abs().max() > 1e-2


def test_norms_of_some_layers_and_heads_are_those_rows_of_all() -> None:
    model, record = read("gpt2", layers="all")
    every = attention_norm(model, record, 0)
    some = attention_norm(*read("gpt2", layers=[0, 2], heads=[3, 1]), 0)
    assert torch.equal(some, every[:, [1, 3, 9, 11]])


@pytest.mark.parametrize("name", TAPPED)
def test_norms_do_not_apply_where_the_values_are_out_of_reach(name: str) -> None:
    with pytest.raises(NotApplicable, match="out of reach"):
        attention_norm(*read(name), 0)


def test_norms_do_not_apply_if_more_than_a_projection_follows() -> None:
    class Bent(nn.Linear):
        def forward(self, inputs: Tensor) -> Tensor:
            return super().forward(inputs).tanh()

    hugging, tokenizer = tiny("bert")
    hugging.bert.encoder.layer[2].attention.output.dense = Bent(16, 16).double()
    model = from_huggingface(hugging, tokenizer)
    record = model.read(model.batches(["the film was good"])[0])
    with pytest.raises(NotApplicable, match="straight into a linear projection"):
        attention_norm(model, record, 0)


def zeroed_by_hand(model: Any, record: Any, index: int, name: str) -> np.ndarray:
    """(items,): run the whole model once per word, its values set to 0 by a hook."""
    parts, position = PARTS[name], int(record.state.positions[index])
    layer, value = (
        path.replace(".", "/") for path in (parts.layer, f"{parts.layer}.{parts.value}")
    )

    def output_without(word: np.ndarray) -> np.ndarray:
        kept: list[Tensor] = []
        calls: list[int] = []

        def zero(_: nn.Module, __: Any, out: Tensor) -> Tensor:
            calls.append(1)
            if len(calls) < (3 if name == "albert" else 1):  # one module for three layers
                return out
            out = out.clone()
            out[:, torch.tensor(word)[:, None], parts.columns(out.shape[-1])[None]] = 0
            return out

        def keep(_: nn.Module, __: Any, out: Any) -> None:
            kept.append(out[0] if isinstance(out, tuple) else out)

        plain_pass(model, record, index, **{value: zero, layer: keep})
        return kept[-1][0, position].double().numpy()

    whole = output_without(np.array([], dtype=np.int64))
    return np.array([cosine(whole, output_without(word)) for word in words_of(record, index)])


@pytest.mark.parametrize("name", FAMILIES)
def test_value_zeroing_equals_a_pass_per_word_with_its_values_set_to_zero(name: str) -> None:
    model, record = read(name)
    found = value_zeroing(model, record, 0)
    assert found.shape == record.content.shape
    assert torch.equal(found.isnan(), ~record.content)
    for index in (0, 1):
        expected = zeroed_by_hand(model, record, index, name)
        real = record.content[index, : len(expected)].numpy()
        assert expected[real].max() > 1e-4
        np.testing.assert_allclose(
            found[index, : len(expected)][real],
            expected[real],
            rtol=0 if FAMILIES[name][5] else 1e-4,
            atol=1e-12 if FAMILIES[name][5] else 1e-7,
        )


def test_value_zeroing_of_several_layers_has_each_rows_own_layer() -> None:
    model, record = read("bert", layers=[1, 2], heads=[3, 1])
    found = value_zeroing(model, record, 0)
    assert found.shape == record.alpha.shape
    for row, layer in ((0, 1), (1, 1), (2, 2), (3, 2)):
        one = value_zeroing(*read("bert", layers=layer, heads=0), 0)
        np.testing.assert_allclose(found[:, row], one, atol=1e-12)


def test_value_zeroing_does_not_depend_on_how_passes_are_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("bert", "deberta"):
        model, record = read(name)
        whole = value_zeroing(model, record, 0)
        monkeypatch.setattr(model, "tokens_at_once", lambda: 1)
        np.testing.assert_allclose(value_zeroing(model, record, 0), whole, atol=1e-14)


# What holds for every measure, on every family.
OURS = ("rollout", "attention_norm", "value_zeroing")


def scores(measure: str, model: Any, record: Any) -> Tensor | None:
    try:
        return MEASURES[measure](model, record, 0)
    except NotApplicable:
        return None


def fingerprint(hugging: nn.Module) -> list[Any]:
    return [
        (
            len(module._forward_hooks) + len(module._forward_pre_hooks),
            "forward" in module.__dict__,
            module.training,
        )
        for module in hugging.modules()
    ] + [(parameter.grad is None, parameter._version) for parameter in hugging.parameters()]


@pytest.mark.parametrize("name", FAMILIES)
def test_scores_keep_the_laws_of_measures(name: str) -> None:
    model, record = read(name)
    model.model.train()
    before = fingerprint(model.model)
    limit = tolerance(name)
    for measure in OURS:
        together = scores(measure, model, record)
        assert (together is None) == (measure == "attention_norm" and name in TAPPED)
        if together is None:
            continue
        assert (together[~together.isnan()] >= 0).all()
        assert not together.requires_grad
        with torch.enable_grad():
            graph = model.read(record.batch, record.embeddings.clone().requires_grad_())
            again = scores(measure, model, graph)
        assert again is not None
        assert not again.requires_grad
        scale = max(1.0, float(together.nan_to_num().max()))
        np.testing.assert_allclose(again, together, atol=limit * scale)
        for index in range(len(record.batch)):  # alone, without padding
            only = record.batch.rows(torch.tensor([index]))
            alone = model.read(only.without(torch.zeros_like(only.mask)))
            found = scores(measure, model, alone)
            assert found is not None
            np.testing.assert_allclose(
                found[0].detach(),
                together[index][..., : found.shape[-1]],
                atol=limit * scale,
            )
    assert fingerprint(model.model) == before


def test_words_of_one_token_are_tokens() -> None:
    """Without words of several tokens, the rows of a text batch and of its tokens are the same."""
    model, tokenizer = tiny("bert")
    wrapped = from_huggingface(model, tokenizer)
    (batch,) = text_batches(["a a it it"], tokenizer)
    record = wrapped.read(batch)
    assert record.content.shape[1] == batch.tokens.shape[1]
    expected = rolled_by_hand(wrapped, record, 0)
    np.testing.assert_allclose(rollout(wrapped, record, 0)[0], expected, atol=1e-10)
