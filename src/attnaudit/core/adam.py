"""Adam and AMSGrad (Kingma & Ba 2015, Reddi et al. 2018) with the kernel of torch.optim.Adam.

It calls the fused kernel of torch by itself, because making any optimiser of torch.optim imports
the compiler of torch: some seconds. Gradients of an embedding may be given by row, which spares
making and clearing a tensor of the size of the vocabulary at every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypedDict

import torch
from torch import Tensor, nn

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
        self.steps: dict[Tensor, Tensor] = {}
        self.moments: dict[Tensor, list[Tensor]] = {}
        self.slopes: dict[Tensor, Tensor] = {}  # whole gradients of parameters with some by row

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
                grad = parameter.grad
                if grad is None:
                    continue
                if not grad.is_sparse:
                    self._update(parameter, grad, group["lr"], group["weight_decay"])
                    continue
                # Rows without a gradient are updated too: their moments and the decay move them.
                if parameter not in self.slopes:
                    self.slopes[parameter] = torch.zeros_like(parameter)
                whole, rows = self.slopes[parameter], grad._indices()[0]
                whole.index_add_(0, rows, grad._values())
                self._update(parameter, whole, group["lr"], group["weight_decay"])
                whole.index_fill_(0, rows, 0.0)

    def _update(self, parameter: Tensor, grad: Tensor, rate: float, decay: float) -> None:
        if parameter not in self.moments:
            count = 3 if self.amsgrad else 2  # mean, mean square, and its largest so far
            self.moments[parameter] = [torch.zeros_like(parameter) for _ in range(count)]
            self.steps[parameter] = torch.zeros(())
        self.steps[parameter] += 1
        tensors = (parameter, grad, *self.moments[parameter])
        if all(tensor.device.type == "cpu" and tensor.is_contiguous() for tensor in tensors):
            mean, square, *largest = self.moments[parameter]
            torch._fused_adam_(
                *([parameter], [grad], [mean], [square], largest, [self.steps[parameter]]),
                lr=rate,
                beta1=_BETAS[0],
                beta2=_BETAS[1],
                weight_decay=decay,
                eps=_EPSILON,
                amsgrad=self.amsgrad,
                maximize=False,
            )
        else:
            _step_by_operations(tensors, int(self.steps[parameter]), rate, decay)


def _step_by_operations(tensors: tuple[Tensor, ...], step: int, rate: float, decay: float) -> None:
    """The same step, one operation after the other: for other devices and for strided tensors."""
    weight, slope, mean, square, *most = tensors
    if decay:
        slope = slope.add(weight, alpha=decay)
    mean.lerp_(slope, 1 - _BETAS[0])
    square.mul_(_BETAS[1]).addcmul_(slope, slope, value=1 - _BETAS[1])
    for largest in most:
        torch.maximum(largest, square, out=largest)
    scale = (1 - _BETAS[1] ** step) ** 0.5
    spread = (most[0] if most else square).sqrt().div_(scale).add_(_EPSILON)
    weight.addcdiv_(mean, spread, value=-rate / (1 - _BETAS[0] ** step))


@contextmanager
def gradients_by_row(model: nn.Module) -> Iterator[None]:
    """Inside, the embeddings of a model get gradients of the rows that a batch uses alone."""
    embeddings = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    before = [module.sparse for module in embeddings]
    try:
        for module in embeddings:
            module.sparse = True
        yield
    finally:
        for module, sparse in zip(embeddings, before, strict=True):
            module.sparse = sparse
