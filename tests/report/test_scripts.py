"""The scripts of the pages: all listed, each after those it uses, formatted and type-checked."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from attnaudit.report import scripts
from attnaudit.report.charts.chart_data import chart_data

STATIC = Path(str(files("attnaudit.report"))) / "static"
ROOT = Path(__file__).parents[2]
OWN = sorted(
    path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js") if path.name != "vega.js"
)


def defined(name: str) -> set[str]:
    """The global names of a script."""
    text = (STATIC / name).read_text(encoding="utf-8")
    return set(re.findall(r"^(?:const|function) (\w+)", text, flags=re.MULTILINE))


def test_every_script_is_listed_once() -> None:
    assert {*scripts.PAGE, *scripts.LESSON, *scripts.CITATIONS} == {*OWN, "vega.js"}
    assert len(set(scripts.PAGE)) == len(scripts.PAGE)
    assert len(set(scripts.LESSON)) == len(scripts.LESSON)


@pytest.mark.parametrize("page", ["PAGE", "LESSON"])
def test_a_script_uses_at_once_only_those_before_it(page: str) -> None:
    """What is taken apart at the top of a script (`const { a } = b;`) must be there already."""
    before: set[str] = set()
    for name in getattr(scripts, page):
        if name == "vega.js":
            continue
        text = (STATIC / name).read_text(encoding="utf-8")
        used = re.findall(r"^  const \{[^}]*\} =\s+(\w+);", text, flags=re.MULTILINE)
        assert set(used) <= before, name
        before |= defined(name)


def browsed() -> tuple[set[str], set[str]]:
    """The charts that browse.js lists in CHARTS, and those it makes from findings or runs."""
    text = (STATIC / "browse.js").read_text(encoding="utf-8")
    listed = re.search(r"const CHARTS = \[(.*?)\];", text, flags=re.DOTALL)
    assert listed is not None
    return set(re.findall(r"\w+", listed[1])), set(re.findall(r"\b(\w+Chart)\.of\b", text))


def test_every_chart_of_the_manifest_appears_on_the_page() -> None:
    charts = {
        chart
        for name in scripts.PAGE
        if name.startswith("charts/")
        for chart in defined(name)
        if chart.endswith("Chart")
    }
    of_data, of_findings = browsed()
    assert of_data | of_findings == charts
    assert len(of_data) >= 12


def test_all_numbers_for_charts_are_declared_and_drawn_by_a_listed_chart() -> None:
    tree = ast.parse(inspect.getsource(chart_data))
    dicts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
    ]
    (keys,) = [{key.value for key in node.keys if isinstance(key, ast.Constant)} for node in dicts]
    types = (STATIC / "types.d.ts").read_text(encoding="utf-8")
    declared = re.search(r"interface ChartData \{(.*?)^\}", types, flags=re.DOTALL | re.MULTILINE)
    assert declared is not None
    assert keys == set(re.findall(r"^  (\w+)\??:", declared[1], flags=re.MULTILINE))
    listed, _ = browsed()
    drawing = "".join(
        (STATIC / name).read_text(encoding="utf-8") for name in OWN if defined(name) & listed
    )
    assert keys - set(re.findall(r"\bdata\.(\w+)", drawing)) <= {"classes", "examples"}


@pytest.mark.parametrize("name", OWN)
def test_a_script_is_short_and_checked(name: str) -> None:
    lines = (STATIC / name).read_text(encoding="utf-8").splitlines()
    assert lines[0] == "// @ts-check"
    assert len(lines) <= 250
    assert max(map(len, lines)) <= 100


@pytest.mark.skipif(
    not ((ROOT / "node_modules/.bin/tsc").exists() and shutil.which("node")),
    reason="node, or what package.json names, is not installed (`npm ci`)",
)
def test_the_scripts_are_formatted_and_their_types_agree() -> None:
    checked = subprocess.run(
        ["npm", "run", "--silent", "check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
