"""Figures for papers: they show the stored numbers, the same runs give the same bytes."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from attnaudit.cli import main
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.report.charts.bins import BINS
from attnaudit.report.figures import FIGURES, OF_FINDINGS, OF_RUN, OF_RUNS, style
from attnaudit.report.paper_files import write_figures
from attnaudit.report.run_sources import Run, Sources, gather
from attnaudit.report.write_summary import select_names
from attnaudit.results.findings import Findings, Kind, read_findings
from attnaudit.results.value_columns import ValueColumns
from attnaudit.results.value_file import read_columns
from finished_runs import HOSTILE, finished, opened, renamed_classes, with_results


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two full runs, one with a single audit, and findings of three interventions."""
    out = tmp_path_factory.mktemp("runs")
    full = finished(out)
    finished(out, projection="sparsemax")
    finished(out, seed=5, audits=("agreement",), measures=("gradient_norm",))
    _corpus_audit().save(full / "mutual_information-seed_0")
    for each in _interventions():
        each.save(out / f"{each.name}-findings")
    return out


@pytest.fixture(scope="module")
def sources(runs: Path) -> Sources:
    return gather([runs])


@pytest.fixture(scope="module")
def run(sources: Sources) -> Run:
    (found,) = [
        each
        for each in sources.runs
        if (each.choices["projection"], each.choices["seed"]) == ("softmax", 0)
    ]
    return found


@pytest.fixture(autouse=True)
def _as_in_a_paper() -> Iterator[None]:
    with style.paper():
        yield


def _corpus_audit() -> Findings:
    draw = np.random.default_rng(0)
    columns = ("mean_attention", "mi", "mi_floor", "mi_corrected", "mi_of_input")
    detail = pd.DataFrame(
        {"rank": np.arange(1, 8), **{name: draw.random(7) for name in columns}, "clusters": 5}
    )
    summary = pd.DataFrame(
        [("weighted_tau", 0.8125, 0.5, 0.9, 0.01, 1.0)],
        columns=["metric", "value", "low", "high", "floor", "ceiling"],
    )
    return Findings("mutual_information", "?", summary, detail, kind=Kind.CORPUS_AUDIT)


def _interventions() -> list[Findings]:
    draw = np.random.default_rng(1)
    names = [f"e{number}" for number in range(60)] * 2
    examples = pd.DataFrame(
        {"example_id": names, "jsd": draw.random(120) * 0.6, "max_attention": draw.random(120)}
    )
    kinds = {"kind": ["seed", "twin", "twin"], "lam": [np.nan, 0.001, 0.01]}
    spread = {
        f"{name}{end}": np.array([0.1, 0.3, 0.5]) - shift + step
        for name, shift in (("jsd", 0), ("tvd", 0.09))
        for end, step in (("", 0), ("_low", -0.05), ("_high", 0.05))
    }
    sweep = {"projection": ["softmax", "sparsegen"], "value": [np.nan, 0.5], "accuracy": [0.9, 0.8]}
    for name in ("tau_gradient", "tau_random", "furthest_jsd"):
        sweep |= {name: [0.2, 0.4], f"{name}_low": [0.1, 0.3], f"{name}_high": [0.3, 0.5]}
    return [
        Findings("seeds", "?", pd.DataFrame({"pair": ["all"]}), examples, ()),
        Findings("adversarial", "?", pd.DataFrame({**kinds, **spread}), examples, ()),
        Findings("sparsity", "?", pd.DataFrame(sweep), pd.DataFrame({"none": []}), ()),
    ]


@cache
def stored_values(folder: Path) -> pd.DataFrame:
    """Not to be changed: a run in `runs` stays as it is."""
    return read_columns(folder / "values.parquet").long()


def stored(run: Run, audit: str, metric: str, measure: str = "") -> pd.DataFrame:
    """Predicted class and value by example, straight from the parquet file."""
    frame = stored_values(run.folder)
    part = frame[
        (frame["audit"] == audit) & (frame["metric"] == metric) & (frame["measure"] == measure)
    ]
    assert len(part) == 80
    return part.set_index("example_id")[["predicted", "value"]]


