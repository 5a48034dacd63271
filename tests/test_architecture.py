"""The shape of the code itself: who may import whom, and that the folder listing can be trusted."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import attnaudit
from attnaudit import audits, data, measures
from attnaudit.models import encoders, outputs, projections, scorers

SOURCE = Path(attnaudit.__file__).parent


# Each room imports only from rooms before it in this list.
ROOMS = (
    *("core", "statistics", "exact", "data", "models", "laws", "measures", "audits"),
    *("results", "testing", "auditing", "training", "report", "papers", "cli"),
)
# The one exception: results show and save themselves (`to_html`, `save`), by imports in functions.
EXCEPTIONS = {
    ("results/results.py", "attnaudit.report.page"),
    ("results/results.py", "attnaudit.report.word_heatmaps"),
    ("results/results.py", "attnaudit.results.store"),
}


def imports_of(source: str) -> set[str]:
    """Every module named in an import, lazy ones and those for type checkers included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def sources() -> dict[str, str]:
    """Path below the package -> its text."""
    return {
        path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8")
        for path in SOURCE.rglob("*.py")
    }


def room_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "attnaudit" and parts[1] in ROOMS else None


def upward(files: dict[str, str]) -> list[tuple[str, str]]:
    """(file, module) of every import of a room further down the list."""
    found = []
    for path, text in files.items():
        room = path.split("/")[0]
        if room not in ROOMS:
            continue  # the package's own __init__ and __main__ stand above all rooms
        for module in sorted(imports_of(text)):
            other = room_of(module)
            if other is not None and ROOMS.index(other) > ROOMS.index(room):
                exempt = any(
                    path == where and module.startswith(what) for where, what in EXCEPTIONS
                )
                found += [] if exempt else [(path, module)]
    return found


def offenders(folder: str, forbidden: str, files: dict[str, str] | None = None) -> list[str]:
    return [
        path
        for path, text in (files or sources()).items()
        if (folder == "." or path.startswith(f"{folder}/"))
        and any(name == forbidden or name.startswith(f"{forbidden}.") for name in imports_of(text))
    ]


def edges(source: str, modules: set[str]) -> set[str]:
    """The modules a source imports from: of `from package import module`, the module."""
    found: set[str] = set()
    tree = ast.parse(source)
    for_types = {
        id(each)
        for node in ast.walk(tree)
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        for each in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue  # never run
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & modules
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found |= {whole if whole in modules else node.module} & modules
    return found


def cycles(files: dict[str, str]) -> list[list[str]]:
    """Loops among modules, lazy imports counted, the stated exception aside."""
    modules = {
        "attnaudit." + path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path
        for path in files
    }
    graph: dict[str, list[str]] = {}
    for name, path in modules.items():
        if "/" in path:
            named = edges(files[path], set(modules)) - {name}
            exempt = {what for where, what in EXCEPTIONS if path == where}
            graph[name] = sorted(
                each for each in named if not each.startswith(tuple(exempt) or ("-",))
            )
    found: list[list[str]] = []
    state: dict[str, int] = {}

    def visit(name: str, trail: list[str]) -> None:
        state[name] = 1
        for other in graph.get(name, ()):
            if state.get(other) == 1:
                found.append(
                    [*trail[trail.index(other) :], other] if other in trail else [name, other]
                )
            elif other not in state:
                visit(other, [*trail, other])
        state[name] = 2

    for name in graph:
        if name not in state:
            visit(name, [name])
    return found


def test_no_module_is_loose_at_the_top() -> None:
    assert {path.name for path in SOURCE.glob("*.py")} == {"__init__.py", "__main__.py"}
    folders = {
        path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == set(ROOMS)


def test_every_room_imports_only_from_rooms_above_it() -> None:
    assert upward(sources()) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert cycles(sources()) == []


def test_every_room_says_what_it_holds() -> None:
    without = [
        path
        for path, text in sources().items()
        if path.endswith("/__init__.py") and not ast.get_docstring(ast.parse(text))
    ]
    assert without == []


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("audits", "attnaudit.models"),
        ("measures", "attnaudit.models"),
        ("exact", "attnaudit.models"),
        ("report", "torch"),
        *(("report", f"attnaudit.{room}") for room in ("models", "auditing", "training")),
    ],
)
def test_one_side_never_imports_the_other(folder: str, forbidden: str) -> None:
    assert list((SOURCE / folder).rglob("*.py")), folder
    assert offenders(folder, forbidden) == []


def test_the_checks_of_the_rooms_can_fail() -> None:
    files = {
        "core/a.py": "def f():\n    from attnaudit.cli import main",
        "models/b.py": "from attnaudit.models import c",
        "models/c.py": "def f():\n    import attnaudit.models.b",
        "report/d.py": "import torch.nn",
        "results/results.py": "from attnaudit.report.page import write_page",
        "results/other.py": "from attnaudit.report.page import write_page",
    }
    assert upward(files) == [
        ("core/a.py", "attnaudit.cli"),
        ("core/a.py", "attnaudit.cli.main"),
        ("results/other.py", "attnaudit.report.page"),
        ("results/other.py", "attnaudit.report.page.write_page"),
    ]
    assert cycles(files) == [["attnaudit.models.b", "attnaudit.models.c", "attnaudit.models.b"]]
    assert offenders("report", "torch", files) == ["report/d.py"]
    assert offenders("audits", "torch")


@pytest.mark.parametrize("unsafe", ["pickle", "joblib", "shelve", "marshal"])
def test_nothing_is_ever_unpickled(unsafe: str) -> None:
    assert offenders(".", unsafe) == []
    assert "torch.load" not in "".join(
        path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")
    )


@pytest.mark.parametrize(
    "registry",
    [
        data.DATASETS,
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


def test_at_most_twenty_public_names_and_all_there() -> None:
    assert len(attnaudit.__all__) <= 20
    assert all(getattr(attnaudit, name) is not None for name in attnaudit.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = attnaudit.nothing


@pytest.mark.parametrize(
    "command", ["import attnaudit", "import attnaudit.cli", "import attnaudit.report.page"]
)
def test_what_only_shows_does_not_wait_for_torch(command: str) -> None:
    code = f"import sys; {command}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
