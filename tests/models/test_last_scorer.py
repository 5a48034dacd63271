"""The scorer `last`: all weight on the last word, whatever is padded or left out."""

from __future__ import annotations

import pytest
import torch

from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.models import Architecture, build, glass_batch
from attnaudit.models.projections import PROJECTIONS


@pytest.mark.parametrize("encoder", ["bilstm:hidden=4", "cnn:kernels=1-3,filters=4", "none"])
@pytest.mark.parametrize("projection", [name for name in PROJECTIONS if name != "uniform"])
def test_all_weight_is_on_the_last_word(encoder: str, projection: str) -> None:
    torch.manual_seed(0)
    architecture = Architecture(encoder=encoder, scorer="last", projection=projection, embedding=6)
    model = build(architecture, words=50, classes=2, with_query=False).eval()
    batch = glass_batch(12)
    record = model.read(batch)
    places = torch.arange(record.mask.shape[-1])
    last = places.where(record.mask[:, 0], -1).amax(-1)
    expected = torch.nn.functional.one_hot(last, len(places)).to(record.alpha)
    torch.testing.assert_close(record.alpha[:, 0], expected, atol=1e-12, rtol=0)
    assert len(set(last.tolist())) > 1  # texts of different length, or padding would not be tried


@pytest.mark.parametrize("encoder", ["bilstm:hidden=4", "cnn:kernels=1-3,filters=4", "none"])
def test_without_a_word_the_last_of_the_others_is_attended(encoder: str) -> None:
    torch.manual_seed(0)
    architecture = Architecture(encoder=encoder, scorer="last", embedding=6)
    model = build(architecture, words=50, classes=2, with_query=False).eval()
    record = model.read(glass_batch(12))
    with torch.no_grad():
        torch.testing.assert_close(
            model.leave_out(record), leave_out_by_reading(model, record), equal_nan=True
        )
