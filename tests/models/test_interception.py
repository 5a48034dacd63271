"""What hooks and Hugging Face share: patches, the softmax tap, the embedding hook and positions."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from attnaudit.core.contract import Batch
from attnaudit.models.hooked import site
from attnaudit.models.huggingface import position
from attnaudit.models.interception import (
    SoftmaxTap,
    class_weighted_sum,
    embeddings_captured,
    forward_wrapped,
    last_position,
    mark_positions,
    position_by_rule,
)

TOKENS = torch.tensor([[5, 6, 7, 8], [5, 6, 0, 0], [5, 0, 0, 0]])
BATCH = Batch(("a", "b", "c"), TOKENS, TOKENS > 0)


@pytest.mark.parametrize("rule", ["first", "last", 0, 1, 3, -1, -2, -4])
def test_hooks_and_hugging_face_read_the_same_rule_in_the_same_way(rule: str | int) -> None:
    by_hooks = site.positions_of(rule, BATCH, 4, 0, positions_are_items=True)[:, 0]
    special = torch.zeros_like(BATCH.mask)
    token_ids = {"pad": 0, "eos": None, "mask": None}
    by_hugging_face = position.positions_of(rule, TOKENS, BATCH.mask, special, token_ids)
    assert torch.equal(by_hooks, by_hugging_face)


def test_a_numbered_position_is_the_nearest_one_in_a_text_that_is_too_short() -> None:
    last = last_position(BATCH.mask)
    assert last.tolist() == [3, 1, 0]
    assert position_by_rule(2, last).tolist() == [2, 1, 0]
    assert position_by_rule(-2, last).tolist() == [2, 0, 0]
    assert last_position(torch.zeros(1, 3, dtype=torch.bool)).tolist() == [-1]
    assert mark_positions(last[:, None], BATCH.mask).nonzero()[:, 1].tolist() == [3, 1, 0]


def test_classes_do_not_cancel_in_a_weighted_sum() -> None:
    logits = torch.tensor([[1.0, -1.0]], requires_grad=True)
    class_weighted_sum(logits).backward()
    assert logits.grad is not None
    assert logits.grad.tolist() == [[1.0, 2.0]]


def test_a_tap_sees_every_softmax_and_may_replace_its_result() -> None:
    scores, seen = torch.randn(2, 3), []

    def on_softmax(out: Tensor) -> Tensor | None:
        seen.append(out)
        return None if len(seen) < 4 else torch.zeros_like(out)

    with SoftmaxTap(on_softmax):
        kept = scores.softmax(-1)
        torch.softmax(scores, -1)
        nn.Softmax(-1)(scores)
        replaced = nn.functional.softmax(scores, -1)
        torch.sigmoid(scores)
    scores.softmax(-1)
    assert len(seen) == 4
    assert torch.equal(kept, scores.softmax(-1))
    assert not replaced.any()


def test_a_wrapped_forward_is_put_back_after_an_exception() -> None:
    module = nn.Linear(2, 2)

    def twice(forward: Any) -> Any:
        return lambda x: 2 * forward(x)

    x = torch.randn(1, 2)
    plain = module(x)
    with forward_wrapped(module, twice):
        assert torch.equal(module(x), 2 * plain)
    with pytest.raises(RuntimeError, match="shapes"), forward_wrapped(module, twice):
        module(torch.randn(1, 3))
    assert "forward" not in module.__dict__
    own = module.__dict__["forward"] = lambda x: x  # a forward that the user has replaced
    with forward_wrapped(module, twice):
        assert torch.equal(module(x), 2 * x)
    assert module.__dict__["forward"] is own


@pytest.mark.parametrize("batch_first", [True, False])
def test_the_first_embeddings_of_the_shape_are_captured_or_replaced(batch_first: bool) -> None:
    module, other = nn.Embedding(9, 2), torch.zeros(3, 4, 2)
    given = TOKENS if batch_first else TOKENS.T
    for replacement in (None, other):
        with embeddings_captured(
            module, replacement, shape=(3, 4), batch_first=batch_first
        ) as captured:
            module(TOKENS[:2])
            assert captured == []
            out = module(given)
            second = module(given)
        expected = module(TOKENS) if replacement is None else other
        assert torch.equal(captured[0], expected)
        assert torch.equal(out if batch_first else out.transpose(0, 1), expected)
        assert torch.equal(second, module(given))
    assert not module._forward_hooks
    with embeddings_captured(module) as captured:
        module(TOKENS[:2])
    assert captured[0].shape == (2, 4, 2)
