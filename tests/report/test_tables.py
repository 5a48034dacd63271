"""Tables for papers: csv has the stored numbers, Markdown and LaTeX survive any class name."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from attnaudit.cli import main
from attnaudit.core.errors import NotApplicable
from attnaudit.core.output_files import MANIFEST
from attnaudit.report.paper_files import write_tables
from attnaudit.report.run_sources import Run, Sources, gather
from attnaudit.report.tables import OF_RUN, OF_RUNS
from attnaudit.report.tables.formats import csv_text, latex, markdown, to_latex, to_markdown
from attnaudit.report.tables.jain_wallace_released import released, released_names
from attnaudit.report.tables.table import PaperTable, number, percent, with_interval
from attnaudit.results.value_columns import ValueColumns
from attnaudit.results.value_file import read_columns
from finished_runs import HOSTILE, finished, opened, renamed_classes, with_results


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two encoders, another projection, and a run with one audit that is only in the summary."""
    out = tmp_path_factory.mktemp("runs")
    finished(out)
    finished(out, encoder="cnn:kernels=3")
    finished(out, projection="sparsemax", audits=("agreement",), measures=("gradient",))
    finished(out, seed=7, audits=("dispersion",), measures=())
    return out


@pytest.fixture(scope="module")
def sources(runs: Path) -> Sources:
    return gather([runs])


@pytest.fixture(scope="module")
def run(sources: Sources) -> Run:
    (found,) = [each for each in sources.runs if each.label == "average · softmax · seed 0"]
    return found


