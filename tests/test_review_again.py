"""More faults that were once there, each with the smallest example that showed it."""

from __future__ import annotations

import math

import pytest
import torch

from attnaudit import audit, exact
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.gate import conditions_met


def test_the_smallest_set_leaves_what_may_not_go() -> None:
    draw = torch.Generator().manual_seed(3)
    alpha = torch.rand(40, 6, generator=draw, dtype=torch.float64)
    alpha = alpha / alpha.sum(-1, keepdim=True)
    readout = torch.randn(40, 6, 2, generator=draw, dtype=torch.float64)
    mask, free = torch.ones(40, 6, dtype=torch.bool), torch.rand(40, 6, generator=draw) > 0.4
    found = exact.smallest_flip(alpha, readout, mask, removable=free)
    own = (alpha[..., None] * readout).sum(1).argmax(-1)
    for index in range(40):
        best = math.inf
        for chosen in range(1, 64):
            gone = torch.tensor([bool(chosen >> item & 1) for item in range(6)])
            if (gone & ~free[index]).any() or gone.all():
                continue
            logits = (alpha[index, ~gone, None] * readout[index, ~gone]).sum(0)
            if logits.argmax() != own[index]:
                best = min(best, int(gone.sum()))
        assert bool(found.possible[index]) == (best < math.inf)
        if best < math.inf:
            assert int(found.size[index]) == best
            assert not (found.items[index] & ~free[index]).any()


def test_what_is_shown_in_place_of_attention_does_not_answer_for_it() -> None:
    results = audit(Glass("shifted"), glass_batch(), audits=["agreement:of=gradient"],
                    measures=["gradient", "leave_one_out", "random"], show_progress=False)  # fmt: skip
    assert math.isnan(results.mean("agreement", "tau", "leave_one_out"))
    assert results.mean("agreement:of=gradient", "tau", "leave_one_out") == pytest.approx(1.0)
    (held,) = conditions_met(results, "agreement/tau@leave_one_out<0.2")  # the gate stays shut
    assert "there is no such number" in held
    assert resolve_audit_name("a", ["a:of=x", "a:b=1", "a:b=2"]) == "a:b=1"
    assert resolve_audit_name("a", ["a:b=1", "a"]) == "a"
    assert resolve_audit_name("a", ["a:of=x", "ab"]) is None


def test_a_batch_of_uneven_parts_is_rejected() -> None:
    tokens = torch.ones(8, 4, dtype=torch.int64)
    for names, mask in ((tuple("abc"), tokens > 0), (tuple("abcdefgh"), tokens[:, :2] > 0)):
        with pytest.raises(InputError, match="one example_id per text"):
            Batch(names, tokens, mask)