def heights(polygon: Any, bins: int) -> np.ndarray:
    """Of a filled step histogram, bin by bin."""
    xy = polygon.get_xy()
    return xy[1 : 2 * bins + 1 : 2, 1]


# What is drawn is what is stored ------------------------------------------------------------------


def test_tau_histograms_show_the_stored_tau_of_each_class_and_chance(run: Run) -> None:
    figure = OF_RUN["tau_histograms"](run)
    assert len(figure.axes) == 2
    for axes, measure in zip(figure.axes, ("gradient", "leave_one_out"), strict=True):
        drawn = [heights(each, BINS) for each in axes.patches]
        assert len(drawn) == 3  # two classes and random scores
        tau = stored(run, "agreement", "tau", measure)
        for number in (0, 1):
            part = tau.loc[tau["predicted"] == number, "value"].dropna()
            counts, _ = np.histogram(part, bins=BINS, range=(-1, 1))
            np.testing.assert_allclose(drawn[number], counts / len(part), atol=1e-12)
            assert drawn[number].sum() == pytest.approx(1)
        chance = stored(run, "agreement", "tau", "random")["value"].dropna()
        np.testing.assert_allclose(
            drawn[2], np.histogram(chance, bins=BINS, range=(-1, 1))[0] / len(chance), atol=1e-12
        )


@pytest.mark.parametrize(
    ("name", "audit", "metric"),
    [("permutation_violins", "permutation", "tvd_median"), ("furthest_violins", "furthest", "jsd")],
)
def test_violins_have_the_medians_and_counts_of_their_bins(
    run: Run, name: str, audit: str, metric: str
) -> None:
    (axes,) = OF_RUN[name](run).axes
    frame = stored(run, audit, metric).assign(
        peak=stored(run, "permutation", "max_attention")["value"]
    )
    frame["bin"] = (
        pd.cut(frame["peak"], [0, 0.25, 0.5, 0.75, 1.0], right=False, labels=False)
        .fillna(3)
        .astype(int)
    )
    grouped = frame.groupby(["bin", "predicted"])["value"]
    violins = {key: part for key, part in grouped if len(part) >= 10}
    assert violins  # or nothing is tested
    assert len(axes.collections) == len(violins)
    medians = sorted(
        line.get_xdata()[0] for line in axes.lines if line.get_markerfacecolor() == "white"
    )
    np.testing.assert_allclose(
        medians, sorted(part.median() for part in violins.values()), atol=1e-12
    )
    loose = sorted(
        x
        for line in axes.lines
        if line.get_markersize() == 2.5 and line.get_marker() == "o"
        for x in line.get_xdata()
    )
    np.testing.assert_allclose(
        loose, sorted(x for _, part in grouped if len(part) < 10 for x in part), atol=1e-12
    )
    counts = [int(label.get_text().split("= ")[1]) for label in axes.get_yticklabels()]
    assert counts == [int((frame["bin"] == level).sum()) for level in range(4)]


def test_furthest_histogram_shows_the_upper_bound_only_where_it_is_another_number(
    run: Run, tmp_path: Path
) -> None:
    (axes,) = OF_RUN["furthest_histogram"](run).axes
    jsd = stored(run, "furthest", "jsd")
    assert len(axes.patches) == 2
    for number, polygon in enumerate(axes.patches):
        part = jsd.loc[jsd["predicted"] == number, "value"]
        np.testing.assert_allclose(
            heights(polygon, BINS),
            np.histogram(part, bins=BINS, range=(0, math.log(2)))[0] / len(part),
            atol=1e-12,
        )
    changed = run.results.values.copy()
    upper = (changed["audit"] == "furthest") & (changed["metric"] == "upper")
    changed.loc[upper, "value"] = 0.5
    (axes,) = OF_RUN["furthest_histogram"](_with_values(run, changed)).axes
    assert len(axes.patches) == 3
    assert heights(axes.patches[2], BINS)[int(0.5 / math.log(2) * BINS)] == pytest.approx(1)


def _with_values(run: Run, values: pd.DataFrame) -> Run:
    return with_results(run, columns=ValueColumns.from_long(values))


