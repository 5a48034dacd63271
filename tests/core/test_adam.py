"""Our Adam against that of torch."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import Tensor, nn

from attnaudit.core.adam import Adam, gradients_by_row


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
    shapes = [(5,), (70_001,), (300, 70)]
    made = [torch.randn(shape, generator=draw) for shape in shapes]
    made.append(torch.randn(40, 30, generator=draw).t())  # strided: operation by operation
    return [tensor.requires_grad_() for tensor in made]


def both(amsgrad: bool, decay: float, fused: bool) -> tuple[list[Tensor], list[Tensor]]:
    """Ours, and those of torch with or without its fused kernel."""
    ours, theirs = parameters(), parameters()
    groups = [
        {"params": ours[:2], "lr": 1e-2, "weight_decay": decay},
        {"params": ours[2:], "lr": 3e-3, "weight_decay": 0.0},
    ]
    same = [
        {"params": theirs[:2], "lr": 1e-2, "weight_decay": decay},
        {"params": theirs[2:], "lr": 3e-3, "weight_decay": 0.0},
    ]
    kernel = {"fused": True} if fused else {"foreach": False}
    got = trained(Adam(groups, amsgrad=amsgrad), ours)  # type: ignore[arg-type]
    return got, trained(torch.optim.Adam(same, amsgrad=amsgrad, **kernel), theirs)  # type: ignore[arg-type]


@pytest.mark.parametrize("amsgrad", [True, False])
@pytest.mark.parametrize("decay", [0.0, 1e-2])
def test_steps_are_those_of_torch_to_the_last_bit(amsgrad: bool, decay: float) -> None:
    ours, fused = both(amsgrad, decay, fused=True)
    _, plain = both(amsgrad, decay, fused=False)
    for one, other in zip(ours[:3], fused[:3], strict=True):
        assert torch.equal(one, other)
    assert torch.equal(ours[3], plain[3])  # strided
    for one, other in zip(ours, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-6)


@pytest.mark.parametrize("amsgrad", [True, False])
def test_gradients_by_row_give_the_steps_of_whole_gradients(amsgrad: bool) -> None:
    def weights(by_row: bool) -> Tensor:
        torch.manual_seed(0)
        model = nn.Embedding(50, 7, padding_idx=0)
        optimiser = Adam(
            [{"params": [model.weight], "lr": 1e-2, "weight_decay": 1e-3}], amsgrad=amsgrad
        )
        draw = torch.Generator().manual_seed(1)
        for _ in range(8):
            tokens = torch.randint(0, 50, (4, 9), generator=draw)  # with repeated words and padding
            slopes = torch.randn(4, 9, 7, generator=draw)
            if by_row:
                with gradients_by_row(model):
                    ((model(tokens) + model(tokens.flip(0))) * slopes).sum().backward()
                assert model.weight.grad is not None
                assert model.weight.grad.is_sparse
            else:
                ((model(tokens) + model(tokens.flip(0))) * slopes).sum().backward()
            optimiser.step()
            optimiser.zero_grad()
        return model.weight.detach()

    torch.testing.assert_close(weights(True), weights(False), rtol=0, atol=1e-6)


def test_embeddings_are_left_as_they_were() -> None:
    model = nn.ModuleList([nn.Embedding(4, 2), nn.Embedding(4, 2, sparse=True)])
    with gradients_by_row(model):
        assert all(module.sparse for module in model)  # type: ignore[attr-defined]
    assert [module.sparse for module in model] == [False, True]  # type: ignore[attr-defined]


def test_it_does_not_import_the_compiler() -> None:
    code = (
        "import sys, torch; from attnaudit.core.adam import Adam; p = torch.ones(2, "
        "requires_grad=True); o = Adam([{'params': [p], 'lr': 1., 'weight_decay': 0.}]); "
        "p.sum().backward(); o.step(); sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
