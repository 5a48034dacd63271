"""The examples in docstrings do what they show."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import attnaudit

SOURCE = Path(attnaudit.__file__).parent
MODULES = [
    ".".join(("attnaudit", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name.removesuffix(".__init__"))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, _ = doctest.testmod(module, optionflags=flags)
    assert failed == 0


def test_some_examples_are_there() -> None:
    assert len(MODULES) > 50