def test_epsilon_curve_is_the_mean_at_each_epsilon_with_its_upper_bound(run: Run) -> None:
    (axes,) = OF_RUN["epsilon_curve"](run).axes
    epsilons = ["0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"]
    overall, upper, *classes = axes.lines[:4]
    np.testing.assert_allclose(overall.get_xdata(), [float(each) for each in epsilons])
    np.testing.assert_allclose(
        overall.get_ydata(),
        [stored(run, "epsilon_curve", f"jsd_{each}")["value"].mean() for each in epsilons],
    )
    np.testing.assert_allclose(
        upper.get_ydata(),
        [stored(run, "epsilon_curve", f"upper_{each}")["value"].mean() for each in epsilons],
    )
    for number, line in enumerate(classes):
        means = [
            (part := stored(run, "epsilon_curve", f"jsd_{each}"))
            .loc[part["predicted"] == number, "value"]
            .mean()
            for each in epsilons
        ]
        np.testing.assert_allclose(line.get_ydata(), means)
    assert [label.get_text() for label in axes.get_xticklabels()] == epsilons
    assert np.ptp(overall.get_ydata()) > 0.01  # a flat curve would hide a wrong order


def test_top_item_is_drawn_point_by_point_and_its_flips_as_a_table(run: Run) -> None:
    (axes,) = OF_RUN["top_item_scatter"](run).axes
    points = np.column_stack(axes.lines[0].get_data())
    expected = np.column_stack(
        [stored(run, "top_item", metric)["value"] for metric in ("delta_alpha", "delta_js")]
    )
    np.testing.assert_allclose(points[np.lexsort(points.T)], expected[np.lexsort(expected.T)])
    (axes,) = OF_RUN["flip_table"](run).axes
    top, other = (
        stored(run, "top_item", f"flips_{which}")["value"].astype(bool)
        for which in ("top", "random")
    )
    shares = [
        (top & other).mean(),
        (~top & other).mean(),
        (top & ~other).mean(),
        (~top & ~other).mean(),
    ]
    assert [text.get_text() for text in axes.texts] == [f"{100 * share:.1f} %" for share in shares]
    assert 0 < shares[2] < 1


def test_flip_boxes_have_every_ranking_and_the_exact_minimum_on_top(run: Run) -> None:
    (axes,) = OF_RUN["flip_boxes"](run).axes
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[-1] == "smallest set (exact)"
    assert {"attention", "gradient", "random"} < set(labels)
    medians = [
        line.get_xdata()[0]
        for line in axes.lines
        if line.get_color() == "black" and line.get_linewidth() == 1.2
    ]
    assert "leave one out" in labels  # words, not the names of the code
    names = [
        "smallest_set" if each.startswith("smallest") else each.replace(" ", "_") for each in labels
    ]
    removed = {name: stored(run, "flip_fraction", "removed", name)["value"] for name in names}
    np.testing.assert_allclose(medians, [removed[name].median() for name in names])
    assert [removed[name].mean() for name in names[:-1]] == sorted(
        (removed[name].mean() for name in names[:-1]), reverse=True
    )
    flips = [
        f"{100 * stored(run, 'flip_fraction', 'flipped', name)['value'].mean():.0f} %"
        for name in names
    ]
    assert [text.get_text() for text in axes.texts][: len(flips)] == flips


def test_agreement_matrix_holds_what_is_stored_and_nothing_else(run: Run) -> None:
    axes = OF_RUN["agreement_matrix"](run).axes[0]
    matrix = axes.images[0].get_array().filled(np.nan)
    across, down = (
        [label.get_text() for label in labels]
        for labels in (axes.get_xticklabels(), axes.get_yticklabels())
    )
    assert across == ["attention", "gradient"]
    assert not any("_" in name for name in down)
    for row, name in enumerate(each.replace(" ", "_") for each in down):
        assert matrix[row, 0] == pytest.approx(
            stored(run, "agreement", "tau", name)["value"].mean()
        )
        if name == "leave_one_out":
            assert matrix[row, 1] == pytest.approx(
                stored(run, "agreement", "tau", "gradient|leave_one_out")["value"].mean()
            )
        else:
            assert np.isnan(matrix[row, 1])
    assert len(down) == 9


