"""docs/reproduction.md is what its tables give."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from attnaudit.papers.catalogue import find_items
from attnaudit.papers.comparison import as_frame, compare
from attnaudit.papers.item import Number
from attnaudit.report.tables.formats import csv_text
from tool_modules import load_tool


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_tool("reproduction_page")


def test_the_page_is_up_to_date(tool: ModuleType) -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "run `make reproduction`"


def test_tables_become_lines_with_verdicts_counted_once(tool: ModuleType, tmp_path: Path) -> None:
    assert "Not run yet: `table1`, `table2`" in tool.page(tmp_path)
    keys = {
        "encoder": "bilstm",
        "scorer": "additive",
        "projection": "softmax",
        "predicted_class": "0",
    }
    numbers = [
        ("sst", seed, Number("tau", tau, {**keys, "measure": measure}, floor=0.0))
        for measure, taus in {
            "gradient": (0.33, 0.34, 0.36),
            "leave_one_out": (0.61, 0.62, 0.60),
            "random": (0.0, 0.01, 0.02),
        }.items()
        for seed, tau in enumerate(taus)
    ]
    for name in ("table2", "table2_all"):  # both show the same published cells
        ((_, item),) = find_items("jain_wallace_2019", [name])
        table = compare(item, as_frame(numbers), "sst")
        stem = f"jain_wallace_2019-{name}-sst-sample_all-epochs_paper-seeds_0.1.2"
        (tmp_path / f"{stem}.csv").write_text(csv_text(table), encoding="utf-8")
    text = tool.page(tmp_path)
    assert "| jain_wallace_2019 | 2 of 15 | 2 of 277 | 0 | 0 | 1 | 1 | 0 | 0 |" in text
    assert "| **all** | 2 of 49 | 2 of 670 | 0 | 0 | 1 | 1 | 0 | 0 |" in text
    assert "3 trainings, the paper's epochs, all test texts" in text.replace("3 T", "3 t")
    assert "| 0.340 (0.400) | 0.343 [0.305, 0.381] |" in text
    assert "1 more numbers" in text
    (tmp_path / "wen_2022-table1-sst.csv").write_text("a\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="is not named as"):
        tool.page(tmp_path)
