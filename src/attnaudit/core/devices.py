"""Check the name of a torch device before any work starts."""

from __future__ import annotations

import torch

from attnaudit.core.errors import InputError


def check_device(device: str) -> None:
    """Reject a device that torch does not know, or CUDA on a machine without it."""
    try:
        kind = torch.device(device).type
    except RuntimeError as error:
        raise InputError(f"There is no device {device!r}. Use cpu, cuda or cuda:1.") from error
    if kind == "cuda" and not torch.cuda.is_available():
        raise InputError(
            "There is no CUDA device here, or this torch was built without CUDA. "
            "Use the device cpu."
        )
