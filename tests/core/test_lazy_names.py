"""Names that a package exports without importing their modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

import attnaudit.papers
import attnaudit.training


@pytest.mark.parametrize("package", [attnaudit, attnaudit.training, attnaudit.papers])
def test_every_exported_name_is_found_and_others_are_not(package: object) -> None:
    for name in package.__all__:  # type: ignore[attr-defined]
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = package.nothing  # type: ignore[attr-defined]


def test_a_package_does_not_import_what_it_exports() -> None:
    code = "import sys, attnaudit.training, attnaudit.papers; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
