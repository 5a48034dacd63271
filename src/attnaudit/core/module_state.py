"""The torch modules a model consists of; evaluation mode and frozen parameters for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


def modules_of(model: object) -> list[nn.Module]:
    """Every module of a model; for a plain object, those of the modules among its attributes."""
    if isinstance(model, nn.Module):
        return list(model.modules())
    attributes = getattr(model, "__dict__", {}).values()
    roots = [value for value in attributes if isinstance(value, nn.Module)]
    return [module for root in roots for module in root.modules()]


@contextmanager
def evaluating(*models: object, device: torch.device | str | None = None) -> Iterator[None]:
    """Put models into evaluation mode, and on `device` if given, for the length of a block.

    Afterwards, also after an exception, every module has its own mode and device back.
    """
    modules = [module for model in models for module in modules_of(model)]
    modes = [(module, module.training) for module in modules if module.training]
    parameters = (parameter for module in modules for parameter in module.parameters())
    home = None
    if device is not None:
        home = next((parameter.device for parameter in parameters), None)
    try:
        for module, _ in modes:
            module.training = False
        for module in modules if home is not None else ():
            module.to(device)
        yield
    finally:
        for module, mode in modes:
            module.training = mode
        for module in modules if home is not None else ():
            module.to(home)


@contextmanager
def parameters_frozen(model: nn.Module) -> Iterator[None]:
    """Let no parameter require a gradient inside the block, so that nothing is kept for it."""
    frozen = [parameter for parameter in model.parameters() if parameter.requires_grad]
    try:
        for parameter in frozen:
            parameter.requires_grad_(False)
        yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(True)
