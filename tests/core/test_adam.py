"""Our Adam against that of torch, bit by bit."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import Tensor

from attnaudit.core.adam import _BLOCK, Adam


def trained(optimiser: object, parameters: list[Tensor], steps: int = 12) -> list[Tensor]:
    draw = torch.Generator().manual_seed(1)
    for step in range(steps):
        optimiser.zero_grad()  # type: ignore[attr-defined]
        for index, parameter in enumerate(parameters):
            if step % 3 or index:  # one parameter sometimes has no gradient
                parameter.grad = torch.randn(parameter.shape, generator=draw)
        optimiser.step()  # type: ignore[attr-defined]
    return [parameter.detach() for parameter in parameters]


def parameters() -> list[Tensor]:
    draw = torch.Generator().manual_seed(0)
    shapes = [(5,), (2 * _BLOCK + 77,), (300, 70)]
    made = [torch.randn(shape, generator=draw) for shape in shapes]
    made.append(torch.randn(40, 30, generator=draw).t())  # no contiguous view
    return [tensor.requires_grad_() for tensor in made]


@pytest.mark.parametrize("amsgrad", [True, False])
@pytest.mark.parametrize("decay", [0.0, 1e-2])
def test_steps_are_those_of_torch_to_the_last_bit(amsgrad: bool, decay: float) -> None:
    ours, theirs = parameters(), parameters()
    groups = [
        {"params": ours[:2], "lr": 1e-2, "weight_decay": decay},
        {"params": ours[2:], "lr": 3e-3, "weight_decay": 0.0},
    ]
    same = [
        {"params": theirs[:2], "lr": 1e-2, "weight_decay": decay},
        {"params": theirs[2:], "lr": 3e-3, "weight_decay": 0.0},
    ]
    got = trained(Adam(groups, amsgrad=amsgrad), ours)  # type: ignore[arg-type]
    expected = trained(torch.optim.Adam(same, amsgrad=amsgrad, foreach=False), theirs)
    for one, other in zip(got, expected, strict=True):
        assert torch.equal(one, other)


def test_it_does_not_import_the_compiler() -> None:
    code = (
        "import sys, torch; from attnaudit.core.adam import Adam; p = torch.ones(2, "
        "requires_grad=True); o = Adam([{'params': [p], 'lr': 1., 'weight_decay': 0.}]); "
        "p.sum().backward(); o.step(); sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
