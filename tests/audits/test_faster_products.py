"""Which audits may multiply with other rounding than the model: those that make many passes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from attnaudit.audits import AUDITS
from attnaudit.audits.gradient_search import SETTINGS, search
from attnaudit.core.contract import Batch, Record
from attnaudit.core.onednn import faster_products_wanted
from attnaudit.measures import MEASURES
from attnaudit.models.glass import Glass, glass_batch


class Watched(Glass):
    """Remembers whether faster products were wanted in each pass."""

    def __init__(self) -> None:
        super().__init__("oracle")
        self.wanted: list[bool] = []

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        self.wanted.append(faster_products_wanted())
        return super().read(batch, embeddings)

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        self.wanted.append(faster_products_wanted())
        return super().decode(record, alpha)


def setting() -> tuple[Watched, Record, dict[str, Tensor]]:
    model = Watched()
    record = model.read(glass_batch(4))
    model.wanted.clear()
    return model, record, {"attention": record.alpha}


@pytest.mark.parametrize("name", ["erasure", "noise_stability"])
def test_texts_that_are_read_many_times_are_read_faster(name: str) -> None:
    model, record, scores = setting()
    with torch.no_grad():
        AUDITS[name](model, record, scores, 0)
    assert model.wanted
    assert all(model.wanted)
    assert not faster_products_wanted()


def test_the_steps_of_a_search_are_faster() -> None:
    model, record, _ = setting()
    settings = replace(SETTINGS["corrected"], steps=2)
    search(model, replace(record, readout=None), 0, epsilon=0.01, settings=settings)
    assert model.wanted == [True] * 3


@pytest.mark.parametrize("name", ["leave_one_out", "gradient", "attention_gradient"])
def test_measures_are_computed_as_the_model_itself_computes(name: str) -> None:
    model, record, _ = setting()
    MEASURES[name](model, record, 0)
    assert model.wanted
    assert not any(model.wanted)
