"""What Captum's measures share: seeds, batches, removal, and nothing left behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch, Record
from attnaudit.core.special_tokens import END, START
from attnaudit.measures import attribution
from attnaudit.measures.deeplift import deeplift
from attnaudit.models.glass import KINDS, Glass, glass_batch
from attribution_cases import (
    CAPTUM,
    batch_of,
    case,
    difference,
    made,
    scores_of,
)


@pytest.mark.parametrize("measure", CAPTUM)
@pytest.mark.parametrize("name", ["query, candidates", "pairs"])
def test_a_text_scores_the_same_whatever_the_batch(name: str, measure: str) -> None:
    model, record = case(name)
    together = scores_of(measure, model, record)
    assert torch.equal(together.isnan(), ~record.content)
    with torch.no_grad():
        turned = model.read(record.batch.rows(torch.tensor([4, 1, 2])))
        only = record.batch.rows(torch.tensor([1]))
        alone = model.read(only.without(torch.zeros_like(only.mask)))
    found = scores_of(measure, model, turned)
    for index, source in enumerate((4, 1, 2)):
        items = found.shape[1]
        np.testing.assert_allclose(found[index], together[source, :items], atol=1e-6)
    np.testing.assert_allclose(
        scores_of(measure, model, alone)[0], together[1, : alone.content.shape[1]], atol=1e-6
    )


@pytest.mark.parametrize("measure", ["shap", "shap:gradient", "lime"])
def test_scores_depend_on_the_seed_and_not_on_the_global_generators(measure: str) -> None:
    model, record = case("bilstm")
    torch.manual_seed(5)
    np.random.seed(5)
    first = scores_of(measure, model, record, 1)
    drawn = torch.rand(3), np.random.rand(3)
    again = scores_of(measure, model, record, 1)
    other = scores_of(measure, model, record, 2)
    np.testing.assert_array_equal(first, again)
    assert (first - other).nan_to_num().abs().max() > 1e-4
    torch.manual_seed(5)
    np.random.seed(5)
    assert torch.equal(drawn[0], torch.rand(3))
    np.testing.assert_array_equal(drawn[1], np.random.rand(3))


def state_of(model: nn.Module) -> list[Any]:
    return [
        (
            module.training,
            sorted(vars(module)),
            *(
                len(getattr(module, name))
                for name in (
                    "_forward_hooks",
                    "_forward_pre_hooks",
                    "_backward_hooks",
                    "_backward_pre_hooks",
                )
            ),
        )
        for module in model.modules()
    ]


@pytest.mark.parametrize("measure", CAPTUM)
@pytest.mark.parametrize("fails", [False, True])
def test_the_model_is_left_unchanged_even_after_a_failure(measure: str, fails: bool) -> None:
    # No gradient reaches activations in the query's encoder: Captum leaves its attributes there.
    model = made(4, True, encoder="mlp:hidden=4")
    with torch.no_grad():
        record = model.read(batch_of(query=True, candidates=True))
    model.query_encoder.train()
    before, parameters = state_of(model), [each.clone() for each in model.parameters()]
    random = torch.get_rng_state()
    if fails:
        model.output.forward = lambda context, query: 1 / 0
        with pytest.raises(ZeroDivisionError):
            scores_of(measure, model, record)
        del model.output.forward  # that of its class again
    else:
        scores_of(measure, model, record)
    assert state_of(model) == before
    assert all(each.grad is None for each in model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(parameters, model.parameters(), strict=True))
    assert not record.embeddings.requires_grad
    assert torch.equal(random, torch.get_rng_state())


@pytest.mark.parametrize("measure", CAPTUM)
def test_items_are_removed_in_place_and_start_and_end_never(measure: str) -> None:
    model, record = case("linear")
    seen: list[tuple[Tensor, Tensor]] = []

    class Spy:
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            seen.append((batch.tokens, embeddings.detach()))  # type: ignore[union-attr]
            return model.read(batch, embeddings)

        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            return model.decode(record, alpha)

    scores_of(measure, Spy(), record)
    removed = 0
    for tokens, embeddings in seen:
        marks = (tokens == START) | (tokens == END)
        assert torch.equal(embeddings[marks], model.embedding.weight.detach()[tokens[marks]])
        removed += int((embeddings[tokens > END] == 0).all(-1).sum())
    assert removed > 0 or measure == "shap:gradient"


@pytest.mark.parametrize("measure", CAPTUM)
def test_a_single_item_gets_the_whole_difference(measure: str) -> None:
    model, record = case("linear")
    batch = record.batch
    batch = replace(batch, mask=batch.mask.clone())
    batch.mask[2, 1:] = False  # only the start mark is left
    with torch.no_grad():
        record = model.read(batch)
    found = scores_of(measure, model, record)
    assert found[2].isnan().all()
    assert torch.equal(found.isnan(), ~record.content)
    if measure in ("integrated_gradients", "shap"):
        assert float(found[3, 1]) == pytest.approx(abs(difference(model, record, 3)), abs=1e-6)
        assert float(found[3, 1]) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_glass_models_are_explained_by_their_deciding_word(kind: str) -> None:
    """Items are removed from the input, so Shifted's deciding word is found too."""
    model, batch = Glass(kind, dtype=torch.float64), glass_batch(6)  # type: ignore[arg-type]
    record = model.read(batch)
    deciding = batch.evidence.int().argmax(-1)  # type: ignore[union-attr]
    for measure in CAPTUM:
        found = scores_of(measure, model, record).nan_to_num(-1)
        assert torch.equal(found.argmax(-1), deciding), measure
    linear = deeplift(model, record, 0)  # exact: glass is linear in the embeddings
    assert (linear.nan_to_num().sort(-1).values[:, :-1].abs() < 1e-12).all()


def test_only_items_that_count_can_be_removed() -> None:
    _, record = case("pairs")
    content = record.content.clone()
    content[0, 1] = False
    less = replace(record, content=content)
    expected = (record.item_of_token >= 0) & ~(
        (record.item_of_token == 1) & (torch.arange(5) == 0)[:, None]
    )
    assert torch.equal(attribution.removable(less), expected)
    empty = attribution.baseline(less)
    assert (empty[expected] == 0).all()
    assert torch.equal(empty[~expected], record.embeddings[~expected])
