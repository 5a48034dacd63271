"""Reports over many runs: read one at a time, computed once, and from summaries where they do."""

from __future__ import annotations

import gc
import json
import random
import re
import shutil
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from attnaudit.auditing.audit import audit
from attnaudit.cli import app
from attnaudit.core.errors import InputError
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.report import run_data
from attnaudit.report.charts.concentration import SHARES, concentration
from attnaudit.report.charts.measure_matrix import measure_matrix
from attnaudit.report.examples import _least_bytes, all_examples
from attnaudit.report.inline_data import _plain, as_json
from attnaudit.report.run_reports import report
from attnaudit.report.run_sources import _KEPT_OPEN, gather
from attnaudit.results import store
from attnaudit.results.results import Results
from attnaudit.results.value_columns import ValueColumns
from attnaudit.results.value_file import read_columns
from attnaudit.statistics import kendall
from attnaudit.training import correlate
from finished_runs import altered, edit_run, finished

pytestmark = pytest.mark.usefixtures("small_heap")
RUNS = 14  # more than the twelve from which a page says less of each


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen runs of different models, with different numbers."""
    place = tmp_path_factory.mktemp("runs")
    audits = ("permutation", "agreement", "furthest", "uniform_attention")
    base = finished(tmp_path_factory.mktemp("base"), audits=audits)
    for index in range(RUNS):
        dataset = f"keyword:train={300 + index}"
        altered(base, place / f"run-{index:02d}", shift=0.01 * index, dataset=dataset)
    return place


@pytest.fixture
def copies(runs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(runs, tmp_path / "runs"))


class Reader:
    """Counts the value files that are open at the same time, and the matrices read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.alive: weakref.WeakSet[ValueColumns] = weakref.WeakSet()
        self.most = self.opened = self.largest = 0

        def read_and_count(path: Path) -> ValueColumns:
            columns = read_columns(path)
            self.alive.add(columns)
            gc.collect()
            self.opened += 1
            self.most = max(self.most, len(self.alive))
            read = columns._read

            def counted(indices: Any) -> np.ndarray:
                self.largest = max(self.largest, len(indices))
                return read(indices)

            columns._read = counted
            return columns

        monkeypatch.setattr("attnaudit.results.table_schema.read_columns", read_and_count)


