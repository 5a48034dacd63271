"""The shape of the code itself: who may import whom, and that the folder listing can be trusted."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import attnaudit
from attnaudit import audits, datasets, encoders, measures, outputs, projections, scorers

SOURCE = Path(attnaudit.__file__).parent


def imports_of(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def offenders(folder: str, forbidden: str) -> list[str]:
    return [
        str(path.relative_to(SOURCE))
        for path in (SOURCE / folder).rglob("*.py")
        if any(name == forbidden or name.startswith(f"{forbidden}.") for name in imports_of(path))
    ]


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("audits", "attnaudit.models"),
        ("measures", "attnaudit.models"),
        ("exact", "attnaudit.models"),
        ("models", "attnaudit.audits"),
        ("models", "attnaudit.measures"),
        ("report", "torch"),
        ("datasets", "attnaudit.models"),
    ],
)
def test_one_side_never_imports_the_other(folder: str, forbidden: str) -> None:
    assert list((SOURCE / folder).rglob("*.py")), folder
    assert offenders(folder, forbidden) == []


def test_the_import_check_can_fail() -> None:
    assert offenders("audits", "torch")


@pytest.mark.parametrize("unsafe", ["pickle", "joblib", "shelve", "marshal"])
def test_nothing_is_ever_unpickled(unsafe: str) -> None:
    assert offenders(".", unsafe) == []
    assert "torch.load" not in "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))


@pytest.mark.parametrize(
    "registry",
    [
        datasets.DATASETS,
        encoders.ENCODERS,
        scorers.SCORERS,
        projections.PROJECTIONS,
        outputs.OUTPUTS,
        measures.MEASURES,
        audits.AUDITS,
    ],
)
def test_registered_names_are_plain_words_of_the_vocabulary(registry: dict[str, object]) -> None:
    assert registry
    assert all(name.isidentifier() and name == name.lower() for name in registry)


def test_at_most_ten_public_names_and_all_there() -> None:
    assert len(attnaudit.__all__) <= 10
    assert all(getattr(attnaudit, name) is not None for name in attnaudit.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = attnaudit.nothing


@pytest.mark.parametrize(
    "command", ["import attnaudit", "import attnaudit.cli", "import attnaudit.report.page"]
)
def test_what_only_shows_does_not_wait_for_torch(command: str) -> None:
    code = f"import sys; {command}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