def test_dispersion_has_a_box_for_each_run_that_has_it(sources: Sources) -> None:
    (axes,) = OF_RUNS["dispersion"](sources.runs).axes
    labels = [
        label.get_text().replace("\xa0", " ").replace("\n", " ") for label in axes.get_yticklabels()
    ]
    assert len(labels) == 2  # the third run has no dispersion
    assert any("sparsemax" in label for label in labels)
    medians = [
        line.get_xdata()[0]
        for line in axes.lines
        if line.get_color() == "black" and line.get_linewidth() == 1.2
    ]
    full = [
        each
        for each in sources.runs
        if each.columns("dispersion", "attention", "entropy") is not None
    ]
    assert sorted(medians) == pytest.approx(
        sorted(
            stored(each, "dispersion", "entropy", "attention")["value"].median() for each in full
        )
    )
    assert medians[0] > medians[1]


def test_information_by_rank_is_that_of_the_corpus_audit(run: Run) -> None:
    above, below = OF_RUN["information_by_rank"](run).axes
    detail = _corpus_audit().detail
    for line, name in zip(above.lines, ("mi", "mi_of_input", "mi_floor"), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), detail[name])
    assert [bar.get_height() for bar in below.patches] == detail["mean_attention"].tolist()
    assert "0.81 [0.50, 0.90]" in above.get_title()


def test_figures_of_interventions_show_their_findings(sources: Sources) -> None:
    found = {each.name: each for each in sources.findings}
    (axes,) = OF_FINDINGS["adversarial_curve"][1](found["adversarial"]).axes
    twins = [line for line in axes.lines if len(line.get_xdata()) == 2 and line.get_marker() == "o"]
    np.testing.assert_allclose(twins[0].get_xdata().astype(float), [0.21, 0.41])
    np.testing.assert_allclose(twins[0].get_ydata().astype(float), [0.3, 0.5])
    (axes,) = OF_FINDINGS["seed_violins"][1](found["seeds"]).axes
    together = _interventions()[0].detail.groupby("example_id").mean()
    place = np.digitize(together["max_attention"], [0.25, 0.5, 0.75])
    expected = sorted(
        part.median() for _, part in together["jsd"].groupby(place) if len(part) >= 10
    )
    medians = sorted(
        line.get_xdata()[0] for line in axes.lines if line.get_markerfacecolor() == "white"
    )
    np.testing.assert_allclose(medians, expected)
    assert len(expected) >= 2
    (axes,) = OF_FINDINGS["sparsity_sweep"][1](found["sparsity"]).axes
    np.testing.assert_allclose(axes.lines[0].get_ydata().astype(float), [0.2, 0.4])


def test_findings_next_to_the_runs_and_in_them_are_found(
    runs: Path, sources: Sources, run: Run
) -> None:
    assert sorted(each.name for each in sources.findings) == ["adversarial", "seeds", "sparsity"]
    for each in sources.findings:
        theirs = read_findings(runs / each.title)
        pd.testing.assert_frame_equal(each.summary, theirs.summary)
        pd.testing.assert_frame_equal(each.detail, theirs.detail)
    ours, theirs = (
        run.corpus_audit("mutual_information"),
        read_findings(run.folder / "mutual_information-seed_0"),
    )
    pd.testing.assert_frame_equal(ours.detail, theirs.detail)
    pd.testing.assert_frame_equal(ours.summary, theirs.summary)


# Files --------------------------------------------------------------------------------------------


def test_every_figure_in_every_format_and_the_same_bytes_again(
    sources: Sources, run: Run, tmp_path: Path
) -> None:
    part = Sources((run,), sources.findings)
    assert not write_figures(part, tmp_path / "once").skipped
    some = [
        "tau_histograms",
        "permutation_violins",
        "agreement_matrix",
        "dispersion",
        "adversarial_curve",
    ]
    write_figures(part, tmp_path / "again", only=some)
    once, again = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("[!.]*.*")
            if path.is_file()
        }
        for name in ("once", "again")
    )
    assert len(again) == 15
    assert {path: once[path] for path in again} == again
    assert {path.name for path in once} == {
        f"{name}.{kind}" for name in FIGURES for kind in ("pdf", "svg", "png")
    }
    starts = {".pdf": b"%PDF", ".svg": b"<?xml", ".png": b"\x89PNG"}
    for path, content in once.items():
        assert content.startswith(starts[path.suffix])
        assert b"Date" not in content
        assert str(tmp_path).encode() not in content
    changed = run.results.values.assign(value=lambda frame: frame["value"] * 0.9)
    write_figures(
        Sources((_with_values(run, changed),), ()), tmp_path / "other", only=["top_item_scatter"]
    )
    for kind in ("pdf", "svg", "png"):
        other = (tmp_path / "other" / run.title / f"top_item_scatter.{kind}").read_bytes()
        assert other != once[Path(run.title) / f"top_item_scatter.{kind}"]


