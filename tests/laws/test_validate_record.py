"""Records that are not attention and finite logits are rejected, with the examples named."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError
from attnaudit.laws import check_record
from attnaudit.models.glass import Glass, glass_batch


def record() -> Record:
    return Glass("oracle", dtype=torch.float64).read(glass_batch(4))


def with_weight(value: float, *, item: int = 0) -> Record:
    """The second example has another weight on one item."""
    alpha = record().alpha.clone()
    alpha[1, 0, item] = value
    return replace(record(), alpha=alpha)


def with_logits(value: float) -> Record:
    logits: Tensor = record().logits.clone()
    logits[1] = value
    return replace(record(), logits=logits)


def test_a_proper_record_is_accepted() -> None:
    check_record(record())


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (with_weight(math.nan), "NaN or infinite attention"),
        (with_logits(math.inf), "NaN or infinite logits"),
        (with_weight(-0.5), "negative attention"),
        (with_weight(7.0), "attention that does not sum to 1"),
    ],
)
def test_the_problem_is_reported_with_the_example(wrong: Record, problem: str) -> None:
    name = wrong.batch.example_id[1]
    with pytest.raises(InputError, match=f"gives {problem} for 1 of 4 examples, such as {name}"):
        check_record(wrong)


def test_attention_on_masked_items_is_rejected() -> None:
    mask = record().mask.clone()
    mask[2, 0, 0] = False
    with pytest.raises(InputError, match="attention outside its mask for 1 of 4"):
        check_record(replace(record(), mask=mask))
