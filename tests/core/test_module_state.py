"""Models are in evaluation mode inside the block, and as they were after it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attnaudit.core.autograd import differentiating
from attnaudit.core.module_state import evaluating, modules_of


class Holder:
    """Not a module, but holds one."""

    def __init__(self) -> None:
        self.network = nn.Sequential(nn.Linear(2, 2), nn.Dropout())


def test_the_modules_of_an_object_are_those_it_holds() -> None:
    holder = Holder()
    assert modules_of(holder) == list(holder.network.modules())
    assert modules_of(holder.network) == list(holder.network.modules())
    assert modules_of(3) == []


def test_every_mode_is_restored_also_after_an_exception() -> None:
    holder = Holder()
    holder.network[0].eval()
    before = [module.training for module in modules_of(holder)]

    def fail() -> None:
        with evaluating(holder, device="cpu"):
            assert not any(module.training for module in modules_of(holder))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [module.training for module in modules_of(holder)] == before


def test_gradients_are_enabled_inside_no_grad() -> None:
    with torch.no_grad():
        with differentiating():
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