@pytest.mark.parametrize("site", [False, True])
def test_a_report_holds_the_values_of_two_runs_at_most(
    site: bool, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(monkeypatch)
    made = report(runs, tmp_path / "page.html", site=tmp_path / "site" if site else None)
    assert made.runs == reader.opened == RUNS
    assert reader.most <= 2  # that of the run before, until it is replaced
    assert 1 < reader.largest <= 80  # the columns of one small audit


def test_the_columns_of_a_large_audit_are_read_one_by_one(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report(runs, tmp_path / "together.html")
    monkeypatch.setattr("attnaudit.report.column_view._READ_TOGETHER", 79)  # of 80 examples
    reader = Reader(monkeypatch)
    report(runs, tmp_path / "page.html")
    assert reader.largest == 1  # columns of one attention row
    pages = [(tmp_path / name).read_bytes() for name in ("together.html", "page.html")]
    assert pages[0] == pages[1]


def test_tables_hold_the_values_of_a_few_runs(
    runs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reader = Reader(monkeypatch)
    sources = gather([runs])
    assert len(sources.runs) == RUNS
    for _ in range(2):
        assert all(len(run.columns.ids) == 80 for run in sources.runs)
    assert reader.opened == 3 * RUNS  # checked once, then opened in each pass
    assert reader.most <= _KEPT_OPEN + 1


def test_correlate_and_the_table_of_runs_read_no_values(copies: Path, tmp_path: Path) -> None:
    expected = str(correlate(copies))
    table = [str(copies), "--only", "runs", "--format", "csv", "--out"]
    runner = CliRunner()
    assert runner.invoke(app, ["tables", *table, str(tmp_path / "before")]).exit_code == 0
    for run in copies.iterdir():
        (run / "values.parquet").write_bytes(b"unreadable")
        (run / "examples.parquet").unlink()
    assert str(correlate(copies)) == expected
    assert runner.invoke(app, ["tables", *table, str(tmp_path / "after")]).exit_code == 0
    before, after = ((tmp_path / name / "runs.csv").read_text() for name in ("before", "after"))
    assert before == after
    with pytest.raises(InputError, match=r"values\.parquet is damaged"):
        store.load_results(copies / "run-00")


def test_a_damaged_file_is_found_when_it_is_first_used(copies: Path) -> None:
    run = copies / "run-00"
    (run / "values.parquet").write_bytes((run / "values.parquet").read_bytes()[:-1])
    results = store.open_results(run)
    assert len(results.examples) == 80
    assert results.card().answers
    for _ in range(2):  # not only the first time
        with pytest.raises(InputError, match="checksum"):
            len(results.columns)
    (run / "summary.parquet").unlink()
    with pytest.raises(InputError, match=r"has lost summary\.parquet"):
        store.open_results(run).summaries  # noqa: B018  # reads it


@pytest.mark.parametrize("site", [False, True])
@pytest.mark.parametrize("with_checksums", [False, True])
def test_damaged_runs_are_named_and_left_out(
    site: bool,
    with_checksums: bool,
    copies: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for number, table in enumerate(("values", "summary", "examples")):
        run = copies / f"run-{3 * number:02d}"
        if not with_checksums:  # then only reading the content finds it
            edit_run(run, lambda details: None, with_checksums=False)
        content = (run / f"{table}.parquet").read_bytes()
        (run / f"{table}.parquet").write_bytes(content[: len(content) // 2])
    made = report(copies, tmp_path / "page.html", site=tmp_path / "site" if site else None)
    assert made.runs == RUNS - 3
    assert all(f"run-{number:02d}" in caplog.text for number in (0, 3, 6))
    assert caplog.text.count("left out") == 3
    html = made.path.read_text(encoding="utf-8")
    shown = {f"keyword:train={300 + n}" for n in range(RUNS) if n not in (0, 3, 6)}
    assert set(re.findall(r"keyword:train=3\d\d", html)) == shown
    if site:
        pages = {path.name for path in made.path.parent.iterdir()}
        assert pages == {"index.html", *(f"run-{n + 1}.html" for n in range(RUNS - 3))}


def test_the_pages_of_a_site_share_what_is_computed(
    copies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    real = run_data.chart_data
    monkeypatch.setattr(
        run_data,
        "chart_data",
        lambda *given, **options: (calls.append(0), real(*given, **options))[1],
    )
    monkeypatch.setattr("attnaudit.report.site._EXAMPLES_PER_PAGE", 20)
    index = report([copies / "run-00", copies / "run-01"], site=tmp_path / "site").path
    assert len(calls) == 2
    names = ["run-1.html", *(f"run-1-{part}.html" for part in (2, 3, 4))]
    pages = [(index.parent / name).read_text(encoding="utf-8") for name in names]
    blocks = [_blocks(page) for page in (*pages, index.read_text(encoding="utf-8"))]
    for name in ("charts-0", "tables-0"):
        assert len({block[name] for block in blocks}) == 1
        assert len(blocks[0][name]) > 1000
    examples = [json.loads(block["examples-0"])["examples"] for block in blocks[:4]]
    assert [len(part) for part in examples] == [20] * 4
    assert len({example["id"] for part in examples for example in part}) == 80
    whole = list(all_examples(store.load_results(copies / "run-00")))
    assert [example for part in examples for example in part] == json.loads(json.dumps(whole))


def test_the_first_page_of_a_site_of_many_runs_is_a_table_of_links(
    runs: Path, tmp_path: Path
) -> None:
    index = report(runs, site=tmp_path / "site").path
    html = index.read_text(encoding="utf-8")
    assert "<script" not in html
    assert len(html) < 100_000
    for number in range(RUNS):
        assert f'<a href="run-{number + 1}.html">keyword:train={300 + number}' in html
        assert (index.parent / f"run-{number + 1}.html").is_file()


def _blocks(html: str) -> dict[str, str]:
    found = re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', html)
    return dict(found)


# The charts of kept examples, against a loop over the examples.


@pytest.fixture(scope="module")
def kept() -> pd.DataFrame:
    """Texts of several lengths, with undefined, constant and missing scores."""
    draw = np.random.default_rng(0)
    lines = []
    for number in range(60):
        count = int(draw.integers(1, 9))
        scores = {"gradient": draw.normal(size=count), "noise": draw.integers(3, size=count)}
        if number % 7 == 0:
            scores["noise"] = np.full(count, np.nan)
        if number % 5 == 0:
            scores["gradient"] = np.zeros(count)
        if number % 3 == 0:
            scores["by row"] = draw.normal(size=2 * count)
        lines.append(
            {
                "tokens": ["w"] * count,
                "predicted": number % 2,
                "attention": draw.dirichlet(np.ones(count)),
                "scores": [
                    {"measure": name, "values": values.astype(float)}
                    for name, values in scores.items()
                ],
            }
        )
    return pd.DataFrame(lines)


def _each(kept: pd.DataFrame) -> list[tuple[int, dict[str, np.ndarray]]]:
    return [
        (
            len(line.tokens),
            {"attention": line.attention, **{s["measure"]: s["values"] for s in line.scores}},
        )
        for line in kept.itertuples()
    ]


def test_the_curves_of_concentration_equal_a_loop_with_numpy_interp(kept: pd.DataFrame) -> None:
    found = concentration(kept, {-1: None, 0: [0]})["measures"]
    assert list(found) == ["attention", "noise", "gradient", "by row"] or set(found) == {
        "attention",
        "noise",
        "gradient",
        "by row",
    }
    for measure, groups in found.items():
        curves = []
        for count, scores in _each(kept):
            values = np.abs(scores.get(measure, np.full(count, np.nan)))
            if count < 2 or not np.isfinite(values).all() or not values.any():
                continue
            held = np.r_[0, np.sort(values.reshape(-1, count).mean(0))[::-1].cumsum()]
            curves.append(np.interp(SHARES, np.linspace(0, 1, count + 1), held / held[-1]))
        assert groups[0]["count"] == len(curves)
        np.testing.assert_allclose(groups[0]["mean"], np.mean(curves, 0), rtol=1e-3, atol=1e-12)
        low, high = np.quantile(curves, [0.25, 0.75], axis=0)
        np.testing.assert_allclose(groups[0]["low"], low, rtol=1e-3, atol=1e-12)
        np.testing.assert_allclose(groups[0]["high"], high, rtol=1e-3, atol=1e-12)


def test_the_matrix_of_measures_equals_kendalls_tau(
    kept: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    whole = measure_matrix(kept)
    assert whole["examples"] == sum(count >= 2 for count, _ in _each(kept))
    for cell in whole["cells"]:
        taus = []
        for count, scores in _each(kept):
            pair = [scores.get(cell[side]) for side in ("a", "b")]
            if count < 2 or any(values is None or len(values) != count for values in pair):
                continue
            if any(np.isnan(values).any() for values in pair):
                continue
            first, second = (torch.from_numpy(values)[None] for values in pair)
            taus.append(float(kendall(first, second, torch.ones(1, count, dtype=torch.bool))[0]))
        taus = [tau for tau in taus if not np.isnan(tau)]
        assert cell["count"] == len(taus)
        assert cell["tau"] == pytest.approx(np.mean(taus), rel=1e-3, abs=1e-12)
    monkeypatch.setattr("attnaudit.report.charts.measure_matrix._AT_ONCE", 1)
    assert measure_matrix(kept) == whole  # however few are computed at once


@pytest.fixture(scope="module")
def oracle() -> Results:
    return audit(Glass("oracle"), glass_batch(40), show_progress=False)


def test_no_example_takes_fewer_bytes_than_its_least(oracle: Results) -> None:
    least = dict(zip(oracle.examples["example_id"], _least_bytes(oracle.examples), strict=True))
    sizes = {example["id"]: len(json.dumps(example)) for example in all_examples(oracle)}
    assert len(sizes) == 40
    assert all(least[name] <= size for name, size in sizes.items())
    assert min(least[name] / size for name, size in sizes.items()) > 0.5


def test_json_is_the_same_whether_it_holds_numpy_or_not() -> None:
    draw = random.Random(0)
    plain = {"a": [1, 2.5, None, "</script>"], "b": {"c": draw.random()}, "d": [float("nan")]}
    assert as_json({"a": plain["a"], "b": plain["b"]}) == as_json(
        {"a": np.array(plain["a"], dtype=object), "b": plain["b"]}
    )
    assert json.loads(as_json(plain))["d"] == [None]
    assert _plain(plain)["d"] == [None]
