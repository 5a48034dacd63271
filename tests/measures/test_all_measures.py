"""What holds for every measure, and what each sees of the glass models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnaudit import statistics
from attnaudit.auditing.audit import audit
from attnaudit.core.errors import NotApplicable
from attnaudit.measures import DEFAULT_MEASURES, MEASURES, REFERENCE_MEASURES
from attnaudit.measures.gradient_norm import gradient_norm
from attnaudit.measures.hidden_gradient import hidden_gradient
from attnaudit.measures.hidden_leave_one_out import hidden_leave_one_out
from attnaudit.measures.influence import influence
from attnaudit.models.glass import KINDS, Glass, glass_batch
from gradient_cases import case, every_case, same
from word_cases import (
    word_case,
)


@pytest.mark.parametrize("measure", [name for name in MEASURES if name != "random"])
def test_a_measure_is_the_same_with_and_without_gradient_mode(measure: str) -> None:
    model, record = word_case("four classes, query, candidates")
    found = []
    for mode in (torch.no_grad, torch.enable_grad):
        with mode():
            try:
                found.append(MEASURES[measure](model, record, 0).detach().numpy())
            except NotApplicable as reason:
                found.append(str(reason))
    np.testing.assert_array_equal(*found)
    # What cannot be asked of a recurrent network says so in both.
    assert isinstance(found[0], str) == (measure in ("rollout", "deeplift", "head_mean"))


def test_default_and_reference_measures_are_registered() -> None:
    assert set(DEFAULT_MEASURES) < set(MEASURES)
    assert set(REFERENCE_MEASURES) <= set(DEFAULT_MEASURES)
    assert set(MEASURES) - set(DEFAULT_MEASURES) == {
        *(
            "input_times_gradient",
            "head_mean",
            "influence",
            "rollout",
            "value_zeroing",
            "integrated_gradients",
            "shap",
            "lime",
        ),
        "deeplift",
    }


GRADIENTS: dict[str, Callable[..., Tensor]] = {
    name: MEASURES[name]
    for name in (
        "gradient_norm",
        "input_times_gradient",
        "hidden_gradient",
        "hidden_leave_one_out",
        "attention_norm",
        "value_zeroing",
        "influence",
    )
}


@every_case
@pytest.mark.parametrize("measure", GRADIENTS)
@torch.no_grad()
def test_scores_do_not_depend_on_the_batch_and_the_model_is_left_unchanged(
    name: str, measure: str
) -> None:
    model, record = case(name)
    together = GRADIENTS[measure](model, record, 0)
    for index in (1, 3):
        only = record.batch.rows(torch.tensor([index]))
        alone = model.read(only.without(torch.zeros_like(only.mask)))
        found = GRADIENTS[measure](model, alone, 0)[0]
        rows, items = alone.alpha.shape[1:]
        expected = together[index][..., :items]
        same(found, expected if expected.dim() == 1 else expected[:rows], 1e-10)
        assert found.isfinite().any() == (
            measure not in ("hidden_leave_one_out", "value_zeroing") or int(alone.length) > 1
        )
    if isinstance(model, nn.Module):
        assert all(parameter.grad is None for parameter in model.parameters())
    assert not record.embeddings.requires_grad


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_glass_models_show_what_each_measure_can_see(kind: str, dtype: torch.dtype) -> None:
    model, batch = Glass(kind, dtype=dtype), glass_batch(32)  # type: ignore[arg-type]
    record = model.read(batch)
    attention = record.alpha[:, 0]
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12

    def tau(scores: Tensor) -> Tensor:
        return statistics.kendall(attention, scores, record.content)[0]

    words = gradient_norm(model, record, 0)
    if kind == "inert":  # every word moves every state alike
        even = record.content.to(dtype) / record.length[:, None]
        same(words[record.content], even[record.content], tolerance)
        assert tau(words).isnan().all()
    elif kind == "oracle":
        same(words[record.content], attention[record.content], tolerance)
        assert (tau(words) > 0.999).all()
    else:  # the last word is carried nowhere, the others to the next place
        later = torch.zeros_like(attention)
        later[:, :-1] = attention[:, 1:]
        expected = later / later.sum(-1, keepdim=True)
        same(words[record.content], expected[record.content], tolerance)
        assert tau(words).mean() < 0.2
    # The attention depends on no state: the slope at each is its weight, whatever the fault.
    same(hidden_gradient(model, record, 0)[record.content], attention[record.content], tolerance)
    left = hidden_leave_one_out(model, record, 0)
    if kind == "inert":  # all states are equal: none matters
        assert left.isnan().all()
    else:
        assert torch.equal(left.nan_to_num(-1).argmax(-1), attention.argmax(-1))
    traced = influence(model, record, 0)[:, 0]
    if kind == "oracle":  # fillers are 0 and stay 0 in length
        assert traced[record.content].isnan().any()


def test_default_measures_run_in_an_audit_and_the_others_on_request() -> None:
    batch = glass_batch(6)
    results = audit(
        Glass("oracle"), batch, audits=["agreement"], show_progress=False, keep_examples=0
    )
    assert results.about["measures"] == list(DEFAULT_MEASURES)
    assert results.about["measures_not_applicable"] == {}
    asked = ["influence:norm=1", "hidden_leave_one_out:renormalise=true", "rollout"]
    results = audit(
        Glass("shifted"),
        batch,
        audits=["agreement"],
        measures=asked,
        show_progress=False,
        keep_examples=0,
    )
    assert results.about["measures_not_applicable"] == {
        "rollout": "the model has no layers of self-attention below the site to follow"
    }
    assert set(asked[:2]) <= set(results.frame()["measure"].astype(str))
