"""The documentation names only what exists: imports, files, pages, options of the command line."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "attnaudit"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*DOCS, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARTIFACT.md"))]
FORMER_NAMES = ("attnaudit across", "--good-enough", "--illustrated")


def python_blocks(text: str) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def module_file(module: str) -> Path | None:
    """The file of attnaudit.x.y, or None if there is none."""
    path = SOURCE.joinpath(*module.split(".")[1:])
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((each for each in candidates if each.is_file()), None)


def names_in(file: Path) -> set[str]:
    """Names that a module defines, imports or lists in __all__, read without importing it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def unknown_imports(block: str) -> list[str]:
    """Names that a block imports from attnaudit and that are not there."""
    unknown = []
    for node in ast.walk(ast.parse(block)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("attnaudit"):
            continue
        file = module_file(str(node.module))
        for alias in node.names:
            name = f"{node.module}.{alias.name}"
            if file is None or (alias.name not in names_in(file) and module_file(name) is None):
                unknown.append(name)
    return unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_blocks_parse_and_import_names_that_exist(page: Path) -> None:
    blocks = python_blocks(page.read_text(encoding="utf-8"))
    assert [name for block in blocks for name in unknown_imports(block)] == []


def test_an_import_that_does_not_exist_is_found() -> None:
    block = "from attnaudit import audit, nothing\nfrom attnaudit.nowhere import thing"
    assert unknown_imports(block) == ["attnaudit.nothing", "attnaudit.nowhere.thing"]


def test_the_architecture_page_names_files_that_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("## Where do I change")[1].split("## Next to three")[0]
    paths = set(re.findall(r"`([\w/]+/(?:[\w]+\.\w+)?)`", table))
    assert len(paths) > 20
    missing = [path for path in paths if not (SOURCE / path).exists()]
    assert [path for path in missing if not (ROOT / path).exists()] == []


def test_the_architecture_page_lists_every_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)/` \|", text, re.MULTILINE)
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert sorted(listed) == sorted(rooms)


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    named = set(re.findall(r": ([\w/]+\.md)$", navigation, re.MULTILINE))
    assert named == {page.relative_to(ROOT / "docs").as_posix() for page in DOCS}


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_no_page_uses_former_names_of_the_command_line(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in FORMER_NAMES if name in text] == []
