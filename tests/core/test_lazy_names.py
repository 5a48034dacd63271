"""Names that a package exports without importing their modules."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

PACKAGES = [
    "attnaudit",
    *(
        f"attnaudit.{room}"
        for room in ("data", "models", "results", "training", "report", "papers")
    ),
]


@pytest.mark.parametrize("name", PACKAGES)
def test_every_exported_name_is_found_and_others_are_not(name: str) -> None:
    package = importlib.import_module(name)
    for export in package.__all__:
        value = getattr(package, export)
        assert getattr(value, "__name__", export) == export  # a constant has no name of its own
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing


def test_a_package_does_not_import_what_it_exports() -> None:
    code = f"import sys, {', '.join(PACKAGES)}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
