"""Every measure and audit on a pretended second device: no tensor is made on the wrong one."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
import torch

from attnaudit import audit
from attnaudit.audits import DEFAULT_AUDITS
from attnaudit.core.contract import Batch
from attnaudit.models import Architecture, build
from other_device import DEVICE, Elsewhere, other_device

MEASURES = ("gradient", "leave_one_out", "gradient_norm", "hidden_gradient", "attention_gradient")


def texts() -> Batch:
    tokens = torch.tensor([[1, 7, 8, 9, 10, 11, 12, 2], [1, 9, 8, 7, 2, 0, 0, 0]])
    return Batch(("a", "b"), tokens, tokens > 0, labels=torch.tensor([0, 1]))


def model(encoder: str) -> torch.nn.Module:
    """With large weights: of nearly uniform attention some ratios are of rounding errors."""
    architecture = Architecture(encoder=encoder, embedding=4)
    made = build(architecture, words=20, classes=2, with_query=False)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(0, 0.8)
    return made.eval()


def values(encoder: str, device: torch.device) -> pd.DataFrame:
    torch.manual_seed(0)
    results = audit(
        model(encoder).to(device),
        [texts().to(device)],
        audits=DEFAULT_AUDITS,
        measures=MEASURES,
        show_progress=False,
    )
    return results.frame()


def test_an_operation_on_both_devices_is_an_error() -> None:
    with other_device():
        away = torch.ones(3, device=DEVICE)
        assert isinstance(away + 1, Elsewhere)
        assert (away + torch.tensor(1.0)).tolist() == [2.0, 2.0, 2.0]
        with pytest.raises(RuntimeError, match="a tensor is on the CPU"):
            away + torch.ones(3)


@pytest.mark.parametrize(
    "encoder", ["bilstm:hidden=3", "cnn:kernels=1-3,filters=2", "average:hidden=3"]
)
def test_measures_and_audits_stay_on_the_device_of_the_model(encoder: str) -> None:
    expected = values(encoder, torch.device("cpu"))
    with other_device():
        got = values(encoder, DEVICE)
    pd.testing.assert_frame_equal(got, expected, rtol=1e-5, atol=1e-6)


def test_batches_move_to_the_device_that_is_named() -> None:
    """Those of an audit, and of the texts that are kept, with what is known of their words."""
    encoder = "bilstm:hidden=3"
    batch = replace(texts(), evidence=texts().tokens == 9)
    torch.manual_seed(0)
    kept = {"audits": ["agreement", "furthest"], "measures": ["gradient"], "keep_examples": 2}
    expected = audit(model(encoder), [batch], show_progress=False, **kept)
    with other_device():
        torch.manual_seed(0)
        got = audit(model(encoder), [batch], device=DEVICE, show_progress=False, **kept)
    pd.testing.assert_frame_equal(got.frame(), expected.frame(), atol=1e-5)
    assert list(got.examples["example_id"]) == list(expected.examples["example_id"]) == ["a", "b"]
