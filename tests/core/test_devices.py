"""Devices are checked before any work."""

from __future__ import annotations

import pytest

from attnaudit.core.devices import check_device
from attnaudit.core.errors import InputError


def test_a_device_that_torch_does_not_know_is_rejected() -> None:
    check_device("cpu")
    with pytest.raises(InputError, match="no device 'gpu'"):
        check_device("gpu")
