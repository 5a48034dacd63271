"""What `attnaudit.data` offers, and that it needs no torch until a batch is made."""

from __future__ import annotations

import subprocess
import sys

import pytest

from attnaudit import data


def test_every_export_is_there_and_documented() -> None:
    for name in data.__all__:
        assert getattr(data, name) is not None
        assert name == "DATASETS" or getattr(data, name).__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = data.nothing


def test_importing_the_room_does_not_import_torch() -> None:
    code = "import sys, attnaudit.data; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
