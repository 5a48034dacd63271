"""Adam and AMSGrad (Kingma & Ba 2015, Reddi et al. 2018): the numbers of torch.optim.Adam, sooner.

Each tensor is updated in blocks that fit into the cache of a CPU, so that a large embedding is read
from memory once per step instead of once per operation. It does not import the compiler of torch,
which making any optimiser of torch.optim does: some seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

import torch
from torch import Tensor

_BLOCK = 2**15  # numbers per block on a CPU; six tensors of them are worked on at once
_BETAS = (0.9, 0.999)
_EPSILON = 1e-8


class Group(TypedDict):
    """Parameters with a learning rate and a weight decay (an L2 penalty) of their own."""

    params: list[Tensor]
    lr: float
    weight_decay: float


class Adam:
    """One step per call, from the gradients that the parameters hold.

    Parameters
    ----------
    groups : iterable of Group
    amsgrad : bool, default False
        Divide by the largest second moment so far rather than by the present one.

    Examples
    --------
    >>> parameter = torch.ones(3, requires_grad=True)
    >>> optimiser = Adam([{"params": [parameter], "lr": 0.1, "weight_decay": 0.0}])
    >>> parameter.square().sum().backward()
    >>> optimiser.step()
    >>> parameter.detach()
    tensor([0.9000, 0.9000, 0.9000])
    """

    def __init__(self, groups: Iterable[Group], *, amsgrad: bool = False) -> None:
        self.groups = list(groups)
        self.amsgrad = amsgrad
        self.steps: dict[Tensor, int] = {}
        self.moments: dict[Tensor, list[Tensor]] = {}

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for group in self.groups:
            for parameter in group["params"]:
                parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        for group in self.groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, parameter.grad, group["lr"], group["weight_decay"])

    def _update(self, parameter: Tensor, grad: Tensor, rate: float, decay: float) -> None:
        if parameter not in self.moments:
            count = 3 if self.amsgrad else 2  # mean, mean square, and its largest so far
            self.moments[parameter] = [torch.zeros_like(parameter) for _ in range(count)]
        step = self.steps[parameter] = self.steps.get(parameter, 0) + 1
        size = rate / (1 - _BETAS[0] ** step)
        scale = (1 - _BETAS[1] ** step) ** 0.5
        tensors = (parameter, grad, *self.moments[parameter])
        for weight, slope, mean, square, *most in zip(*_blocks(tensors), strict=True):
            if decay:
                slope = slope.add(weight, alpha=decay)
            mean.lerp_(slope, 1 - _BETAS[0])
            square.mul_(_BETAS[1]).addcmul_(slope, slope, value=1 - _BETAS[1])
            for largest in most:
                torch.maximum(largest, square, out=largest)
            spread = (most[0] if most else square).sqrt().div_(scale).add_(_EPSILON)
            weight.addcdiv_(mean, spread, value=-size)


def _blocks(tensors: tuple[Tensor, ...]) -> list[tuple[Tensor, ...]]:
    """Views of each tensor that fit into the cache; whole tensors where there are no such views."""
    in_blocks = all(tensor.device.type == "cpu" and tensor.is_contiguous() for tensor in tensors)
    return [tensor.view(-1).split(_BLOCK) if in_blocks else (tensor,) for tensor in tensors]
