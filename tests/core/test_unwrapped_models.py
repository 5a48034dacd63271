"""An object that is no model yet is rejected with the call that wraps it."""

from __future__ import annotations

import pytest
from torch import nn

from attnaudit.core.errors import InputError
from attnaudit.core.unwrapped_models import check_model_argument
from attnaudit.models.glass import Glass
from tiny_transformers import tiny


def test_a_model_with_read_and_decode_is_accepted() -> None:
    check_model_argument(Glass("oracle"))


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (lambda: "folder", r"from_huggingface\(folder\)"),
        (lambda: tiny("bert")[0], r"from_huggingface\(model, tokenizer\)"),
        (lambda: nn.Linear(2, 2), "from_hooks"),
        (lambda: 3, r"got int\. The order is audit\(model, data\)\.$"),
    ],
)
def test_anything_else_is_rejected_with_the_call_that_wraps_it(make, advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        check_model_argument(make())