@pytest.fixture(scope="module")
def hostile(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return opened(renamed_classes(run.folder, tmp_path_factory.mktemp("hostile") / "run", HOSTILE))


@cache
def stored_values(folder: Path) -> pd.DataFrame:
    """Not to be changed: a run in `runs` stays as it is."""
    return read_columns(folder / "values.parquet").long()


def stored(run: Run, audit: str, metric: str, measure: str = "") -> pd.DataFrame:
    """Straight from the parquet file."""
    frame = stored_values(run.folder)
    part = frame[
        (frame["audit"] == audit) & (frame["metric"] == metric) & (frame["measure"] == measure)
    ]
    return part.set_index("example_id")[["predicted", "value"]]


# Numbers ------------------------------------------------------------------------------------------


def test_the_summary_reads_back_from_csv_digit_by_digit(run: Run) -> None:
    table = OF_RUN["summary"](run)
    back = pd.read_csv(
        io.StringIO(csv_text(table.numbers)),
        keep_default_na=False,
        float_precision="round_trip",
        na_values={
            "mean": [""],
            "floor": [""],
            "ceiling": [""],
            "low": [""],
            "high": [""],
            "sd": [""],
            "relative": [""],
            "relative_low": [""],
            "relative_high": [""],
        },
    )
    pd.testing.assert_frame_equal(back, table.numbers, check_dtype=False, rtol=0, atol=0)
    file = pd.read_parquet(run.folder / "summary.parquet")
    file = file[file["group"] == "all"]
    assert len(back) == len(file) > 100
    np.testing.assert_array_equal(back["mean"], file["mean"])
    np.testing.assert_array_equal(back["nan_share"], file["nan_share"])
    means = back.set_index(["audit", "measure", "metric"])["mean"]
    assert means["permutation", "", "tvd_median"] == pytest.approx(
        stored(run, "permutation", "tvd_median")["value"].mean()
    )


def test_the_summary_by_class_sets_the_classes_of_a_number_under_one_another(run: Run) -> None:
    numbers = OF_RUN["summary_by_class"](run).numbers
    assert numbers["predicted"].tolist()[:4] == ["negative", "positive", "negative", "positive"]
    line = numbers.set_index(["audit", "measure", "metric", "predicted"]).loc[
        ("furthest", "", "jsd", "positive")
    ]
    jsd = stored(run, "furthest", "jsd")
    part = jsd.loc[jsd["predicted"] == 1, "value"]
    assert line["mean"] == pytest.approx(part.mean())
    assert line["count"] == len(part)


def test_rows_of_a_site_are_told_as_their_mean(run: Run) -> None:
    frame = run.results.summaries
    mean = frame[(frame["audit"] == "permutation") & (frame["metric"] == "max_attention")].assign(
        row=-1, mean=0.123
    )
    several = with_results(run, summaries=pd.concat([frame, mean], ignore_index=True))
    numbers = OF_RUN["summary"](several).numbers
    (line,) = numbers[
        (numbers["audit"] == "permutation") & (numbers["metric"] == "max_attention")
    ].itertuples()
    assert line.mean == 0.123


def test_runs_are_one_row_each_and_hold_the_cards_numbers(sources: Sources, run: Run) -> None:
    table = OF_RUNS["runs"](sources.runs)
    assert table.numbers["run"].tolist() == [each.label for each in sources.runs]
    assert table.printed["run"].tolist() == [each.label for each in sources.runs]
    line = table.numbers.set_index("run").loc[run.label]
    printed = table.printed.set_index("run").loc[run.label]
    ends = {
        "": "value",
        " low": "low",
        " high": "high",
        " floor": "floor",
        " ceiling": "ceiling",
        " undefined": "nan_share",
    }
    for answer in run.results.card().answers:
        for at, finding in enumerate(answer.findings):
            found = [line[f"{finding.meaning}{end}"] for end in ends]
            assert found == pytest.approx(
                [getattr(finding, part) for part in ends.values()], nan_ok=True
            )
            if at == 0:  # what decides the question is printed under it
                assert printed[finding.meaning] == with_interval(
                    finding.value, finding.low, finding.high
                )
                assert (
                    table.heads[table.printed.columns.get_loc(finding.meaning)] == answer.question
                )
    assert line["test accuracy"] == run.results.about["run"]["performance"]["accuracy"]
    assert not any("_" in head for head in [*table.numbers.columns, *table.printed.columns])


def test_runs_with_other_options_have_columns_of_their_own(run: Run) -> None:
    frame = run.results.summaries
    other = frame.assign(
        audit=frame["audit"].astype(str).replace("furthest", "furthest:epsilon=0.05")
    )
    second = replace(with_results(run, summaries=other), label="other")
    numbers = OF_RUNS["runs"]([run, second]).numbers.set_index("run")
    heads = [head for head in numbers.columns if head.endswith("furthest/jsd_share]")] + [
        head for head in numbers.columns if head.endswith("furthest:epsilon=0.05/jsd_share]")
    ]
    assert len(heads) == 2
    assert numbers.loc[run.label, heads[0]] == numbers.loc["other", heads[1]]
    assert np.isnan(numbers.loc["other", heads[0]])


def several_rows(run: Run) -> Run:
    """The same run as if its site had two rows."""
    frame = run.results.summaries
    by_row = frame[(frame["audit"] == "permutation") & (frame["metric"] == "max_attention")]
    parts = [
        frame.drop(by_row.index),
        *(by_row.assign(row=row, mean=row / 10) for row in (0, 1, -1)),
    ]
    about = {**run.results.about, "rows": 2, "row_names": ["layer 3 head 0", "layer 3 head 5"]}
    return with_results(run, summaries=pd.concat(parts, ignore_index=True), about=about)


def test_rows_of_a_site_have_a_table_with_their_names(run: Run) -> None:
    numbers = OF_RUN["summary_by_row"](several_rows(run)).numbers
    assert numbers["row_name"].tolist() == ["layer 3 head 0", "layer 3 head 5"]
    assert numbers["mean"].tolist() == [0.0, 0.1]
    with pytest.raises(NotApplicable, match="one row of attention"):
        OF_RUN["summary_by_row"](run)


def test_a_mean_of_one_example_is_printed_without_an_interval(run: Run) -> None:
    """NaN as computed, None as JSON keeps it."""
    assert (
        with_interval(0.5, None, None)
        == with_interval(0.5, float("nan"), float("nan"))
        == "0.500, no interval (too few different values)"
    )
    assert with_interval(0.5, 0.4, 0.6) == "0.500 [0.400, 0.600]"
    assert with_interval(None, None, None) == "–"
    details = run.results.about["run"]
    performance = {**details["performance"], "accuracy_interval": [None, None]}
    about = {**run.results.about, "run": {**details, "performance": performance}}
    single = with_results(run, about=about)
    table = OF_RUNS["runs"]([single])
    assert table.printed["test accuracy"].iloc[0].endswith("no interval (too few different values)")
    assert np.isnan(table.numbers["test accuracy low"].iloc[0])


def test_table_2_has_a_line_a_class_and_columns_by_measure_and_encoder(
    sources: Sources, run: Run
) -> None:
    table = OF_RUNS["jain_wallace_table2"](sources.runs)
    assert table.heads == (
        "",
        "",
        *(
            f"{name} ({encoder})"
            for name in ("Gradient", "Leave-One-Out")
            for encoder in ("average", "cnn")
            for _ in "12"
        ),
    )
    line = table.numbers[
        table.numbers["dataset"].str.contains("softmax") & (table.numbers["class"] == "positive")
    ].iloc[0]
    for title, measure in (("Gradient", "gradient"), ("Leave-One-Out", "leave_one_out")):
        tau, p = (stored(run, "agreement", metric, measure) for metric in ("tau", "p"))
        part = tau.loc[tau["predicted"] == 1, "value"]
        assert line[f"{title} (average) mean"] == pytest.approx(part.mean())
        assert line[f"{title} (average) sd"] == pytest.approx(part.std(ddof=1))
        assert line[f"{title} (average) significant"] == pytest.approx(
            (p.loc[p["predicted"] == 1, "value"] <= 0.05).mean()
        )
    sparse = table.numbers[table.numbers["dataset"].str.contains("sparsemax")].iloc[0]
    assert np.isnan(sparse["Leave-One-Out (average) mean"])
    assert re.fullmatch(r"−?0\.\d\d ± 0\.\d\d", table.printed.iloc[0, 2])


def test_flips_are_the_four_shares(sources: Sources, run: Run) -> None:
    line = OF_RUNS["flips"](sources.runs).numbers.set_index("run").loc[run.label]
    top, other = (
        stored(run, "top_item", f"flips_{which}")["value"].astype(bool)
        for which in ("top", "random")
    )
    assert line["flips_only_top"] == pytest.approx((top & ~other).mean())
    assert line[
        ["flips_both", "flips_only_top", "flips_only_random", "flips_neither"]
    ].sum() == pytest.approx(1)


def test_the_released_layout_row_by_row(run: Run) -> None:
    text = csv_text(released(run, "gradient"), index=True)
    lines = text.splitlines()
    assert lines[0] == ",pval_sig,mean,std"
    assert [line.split(",")[0] for line in lines[1:]] == ["0", "1", "Overall"]
    tau, p = (stored(run, "agreement", metric, "gradient") for metric in ("tau", "p"))
    for line, members in zip(
        lines[1:],
        (tau["predicted"] == 0, tau["predicted"] == 1, tau["predicted"] >= 0),
        strict=True,
    ):
        _, significant, mean, std = line.split(",")
        part = tau.loc[members, "value"].to_numpy()
        assert significant == f"{(p.loc[members, 'value'] <= 0.05).mean():.2f}"
        assert float(mean) == pytest.approx(np.mean(part), rel=1e-15)
        assert float(std) == pytest.approx(np.std(part), rel=1e-12)
        assert float(std) != pytest.approx(np.std(part, ddof=1), rel=1e-6)


def test_an_undefined_tau_is_not_significant_and_left_out_of_the_mean(run: Run) -> None:
    values = run.results.values.copy()
    agreement = (
        (values["audit"] == "agreement")
        & (values["measure"] == "gradient")
        & values["metric"].isin(["tau", "p", "significant"])
    )
    gone = agreement & values["example_id"].isin(values["example_id"].unique()[:40])
    values.loc[gone, "value"] = np.nan
    columns = ValueColumns.from_long(values)
    half = with_results(run, columns=columns)
    table = released(half, "gradient")
    p = values[agreement & (values["metric"] == "p")]["value"]
    assert table.loc["Overall", "pval_sig"] == f"{(p <= 0.05).sum() / 80:.2f}"
    assert table.loc["Overall", "mean"] == pytest.approx(
        values[agreement & (values["metric"] == "tau")]["value"].mean()
    )


def test_released_files_are_named_as_theirs_with_what_is_unusual_after(
    run: Run, sources: Sources
) -> None:
    def named(**choices: object) -> str:
        details = {**run.results.about["run"], "choices": {**run.choices, **choices}}
        return released_names([with_results(run, about={**run.results.about, "run": details})])[0]

    assert named(dataset="sst", encoder="bilstm:hidden=128") == "sst+lstm+tanh"
    assert named(dataset="babi:task=2", encoder="cnn", scorer="dot") == "babi_2+cnn(1,3,5,7)+dot"
    assert named(dataset="sst", encoder="cnn:kernels=3") == "sst+cnn_kernels=3+tanh"  # not theirs
    assert named(dataset="newsgroups") == "20News_sports+average+tanh"
    assert (
        named(dataset="mimic:task=anemia", seed=3, projection="entmax:alpha=1.5")
        == "anemia+average+tanh+entmax_alpha=1.5+seed_3"
    )
    assert named(dataset="../../etc:x=1") == ".._.._etc+average+tanh"
    twice = released_names([run, replace(run, title="other-12345678")])
    assert len(set(twice)) == 2


# Formats ------------------------------------------------------------------------------------------


def check_latex(text: str) -> list[list[str]]:
    """The body's cells; balanced, only known commands, as many cells per line as columns."""
    lines = text.splitlines()
    assert lines[0].startswith("% ")
    assert lines[1].startswith("% ")
    kind, columns = re.fullmatch(r"\\begin\{(tabular|longtable)\}\{([lr]+)\}", lines[2]).groups()
    assert lines[-1] == rf"\end{{{kind}}}"
    inner = lines[3:-1]
    assert [line for line in inner if line.endswith("rule")] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]
    cells = []
    for line in inner:
        bare = re.sub(r"\\[\\{}$&#%_]", "", line)  # what is escaped is text
        assert bare.count("{") == bare.count("}"), line
        assert bare.count("$") % 2 == 0, line
        assert not re.search(r"[#%~^<>]", bare), line
        assert not re.search(r"_", re.sub(r"\\[a-z]+", "", bare)), line
        commands = set(re.findall(r"\\([A-Za-z]+)", bare))
        known = {
            "toprule",
            "midrule",
            "bottomrule",
            "addlinespace",
            "endhead",
            "multicolumn",
            "cmidrule",
            "textbackslash",
            "textasciitilde",
            "textasciicircum",
            "textless",
            "textgreater",
            "textbar",
            "textendash",
            "pm",
            "leq",
            "cdot",
            "ldots",
            "shortstack",
        }
        assert commands <= known, line
        if line.endswith(r" \\"):
            parts = re.split(r"(?<!\\)&", line.removesuffix(r" \\"))
            spans = sum(int(width) - 1 for width in re.findall(r"\\multicolumn\{(\d+)\}", line))
            assert len(parts) + spans == len(columns), line
            assert not parts[0].lstrip().startswith(("[", "*")), line
            cells.append([part.strip() for part in parts])
        else:
            assert re.fullmatch(
                r"\\(toprule|midrule|bottomrule|addlinespace|endhead)"
                r"|(\\cmidrule\(lr\)\{\d+-\d+\} ?)+",
                line,
            ), line
    return cells


