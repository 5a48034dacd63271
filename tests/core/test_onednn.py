"""The product of oneDNN: used where it is right, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from attnaudit.core import onednn

mkl_is_as_fast = onednn._mkl_is_as_fast  # before the fixture replaces it


pytestmark = pytest.mark.usefixtures("onednn_is_faster")


def test_the_product_equals_that_of_float64() -> None:
    draw = torch.Generator().manual_seed(0)
    values = torch.randn(3, 7, 24, generator=draw)
    weight, bias = torch.randn(40, 24, generator=draw), torch.randn(40, generator=draw)
    multiply = onednn.product_for(values)
    if multiply is None:
        pytest.skip("this PyTorch has no oneDNN")
    for given in (weight, weight.t().contiguous().t()):
        found = multiply(values, given, bias)
        expected = values.double() @ weight.double().t() + bias.double()
        torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-4)


def test_a_bias_of_any_strides_is_read_as_it_is() -> None:
    draw = torch.Generator().manual_seed(0)
    values, weight = torch.randn(5, 8, generator=draw), torch.randn(6, 8, generator=draw)
    multiply = onednn.product_for(values)
    if multiply is None:
        pytest.skip("this PyTorch has no oneDNN")
    for bias in (torch.randn(12, generator=draw)[::2], torch.tensor([3.0]).expand(6)):
        expected = values.double() @ weight.double().t() + bias.double()
        found = multiply(values, weight, bias)
        torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-4)


def test_other_types_and_devices_and_a_switch_are_respected() -> None:
    assert onednn.product_for(torch.zeros(2, dtype=torch.float64)) is None
    assert onednn.product_for(torch.zeros(2, dtype=torch.bfloat16)) is None
    assert onednn.product_for(torch.zeros(2, device="meta")) is None
    before = torch.backends.mkldnn.enabled
    torch._C._set_mkldnn_enabled(False)  # `flags` warns of other things
    try:
        assert onednn.product_for(torch.zeros(2)) is None
    finally:
        torch._C._set_mkldnn_enabled(before)


def test_a_product_that_is_missing_or_wrong_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        def __getattr__(self, name: str) -> object:
            raise AttributeError(name)

    class Wrong:
        @staticmethod
        def _linear_pointwise(rows: Tensor, weight: Tensor, *_: object) -> Tensor:
            return 1.01 * rows @ weight.t()

    find = onednn._by_onednn.__wrapped__
    for instead in (Missing(), Wrong()):
        monkeypatch.setattr(torch.ops, "mkldnn", instead)
        assert find() is None


@pytest.mark.parametrize(
    ("vendor", "has_mkl", "as_fast"),
    [("GenuineIntel", True, True), ("GenuineIntel", False, False), ("AuthenticAMD", True, False)],
)
def test_where_mkl_is_as_fast_onednn_is_not_used(
    monkeypatch: pytest.MonkeyPatch, vendor: str, has_mkl: bool, as_fast: bool
) -> None:
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: has_mkl)
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: f"vendor_id\t: {vendor}\n")
    monkeypatch.setattr(onednn, "_by_onednn", lambda: torch.mm)
    decide = mkl_is_as_fast.__wrapped__
    assert decide() is as_fast
    monkeypatch.setattr(onednn, "_mkl_is_as_fast", decide)
    assert (onednn.product_for(torch.zeros(2)) is None) is as_fast

    def unreadable(path: Path, encoding: str) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", unreadable)
    assert not decide()
