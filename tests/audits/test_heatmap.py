"""What is shown of a record, against a loop over its texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from attnaudit.audits.heatmap import Heatmap, heatmap, weight_on_marks
from audit_cases import case, same
from word_attention import WordAttention, shown_weights, texts


def test_weights_are_the_mean_over_rows_scaled_to_the_words() -> None:
    record = WordAttention().read(texts((5, 3, 8)))
    weights, words = heatmap(record)
    assert torch.equal(words, record.content)
    for index in range(3):
        same(weights[index][words[index]], shown_weights(record, index))
        assert (weights[index][~words[index]] == 0).all()


def test_rows_that_attend_to_nothing_and_items_outside_the_mask_do_not_count() -> None:
    record = case("two rows").record
    mask = record.mask.clone()
    mask[:, 1] = False
    weights, _ = heatmap(replace(record, mask=mask))
    own = record.alpha[:, 0] / record.alpha[:, 0].sum(-1, keepdim=True)
    torch.testing.assert_close(weights, own)


def test_words_without_any_weight_have_no_heatmap() -> None:
    record = WordAttention().read(texts((4,)))
    alpha = torch.zeros_like(record.alpha)
    alpha[..., 0] = 1.0
    shown = heatmap(replace(record, alpha=alpha))
    assert shown.weights[shown.words].isnan().all()
    assert shown.top.isnan().all()
    same(weight_on_marks(replace(record, alpha=alpha)), np.ones((1, 2)))


def test_weights_a_rounding_error_apart_are_tied() -> None:
    record = WordAttention(rows=1).read(texts((3,)))
    alpha = torch.tensor([[[0.1, 0.3, 0.2, 0.3 * (1 + 2e-7), 0.1]]])
    shown = heatmap(replace(record, alpha=alpha))
    same(shown.top, [[0, 0.5, 0, 0.5, 0]])


def test_the_top_is_shared_by_the_words_tied_for_it() -> None:
    words = torch.tensor([[True, True, True, False]] * 3)
    weights = torch.tensor([[0.4, 0.2, 0.4, 0.9], [0.2, 0.5, 0.3, 0.9], [0.3, 0.3, 0.3, 0.9]])
    top = Heatmap(weights.double(), words).top
    same(top[:2], [[0.5, 0, 0.5, 0], [0, 1, 0, 0]])
    assert top[2].isnan().all()