def test_the_users_own_settings_of_matplotlib_change_nothing(run: Run, tmp_path: Path) -> None:
    import matplotlib

    write_figures(Sources((run,), ()), tmp_path / "plain", formats=["svg"], only=["flip_table"])
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "savefig.dpi": 20}):
        write_figures(Sources((run,), ()), tmp_path / "odd", formats=["svg"], only=["flip_table"])
        assert matplotlib.rcParams["font.size"] == 30  # and they are left as found
    plain, odd = (next((tmp_path / name).rglob("*.svg")).read_bytes() for name in ("plain", "odd"))
    assert plain == odd


def test_what_was_not_run_is_left_out_and_named(sources: Sources, tmp_path: Path) -> None:
    (bare,) = [each for each in sources.runs if each.choices["seed"] == 5]
    outcome = write_figures(Sources((bare,), ()), tmp_path / "out", formats=["png"])
    assert {path.stem for path in outcome.written} == {"tau_histograms", "agreement_matrix"}
    printed = str(outcome)
    for name, reason in {
        "permutation_violins": "the audit permutation was not run",
        "epsilon_curve": "the audit epsilon_curve was not run",
        "flip_boxes": "the audit flip_fraction was not run",
        "information_by_rank": "`attnaudit corpus-audit RUN --audit mutual_information` "
        "was not run",
    }.items():
        assert f"{name} ({bare.title}): {reason}" in printed
    assert "adversarial_curve: no findings of `attnaudit run --intervention adversarial`" in printed
    assert "dispersion: the audit dispersion was not run" in printed


def test_why_an_audit_did_not_apply_is_told(run: Run) -> None:

    values = run.results.values
    kept = values[values["audit"] != "epsilon_curve"]
    kept = kept.assign(audit=kept["audit"].cat.remove_unused_categories())
    summaries = run.results.summaries[run.results.summaries["audit"] != "epsilon_curve"]
    about = {**run.results.about, "not_applicable": {"epsilon_curve:search=false": "no readout"}}
    without = with_results(
        run, columns=ValueColumns.from_long(kept), summaries=summaries, about=about
    )
    with pytest.raises(NotApplicable, match="the audit epsilon_curve did not apply: no readout"):
        OF_RUN["epsilon_curve"](without)


def test_folders_are_found_once_each_and_told_apart(runs: Path, tmp_path: Path) -> None:
    (first, *_) = sorted(each for each in runs.iterdir() if (each / "run.json").is_file())
    copy = renamed_classes(first, tmp_path / first.name, ("no", "yes"))
    found = gather([first, runs, first, copy])
    assert len(found.runs) == 4
    assert len({each.title for each in found.runs}) == 4
    assert len({each.label for each in found.runs}) == 4
    only_findings = gather([runs / "seeds-findings"])
    assert (len(only_findings.runs), len(only_findings.findings)) == (0, 1)
    with pytest.raises(InputError, match="There is no directory"):
        gather([tmp_path / "nothing"])


# Looks and hostile texts --------------------------------------------------------------------------


def everything(run: Run, sources: Sources) -> Iterator[tuple[str, Any]]:
    for name, draw in OF_RUN.items():
        yield name, draw(run)
    for name, draw in OF_RUNS.items():
        yield name, draw(sources.runs)
    for name, (intervention, draw) in OF_FINDINGS.items():
        yield name, draw(next(each for each in sources.findings if each.name == intervention))


