"""Texts of similar length share a pass, within bounds, and every text is in one pass."""

from __future__ import annotations

import pytest
import torch

from attnaudit.core.passes_by_length import passes_by_length


@pytest.mark.parametrize("texts", [None, 3])
@pytest.mark.parametrize("tokens", [1, 20, 64, 10_000])
def test_every_text_is_in_one_pass_within_the_bounds(tokens, texts):
    length = torch.randint(0, 40, (101,), generator=torch.Generator().manual_seed(tokens))
    passes = list(passes_by_length(length, tokens, texts))
    assert torch.cat([rows for rows, _ in passes]).sort().values.tolist() == list(range(101))
    for rows, width in passes:
        assert width == max(1, int(length[rows].max()))
        assert len(rows) == 1 or len(rows) * width <= tokens
        assert texts is None or len(rows) <= texts
    widths = [width for _, width in passes]
    assert widths == sorted(widths, reverse=True)


def test_passes_are_no_smaller_than_they_must_be():
    length = torch.tensor([4, 9, 4, 4])
    assert [rows.tolist() for rows, _ in passes_by_length(length, 12)] == [[1], [0, 2, 3]]


def test_no_texts_make_no_pass():
    assert list(passes_by_length(torch.empty(0, dtype=torch.int64), 10)) == []
