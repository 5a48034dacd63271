"""Weight times vector norm."""

from __future__ import annotations

import numpy as np

from attnaudit.measures.attention_norm import attention_norm
from gradient_cases import (
    case,
    every_case,
    same,
)


@every_case
def test_attention_norm_is_the_weight_times_the_vector_norm(name: str) -> None:
    model, record = case(name)
    length = np.sqrt((record.hidden.numpy() ** 2).sum(-1))  # type: ignore[union-attr]
    same(attention_norm(model, record, 0), record.alpha.numpy() * length[:, None], 1e-12)
