"""Shapley values against enumeration of all subsets."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.measures.integrated_gradients import integrated_gradients
from attnaudit.measures.lime import lime
from attnaudit.measures.shap import shap
from attribution_cases import (
    TEXTS,
    along_the_path,
    batch_of,
    case,
    difference,
    every_case,
    items_of,
    made,
    shapley,
)
from random_models import padded


@pytest.mark.parametrize("name", ["bilstm", "query, candidates", "pairs"])
def test_kernel_shap_is_close_to_the_shapley_values(name: str) -> None:
    model, record = case(name)
    texts = record.batch.rows(torch.tensor([0, 3]))
    with torch.no_grad():
        record = model.read(texts)
    found = shap(model, record, 0, n_samples=3000, signed=True)
    assert found[~record.content].isnan().all()
    for index in range(2):
        expected = shapley(model, record, index)
        size = abs(expected).max()
        np.testing.assert_allclose(
            found[index, items_of(record, index)], expected, atol=0.04 * size
        )
        # Efficiency, by the weight Captum gives the two ends.
        assert float(found[index].nansum()) == pytest.approx(
            difference(model, record, index), abs=1e-4
        )
    rough = shap(model, record, 0, n_samples=20, signed=True)[0, items_of(record, 0)]
    assert (
        abs(rough.numpy() - shapley(model, record, 0)).max() > 0
    )  # an estimate, and it says how good
    assert torch.equal(
        shap(model, record, 0, n_samples=20)[record.content],
        shap(model, record, 0, n_samples=20, signed=True)[record.content].abs(),
    )


def test_kernel_shap_is_a_rough_estimate_with_its_default_samples() -> None:
    """Texts of nine words: most within a tenth of the largest exact value, not all within 4 %."""
    draw = torch.Generator().manual_seed(5)
    tokens = padded(tuple(torch.randint(4, 30, (9,), generator=draw).tolist() for _ in range(6)))
    model = made(encoder="mlp:hidden=4", projection="sparsemax")
    with torch.no_grad():
        record = model.read(Batch(tuple(map(str, range(6))), tokens, tokens > 0))
    found = shap(model, record, 0, signed=True)
    errors = []
    for index in range(6):
        expected = shapley(model, record, index)
        off = abs(found[index, items_of(record, index)].numpy() - expected).max()
        errors.append(off / abs(expected).max())
    assert np.median(errors) < 0.1
    assert max(errors) > 0.04


def test_kernel_shap_is_exact_if_items_do_not_interact() -> None:
    """The output layer is made so small that p is nearly linear."""
    model = made(encoder="none", projection="uniform")
    with torch.no_grad():
        model.output.context.weight *= 1e-2
        record = model.read(batch_of())
    found = shap(model, record, 0, n_samples=60, signed=True)
    for index in range(len(TEXTS)):
        np.testing.assert_allclose(
            found[index, items_of(record, index)], shapley(model, record, index), atol=2e-5
        )


@every_case
def test_gradient_shap_is_integrated_gradients_with_random_steps(name: str) -> None:
    model, record = case(name)
    path = along_the_path(model, record, 300)
    real = record.content.numpy()
    exact = integrated_gradients(model, record, 0, signed=True, tolerance=1e-3).numpy()
    known = real & ~np.isnan(exact)
    assert known.any()
    np.testing.assert_allclose(path.mean(0)[known], exact[known], atol=2e-3 * abs(path).max())
    found = shap(model, record, 0, kind="gradient", n_samples=2000, signed=True).numpy()
    np.testing.assert_array_equal(np.isnan(found), ~real)
    error = path.std(0) / math.sqrt(2000)
    assert (abs(found - path.mean(0)) <= 4.5 * error + 1e-4)[real].all()
    assert (abs(found - 1.2 * path.mean(0)) > 4.5 * error + 1e-4)[real].any()  # the bound can tell
    noisy = shap(model, record, 0, kind="gradient", n_samples=20, stdevs=0.5)
    assert not torch.equal(
        noisy[record.content], shap(model, record, 0, kind="gradient", n_samples=20)[record.content]
    )


def test_shap_rejects_unknown_options() -> None:
    model, record = case("linear")
    with pytest.raises(InputError, match=r"no kind of shap 'deep'\. Choose from: kernel, gradient"):
        shap(model, record, 0, kind="deep")
    with pytest.raises(InputError, match="n_samples must be 1 or more, got 0"):
        shap(model, record, 0, n_samples=0)
    with pytest.raises(InputError, match="penalty must be 0 or more, got -1"):
        lime(model, record, 0, penalty=-1)
