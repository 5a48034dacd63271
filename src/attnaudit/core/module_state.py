"""The torch modules a model consists of, whether it is one or holds some; and how they are put into evaluation mode for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


def modules_of(model: object) -> list[nn.Module]:
    """Every module of a model; of a plain object, those of the modules it holds as attributes."""
    if isinstance(model, nn.Module):
        return list(model.modules())
    held = [
        value for value in getattr(model, "__dict__", {}).values() if isinstance(value, nn.Module)
    ]
    return [module for root in held for module in root.modules()]


@contextmanager
def evaluating(*models: object, device: torch.device | str | None = None) -> Iterator[None]:
    """Evaluation mode, and the device asked for, inside; every module's own mode and the old device after, also after an exception."""
    modules = [module for model in models for module in modules_of(model)]
    modes = [(module, module.training) for module in modules if module.training]
    parameters = (parameter for module in modules for parameter in module.parameters())
    home = (
        next((parameter.device for parameter in parameters), None) if device is not None else None
    )
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
