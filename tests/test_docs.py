"""The documentation names only what exists, and its Python examples run.

The blocks of a page run in order, in one namespace and in an empty folder, like notebook cells.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
import torch
from torch import Tensor

import attnaudit
from attnaudit import Batch, InputError, Record
from attnaudit.models import Glass, glass_batch
from tiny_transformers import TEXTS, tiny

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


def test_the_pages_import_only_what_is_public() -> None:
    public = {f"attnaudit.{room}" for room in ("data", "models", "results", "training", "report")}
    public |= {"attnaudit", "attnaudit.papers", "attnaudit.statistics.inference"}
    public |= {"attnaudit.testing"}
    imported = {
        node.module
        for page in PAGES
        if page.name != "CONTRIBUTING.md"  # it is about the inside
        for block in python_blocks(page.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(block))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("attnaudit")
    }
    assert len(imported) > 4
    assert imported <= public


def saved_classifier(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A tiny BERT in the folder my_model, for pages that load one."""
    model, tokenizer = tiny("bert", num_labels=2)
    model.config.id2label = {0: "negative", 1: "positive"}
    model.config.label2id = {"negative": 0, "positive": 1}
    model.save_pretrained("my_model")
    tokenizer.save_pretrained("my_model")
    return {}


def given_classifier(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    model, tokenizer = tiny("bert", num_labels=2)
    return {"classifier": model, "tokenizer": tokenizer, "texts": TEXTS, "labels": [1, 0, 0]}


def own_model(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The page's model in mine.py, as the page asks for; and the names of its protocol."""
    page = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    (source,) = [block for block in python_blocks(page) if "class Mine" in block]
    Path("mine.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(Path.cwd())
    # Other tests have modules of this name, too: leave none behind, and find none.
    monkeypatch.setitem(sys.modules, "mine", None)
    monkeypatch.delitem(sys.modules, "mine")
    return {"Protocol": Protocol, "Batch": Batch, "Record": Record, "Tensor": Tensor}


# What a page expects to be there.
GIVEN: dict[str, Callable[[pytest.MonkeyPatch], dict[str, Any]]] = {
    "README.md": given_classifier,
    "docs/audit_your_model.md": saved_classifier,
    "docs/contract.md": own_model,
}
WITH_BLOCKS = [page for page in PAGES if python_blocks(page.read_text(encoding="utf-8"))]


def run_blocks(page: Path, names: dict[str, Any]) -> dict[str, Any]:
    namespace = {"__name__": "__main__", **names}
    text = page.read_text(encoding="utf-8")
    for number, block in enumerate(python_blocks(text)):
        exec(compile(block, f"{page.name}, block {number}", "exec"), namespace)
    return namespace


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    given = GIVEN.get(page.relative_to(ROOT).as_posix(), lambda monkeypatch: {})
    namespace = run_blocks(page, given(monkeypatch))
    assert len(namespace) > 2
    printed = capsys.readouterr().out
    if page.name == "statistics.md":
        assert "0.0040, 0.0400, 0.0400, 0.8000" in printed  # as its comment says


def test_the_examples_for_contributors_do_what_they_say(tmp_path: Path) -> None:
    made = run_blocks(ROOT / "CONTRIBUTING.md", {})
    for split, count in (("train", 20), ("test", 4)):
        classes = [("bad", "good")[number % 2] for number in range(count)]
        lines = [f"film {chr(97 + number)}\t{name}" for number, name in enumerate(classes)]
        text = "\n".join(["text\tlabel", *lines])
        (tmp_path / f"{split}.tsv").write_text(text, encoding="utf-8")
    splits = made["short_reviews"](tmp_path)
    assert (len(splits.train), len(splits.dev), len(splits.test)) == (18, 2, 4)
    assert splits.test[1].tokens == ("film", "b")
    assert splits.test[1].label == 1
    (tmp_path / "test.tsv").unlink()
    with pytest.raises(InputError, match=r"test is not in it, or empty"):
        made["short_reviews"](tmp_path)

    hidden, mask = torch.randn(2, 5, 4), torch.arange(5) < torch.tensor([[5], [3]])
    encoder, scorer = made["Pointwise"](4, hidden=6), made["Cosine"](6)
    scores = scorer(encoder(hidden, mask), None)
    alpha = made["Softplus"]()(scores, mask)
    assert torch.allclose(alpha.sum(-1), torch.ones(2))
    assert not alpha[~mask].any()
    assert made["Unbiased"](6, None, 3)(alpha[:, None] @ encoder(hidden, mask), None).shape[-1] == 3

    results = attnaudit.audit(
        Glass("oracle"),
        glass_batch(8),
        audits=["agreement", made["spread"]],
        measures=["gradient", "leave_one_out", made["position"]],
        show_progress=False,
    )
    assert 0 < results.mean("spread", "entropy") < 1
    assert results.mean("agreement", "tau", "position") < 0.9


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
    picture = (ROOT / "docs" / "images" / "rooms.svg").read_text(encoding="utf-8")
    assert sorted(re.findall(r'class="name"[^>]*>(\w+)<', picture)) == sorted(rooms)


def test_every_page_is_in_the_navigation() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    named = set(re.findall(r": ([\w/]+\.md)$", navigation, re.MULTILINE))
    assert named == {page.relative_to(ROOT / "docs").as_posix() for page in DOCS}


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_no_page_uses_former_names_of_the_command_line(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in FORMER_NAMES if name in text] == []