def check_looks(name: str, figure: Any) -> None:
    """One column wide, no letter too small, and no text cut off at the edge."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    assert figure.get_figwidth() == 3.3
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    for text in figure.findobj(Text):
        assert text.get_fontsize() >= 6.5, (name, text)
    box = figure.get_tightbbox(renderer)  # of all that is drawn, in inches
    assert min(box.x0, box.y0) >= -0.01, (name, box)
    assert box.x1 <= 3.31, (name, box)
    assert box.y1 <= figure.get_figheight() + 0.01, (name, box)


def test_every_figure_fits_a_column(run: Run, sources: Sources) -> None:
    drawn = dict(everything(run, sources))
    assert set(drawn) == set(FIGURES)
    for name, figure in drawn.items():
        check_looks(name, figure)


def test_classes_are_told_apart_without_colour(run: Run) -> None:
    (axes, _) = OF_RUN["tau_histograms"](run).axes
    first, second, chance = axes.patches
    assert first.get_hatch() != second.get_hatch()
    assert not chance.get_fill()


def test_hostile_class_names_are_drawn_as_text_and_break_nothing(run: Run, tmp_path: Path) -> None:
    hostile = opened(renamed_classes(run.folder, tmp_path / "run", HOSTILE))
    for name in (
        "tau_histograms",
        "permutation_violins",
        "furthest_histogram",
        "furthest_violins",
        "epsilon_curve",
    ):
        check_looks(name, OF_RUN[name](hostile))
    labels = OF_RUN["tau_histograms"](hostile).axes[0].get_legend_handles_labels()[1]
    assert (
        labels[0] == "predicted $\\nosuch_1^{2}$ & \\alpha %#~"
    )  # as a formula, it would not even parse
    assert labels[1].startswith("predicted =cmd|' /C calc'!A0 <scr")
    assert len(labels[1]) < 50
    outcome = write_figures(
        Sources((hostile,), ()),
        tmp_path / "out",
        formats=["svg"],
        only=["tau_histograms", "epsilon_curve"],
    )
    for path in outcome.written:
        tags = {each.tag.rpartition("}")[2] for each in ElementTree.parse(path).iter()}
        assert "path" in tags
        assert not tags & {"script", "image", "a", "foreignObject"}


def test_letters_the_font_lacks_are_boxes_and_long_names_are_cut() -> None:
    assert style.printable("a\x00b\nc") == "a b c"
    assert style.printable("\U0010ffff\ud800x") == "x"
    assert style.printable("汉x") == "□x"
    assert style.printable("y" * 100) == "y" * 27 + "…"
    assert style.printable("plain") == "plain"


# The command --------------------------------------------------------------------------------------


def test_the_command_writes_what_is_asked_for(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call = _caller(monkeypatch)
    assert (
        call(
            "figures",
            str(runs),
            "--out",
            str(tmp_path / "f"),
            "--format",
            "svg,png",
            "--only",
            "flip_table,dispersion",
        )
        == 0
    )
    printed = capsys.readouterr().out
    assert sorted({path.name for path in (tmp_path / "f").rglob("[!.]*.*")}) == [
        "dispersion.png",
        "dispersion.svg",
        "flip_table.png",
        "flip_table.svg",
    ]
    assert "flip_table" in printed
    assert "the audit top_item was not run" in printed
    assert call("figures", str(runs), "--only", "flip_tabel") == 2
    assert (
        "There is no figure 'flip_tabel'. Choose from: tau_histograms," in capsys.readouterr().err
    )
    assert call("figures", str(runs), "--format", "jpeg") == 2
    assert "There is no format 'jpeg'. Choose from: pdf, svg, png." in capsys.readouterr().err


def _caller(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    def call(*arguments: str) -> object:
        monkeypatch.setattr(sys, "argv", ["attnaudit", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0

    return call


def test_choices_keep_their_order_and_none_is_refused() -> None:
    assert select_names("c, a", ("a", "b", "c"), "letter") == ["a", "c"]
    assert select_names(None, ("a", "b"), "letter") == ["a", "b"]
    with pytest.raises(InputError, match="No letter is named"):
        select_names(" ,", ("a",), "letter")


def test_figures_and_tables_do_not_wait_for_torch() -> None:
    modules = "attnaudit.report.paper_files, attnaudit.cli.report"
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
