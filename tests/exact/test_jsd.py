"""The forms of the JSD term are one function, and their sum is statistics.jsd."""

from __future__ import annotations

import torch

from attnaudit import statistics
from attnaudit.exact.jsd import expanded_jsd_term, jsd_gain, jsd_term, mixture_jsd, one_hot_jsd

SOURCE = torch.Generator().manual_seed(0)
ALPHA = torch.rand(200, 9, generator=SOURCE, dtype=torch.float64).softmax(-1)
ALPHA[::3, 4] = 0
ALPHA = ALPHA / ALPHA.sum(-1, keepdim=True)
OTHER = torch.rand(200, 9, generator=SOURCE, dtype=torch.float64)
OTHER[OTHER < 0.5] = 0
OTHER[:, 0] += 0.1
OTHER = OTHER / OTHER.sum(-1, keepdim=True)


def close(value: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(value, expected, rtol=0, atol=1e-14)


def test_every_form_of_the_term_sums_to_the_jsd_of_the_statistics() -> None:
    expected = statistics.jsd(OTHER, ALPHA)
    close(jsd_term(OTHER, ALPHA).sum(-1), expected)
    close(expanded_jsd_term(OTHER, ALPHA).sum(-1), expected)
    without = jsd_term(torch.zeros_like(ALPHA), ALPHA)
    close((jsd_gain(OTHER, ALPHA) / 2 + without).sum(-1), expected)


def test_the_term_is_0_where_both_are_0() -> None:
    zero = torch.zeros(1, dtype=torch.float64)
    for term in (jsd_term, expanded_jsd_term, jsd_gain):
        assert term(zero, zero).item() == 0


def test_mixtures_and_one_hot_attention_have_the_jsd_of_their_dense_form() -> None:
    weight = torch.rand(200, generator=SOURCE, dtype=torch.float64)
    dense = torch.zeros_like(ALPHA)
    dense[:, 2], dense[:, 4] = weight, 1 - weight
    close(mixture_jsd(weight, ALPHA[:, 2], ALPHA[:, 4]), statistics.jsd(dense, ALPHA))
    one_hot = torch.eye(9, dtype=torch.float64)
    close(one_hot_jsd(ALPHA), statistics.jsd(one_hot, ALPHA[:, None]))
