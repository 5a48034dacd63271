"""docs/reproduction.md is what its tables give."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from attnaudit.papers.catalogue import find_items
from attnaudit.papers.comparison import as_frame, compare
from attnaudit.papers.item import Number
from attnaudit.papers.published import published
from attnaudit.report.tables.formats import csv_text
from tool_modules import load_tool


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_tool("reproduction_page")


def test_the_page_is_up_to_date(tool: ModuleType) -> None:
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "run `make reproduction`"


def test_means_over_all_corpora_stand_next_to_ours_over_those_that_are_stored() -> None:
    tool = load_tool("uncompared_cells")
    ((_, item),) = find_items("wen_2022", ["seed_noise"])
    assert item.pool is not None
    tables = [
        compare(
            item, as_frame([(name, seed, Number("weighted_tau", tau)) for seed, tau in taus]), name
        )
        for name, taus in {
            "sst": [(0, 0.9), (1, 0.8), (2, 0.7)],
            "ag_news": [(0, 0.5), (1, 0.5), (2, float("nan"))],
        }.items()
    ]
    left = tool.uncompared(item, tables).set_index("metric")
    assert left["value"].to_dict() == {"mean_difference": 0.02, "largest_difference": 0.05}
    assert left["ours"].to_dict() == pytest.approx(
        # 0.1, 0.2 and 0.1 between the trainings on SST, 0 on AG News.
        {"mean_difference": (0.4 / 3 + 0.0) / 2, "largest_difference": 0.4 / 3}
    )
    assert set(left["why"]) == {"ours over sst, ag_news only"}
    assert set(tool.uncompared(item, [])["why"]) == {"not run"}
    ((_, item),) = find_items("wen_2022", ["figure2"])
    keys = {"encoder": "bilstm", "scorer": "deep"}
    tables = [
        compare(
            item,
            as_frame(
                [(name, seed, Number("weighted_tau", tau, keys)) for seed, tau in enumerate(taus)]
            ),
            name,
        )
        for name, taus in {"sst": [0.2, 0.4, 0.9, 0.9], "ag_news": [0.8, 0.6]}.items()
    ]
    ours = tool.uncompared(item, tables).set_index(["encoder", "scorer"])["ours"]
    assert ours["bilstm", "deep"] == pytest.approx(0.5)  # of the two trainings that both have
    assert ours.notna().sum() == 2  # of the scorer, too


def test_a_published_cell_is_compared_or_has_a_reason() -> None:
    tool = load_tool("uncompared_cells")
    ((_, item),) = find_items("wen_2022", ["table3"])
    numbers = [("sst", seed, Number("tvd", 0.03 + seed / 100)) for seed in range(3)]
    left = tool.uncompared(item, [compare(item, as_frame(numbers), "sst")])
    cells = list(zip(left["dataset"], left["metric"], strict=True))
    assert ("sst", "tvd") not in cells
    assert ("sst", "jsd") in cells
    assert len(cells) == len({*cells}) == len(published("wen_2022_table3")) - 1
    why = left.set_index(["dataset", "metric"])["why"]
    assert why["sst", "lam"] == "a setting, not a result"
    assert why["sst", "jsd"] == why["imdb", "tvd"] == "not run"
    assert why["adr_tweets", "tvd"] == "the corpus is not at hand"


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
    ours = text.split("Ours, with nothing published:")[1].split("Files: ")[0]
    assert (
        "| sst | bilstm | additive | softmax | 0 | random | tau | 0.010 [-0.015, 0.035] |" in ours
    )
    assert "published" not in ours  # no column for what is not there
    assert "Files: `benchmarks/reproduction/jain_wallace_2019-table2-*.csv`." in text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tool, "_MOST_UNPUBLISHED", 0)
        assert "1 more numbers, with nothing published: see the files." in tool.page(tmp_path)
    # Of table 2, 189 numbers are published, and the page has each once.
    assert "187 published numbers of `table2` have no verdict:" in text
    assert "of `table2_all` have no verdict" not in text
    assert (
        "| sst | bilstm | additive | softmax | 0 | gradient | tau_sd | 0.210 (0.210) | not run |"
        in text
    )
    assert "| 0.160 (0.440) | not run |" in text  # SNLI
    assert "| yahoo | mean_length | 104 | the corpus is not at hand |" in text
    (tmp_path / "wen_2022-table1-sst.csv").write_text("a\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="is not named as"):
        tool.page(tmp_path)


def test_a_caption_names_the_corpus_the_model_and_the_trainings(tool: ModuleType) -> None:
    ((_, of_first),) = find_items("jain_wallace_2019", ["figure4"])
    ((_, of_all),) = find_items("meister_2021", ["figure1"])
    settings = "sample_all-epochs_paper-seeds_0.1.2.png"
    name = f"jain_wallace_2019-figure4-babi_files_task=1-{settings}"
    assert tool._caption("jain_wallace_2019-figure4-", of_first, Path(name), []) == (
        "babi_files_task=1: the BiLSTM with additive attention, first training, ε = .01 (questions "
        ".05), the paper's epochs, all test texts"
    )

    def caption(image: str, *tables: str) -> str:
        start = "meister_2021-figure1-"
        paths = [Path(f"{start}{table}.csv") for table in tables]
        return tool._caption(start, of_all, Path(f"{start}{image}.png"), paths)

    rest = "sample_all-epochs_paper-seeds_"
    three, five = f"sst-vectors_a-{rest}0.1.2", f"sst-vectors_a-{rest}0.1.2.3.4"
    split = [f"sst-vectors_a-encoders_{name}" for name in ("bilstm-", "transformer-")]
    said = "the paper's epochs, all test texts"
    of_sst = "sst: all models,"
    assert caption(three, three, f"imdb-vectors_a-{rest}7") == f"{of_sst} 3 trainings, {said}"
    assert caption(three, five) == (
        f"{of_sst} 3 trainings, {said}; the tables are of more trainings"
    )
    assert caption(five, f"{split[0]}{rest}0.1.2.3.4", f"{split[1]}{rest}0.1.2") == (
        f"{of_sst} up to 5 trainings, {said}"
    )
    assert caption(f"{split[0]}{rest}0.1.2") == f"sst: models with bilstm, 3 trainings, {said}"


def test_pictures_of_tables_alone_are_drawn_of_all_that_is_stored(tmp_path: Path) -> None:
    pictures = load_tool("reproduction_pictures")
    tables, images = tmp_path / "tables", tmp_path / "images"
    tables.mkdir()
    images.mkdir()
    ((_, item),) = find_items("meister_2021", ["figure1"])
    start, rest = "meister_2021-figure1-sst", "sample_all-epochs_paper-seeds_"
    for encoder, seeds in (("bilstm", (0, 1, 2)), ("transformer", (0, 1))):
        numbers = [
            (
                "sst",
                seed,
                Number(
                    "tau",
                    seed / 10,
                    {"encoder": encoder, "projection": "softmax", "measure": "hidden_gradient"},
                ),
            )
            for seed in seeds
        ]
        name = f"{start}-encoders_{encoder}-{rest}{'.'.join(map(str, seeds))}.csv"
        table = compare(item, as_frame(numbers), "sst")
        (tables / name).write_text(csv_text(table), encoding="utf-8")
    assert pictures.draw_all(tables, images) == []  # of what has no picture, none is made
    (images / f"{start}-{rest}0.png").write_bytes(b"")
    (images / "jain_wallace_2019-figure4-sst-sample_all-epochs_paper-seeds_0.png").write_bytes(b"")
    (drawn,) = pictures.draw_all(tables, images)
    assert drawn.name == f"{start}-{rest}0.1.2.png"
    assert drawn.read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in images.glob("*.png")) == [
        "jain_wallace_2019-figure4-sst-sample_all-epochs_paper-seeds_0.png",
        drawn.name,
    ]


def test_cells_hold_bars_small_numbers_and_counts_without_intervals(tool: ModuleType) -> None:
    ((_, item),) = find_items("jain_wallace_2019", ["table1"])
    numbers = [
        ("sst", seed, number)
        for seed in range(3)
        for number in (
            Number("train_0", 3034.0, {"pair": "a|b"}),
            Number("share", 0.0002, {"pair": "a|b"}),
        )
    ]
    table = compare(item, as_frame(numbers), None).drop(columns=["claim", "why"])
    lines = tool._table(table.assign(claim=float("nan"), why=float("nan"))).splitlines()
    assert lines[2:] == [
        r"| sst | a\|b | train_0 | 3,034 |",
        r"| sst | a\|b | share | 0.0002 [0.0002, 0.0002] |",
    ]