def every(run: Run, sources: Sources) -> list[PaperTable]:
    return [
        *(make(several_rows(run)) for make in OF_RUN.values()),
        *(make(sources.runs) for make in OF_RUNS.values()),
    ]


def test_latex_is_whole_and_escaped(run: Run, hostile: Run, sources: Sources) -> None:
    for table in [*every(run, sources), *every(hostile, Sources((hostile, *sources.runs), ()))]:
        check_latex(to_latex(table))
    body = check_latex(to_latex(OF_RUN["summary_by_class"](hostile)))
    assert (
        r"\$\textbackslash{}nosuch\_1\textasciicircum{}\{2\}\$ \& "
        r"\textbackslash{}alpha \%\#\textasciitilde{}" in {row[3] for row in body}
    )
    with pytest.raises(AssertionError):  # the check can fail
        check_latex(to_latex(OF_RUN["summary"](run)).replace(r"\_", "_"))


def test_latex_cells_that_would_be_options_or_ligatures() -> None:
    assert latex("[3cm] x") == "{}[3cm] x"
    assert latex("* x") == "{}* x"
    assert latex("a [b]") == "a [b]"
    assert latex("a---b ``q'' ?`") == "a-{}-{}-b `{}`q'{}' ?{}`"
    assert latex("\\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"
    assert latex("line\nend % no") == r"line end \% no"


def test_markdown_is_one_table_with_nothing_alive_in_it(
    hostile: Run, run: Run, sources: Sources
) -> None:
    for table in [*every(run, sources), *every(hostile, Sources((hostile,), ()))]:
        caption, blank, *lines = to_markdown(table).splitlines()
        assert caption
        assert blank == ""
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {
            table.printed.shape[1] + 1
        }
        assert len(lines) == len(table.printed) + 2
        assert not any("<" in line or "\x00" in line for line in lines)
    assert markdown("<b>|`x`") == "&lt;b&gt;\\|\\`x\\`"
    assert "https://" not in markdown("https://evil.example")
    assert markdown("[a](b)") == "\\[a\\](b)"


def test_csv_holds_no_formula_no_control_character_and_every_name(hostile: Run) -> None:
    text = csv_text(OF_RUN["summary_by_class"](hostile).numbers)
    back = pd.read_csv(io.StringIO(text))
    names = set(back["predicted"])
    assert len(names) == 2
    assert any(name.startswith("'=cmd|") and len(name) > 10_000 for name in names)
    assert all(name.isprintable() for name in names)
    frame = pd.DataFrame({"a": ["-1", "+x", "@y", "plain"], "b": [-1.5, 0.1 + 0.2, np.nan, 1e-300]})
    assert csv_text(frame) == "a,b\n-1,-1.5\n'+x,0.30000000000000004\n'@y,\nplain,1e-300\n"
    assert csv_text(pd.DataFrame({"a": ["x", np.nan, None], "b": 1})) == "a,b\nx,1\n,1\n,1\n"


def test_numbers_in_words() -> None:
    assert [number(each) for each in (0.12345, -0.5, -0.0001, float("nan"))] == [
        "0.123",
        "−0.500",
        "0.000",
        "–",
    ]
    assert [percent(each) for each in (0.0, 0.004, 0.25, float("nan"))] == [
        "0 %",
        "0.4 %",
        "25 %",
        "–",
    ]


# Files and the command ----------------------------------------------------------------------------


def written(folder: Path) -> list[Path]:
    """The files of a folder, without the list that attnaudit keeps of them."""
    return [path for path in folder.iterdir() if path.name != MANIFEST]


def test_the_command_writes_every_table_and_names_what_it_leaves_out(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(*arguments: str) -> object:
        monkeypatch.setattr(sys, "argv", ["attnaudit", "tables", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0

    assert call(str(runs), "--out", str(tmp_path / "t")) == 0
    capsys.readouterr()
    top = sorted(path.name for path in (tmp_path / "t").glob("[!.]*") if path.is_file())
    assert top == sorted(
        f"{name}.{ending}"
        for name in ("runs", "jain_wallace_table2", "flips")
        for ending in ("csv", "md", "tex")
    )
    folders = [
        path
        for path in (tmp_path / "t").iterdir()
        if path.is_dir() and path.name != "jain_wallace_released"
    ]
    assert len(folders) == 4
    for folder in folders:
        assert len(written(folder)) == 6
    released = tmp_path / "t" / "jain_wallace_released"
    assert len(written(released / "GradientPval")) == 3
    assert len(written(released / "pyxc-pyc_pval")) == 2
    (bare,) = [each.folder for each in gather([runs]).runs if each.choices["seed"] == 7]
    assert call(str(bare), "--out", str(tmp_path / "b"), "--format", "latex") == 0
    printed = capsys.readouterr().out
    assert "jain_wallace_table2: the audit agreement was not run" in printed
    assert "flips: the audit top_item was not run" in printed
    assert "jain_wallace_released: these are csv files; add csv to --format" in printed
    assert call(str(bare), "--only", "tabel") == 2
    assert "There is no table 'tabel'. Choose from: summary," in capsys.readouterr().err


def test_the_same_runs_give_the_same_bytes(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_tables(Sources((run,), ()), tmp_path / name)
    a, b = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("[!.]*.*")
            if path.is_file()
        }
        for name in "ab"
    )
    assert a == b
    assert len(a) == 2 * 3 + 3 * 3 + 2
    assert not any(b"\r" in content for content in a.values())
