"""The torch modules a model consists of, whether it is one or holds some."""

from __future__ import annotations

from torch import nn


def modules_of(model: object) -> list[nn.Module]:
    """Every module of a model; of a plain object, those of the modules it holds as attributes."""
    if isinstance(model, nn.Module):
        return list(model.modules())
    held = [value for value in getattr(model, "__dict__", {}).values() if isinstance(value, nn.Module)]
    return [module for root in held for module in root.modules()]
