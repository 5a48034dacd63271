"""Every item of every paper is listed, runs on tiny data, and stores what it should."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from attnaudit.cli.main import app
from attnaudit.core.errors import InputError
from attnaudit.papers import item_list, reproduce
from attnaudit.papers.catalogue import PAPERS, find_items
from attnaudit.papers.comparison import JUDGED, NUMBERS, as_frame, compare
from attnaudit.papers.grid_tables import as_grid
from attnaudit.papers.item import Number, Plan
from attnaudit.papers.item_plans import corpus_for
from attnaudit.papers.jain_wallace_2019.trained_models import models
from attnaudit.papers.listing import list_text
from attnaudit.papers.published import published
from attnaudit.papers.reproduced_item import Settings
from attnaudit.training import grid

# Every table, figure and claim that the papers have.
EXPECTED = {
    "jain_wallace_2019": (
        *("table1", "table2", "table2_all", "figure1", "figure2", "figure3", "figure4", "figure5"),
        *("appendix_c", "claim_cnn", "claim_dot", "claim_average", "claim_diabetes"),
        *("claim_trend", "claim_length"),
    ),
    "wiegreffe_pinter_2019": ("uniform", "seeds", "guided_mlp", "adversarial", "contextual"),
    "serrano_smith_2019": ("table1", "table2", "figure3", "figure5"),
    "meister_2021": (
        *("table1", "table2", "table3", "table5", "table6"),
        *("figure1", "figure2", "figure3", "figure4", "contextualisation", "appendix_a"),
    ),
    "neely_schouten_2020": ("table1", "table2", "figure1", "figure2", "dependence"),
    "wen_2022": (
        *("table1", "figure2", "seed_noise", "table2", "table3", "table4", "table5"),
        *("uniformity", "claim_no_twin"),
    ),
}
ALL = [(paper, item.name) for paper, items in PAPERS.items() for item in items]
# They train many models, or cluster the states of many.
SLOW = {
    ("jain_wallace_2019", "table2_all"),
    ("meister_2021", "table5"),
    ("neely_schouten_2020", "dependence"),
    ("wen_2022", "figure2"),
    ("wen_2022", "table2"),
    ("wen_2022", "table4"),
    ("wen_2022", "uniformity"),
    ("wen_2022", "table5"),
    ("wen_2022", "claim_no_twin"),
    ("wiegreffe_pinter_2019", "guided_mlp"),
    ("wiegreffe_pinter_2019", "adversarial"),
    ("serrano_smith_2019", "figure5"),
}


def test_the_list_has_every_item_with_needs_cost_and_data(tmp_path: Path) -> None:
    here = {paper: tuple(item.name for item in items) for paper, items in PAPERS.items()}
    assert here == EXPECTED
    listed = item_list(data_dir=tmp_path)
    assert list(zip(listed["paper"], listed["item"], strict=True)) == ALL
    assert (listed["here"] == "").all()  # the folder is empty
    assert (listed["missing"] != "").all()
    assert (listed["models"] >= 1).all()
    assert (listed["cost"] == "").all()  # of nothing
    printed = CliRunner().invoke(app, ["reproduce", "--list", "--data-dir", str(tmp_path)])
    assert printed.exit_code == 0
    for paper, names in EXPECTED.items():
        assert paper in printed.output
        for name in names:
            assert f"  {name} " in printed.output
    assert "missing: sst" in printed.output
    assert "on what is here" not in printed.output
    assert "Costs" not in printed.output
    assert "--data-dir" in printed.output
    of_one = CliRunner().invoke(app, ["reproduce", "meister_2021", "--list"])
    assert "figure3" in of_one.output
    assert "wen_2022" not in of_one.output


def test_the_list_is_of_what_is_asked_for() -> None:
    words = ["--datasets", "keyword", "--seeds", "5", "--encoders", "bilstm", "--list"]
    printed = CliRunner().invoke(
        app, ["reproduce", "wiegreffe_pinter_2019", "contextual", "uniform", *words]
    )
    assert printed.exit_code == 0
    assert "for 5 seeds on what is here" in printed.output
    assert "here: keyword; missing: none" in printed.output
    assert "0 cell(s)" in printed.output  # of the item that compares encoders
    assert "guided_mlp" not in printed.output
    wrong = CliRunner().invoke(app, ["reproduce", "meister_2021", "tabel6", "--list"])
    assert isinstance(wrong.exception, InputError)
    assert "Did you mean 'table6'?" in str(wrong.exception)


def test_items_of_other_corpora_are_named_before_the_work(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = {"grid_file": tmp_path / "grid.toml", "out": tmp_path}
    reproduce("wen_2022", "table1", "claim_no_twin", datasets=["sst"], **chosen)
    assert "sst: the papers have claim_no_twin for other corpora" in caplog.text
    caplog.clear()
    reproduce("wen_2022", "table1", datasets=["sst"], **chosen)
    assert "for other corpora" not in caplog.text


def test_a_grid_file_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text("a = 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="another name with --write-grid"):
        reproduce("wen_2022", "table1", datasets=["sst"], grid_file=own, out=tmp_path)
    assert own.read_text(encoding="utf-8") == "a = 1\n"


def test_a_missing_corpus_that_is_named_is_an_error_before_any_work(tmp_path: Path) -> None:
    chosen = {"datasets": ["keyword", "yelp"], "data_dir": tmp_path, "out": tmp_path / "out"}
    with pytest.raises(InputError, match="The corpus 'yelp' is not in"):
        reproduce("serrano_smith_2019", "table2", **chosen)
    assert not (tmp_path / "out").exists()
    made = reproduce("serrano_smith_2019", "table2", grid_file=tmp_path / "grid.toml", **chosen)
    assert made.grid == tmp_path / "grid.toml"  # for another machine


def test_models_that_failed_are_run_again_if_that_is_asked_for(tmp_path: Path) -> None:
    chosen = {
        "datasets": ["keyword:train=40,dev=16,test=24,length=10,jitter=2"],
        "out": tmp_path / "runs",
        "seeds": 1,
        "epochs": 1,
        "show_progress": False,
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnaudit.training.runner.fit", lambda *args, **options: 1 / 0)
        made = reproduce("jain_wallace_2019", "figure4", **chosen)
    assert len(made.failed) == 1
    made = reproduce("jain_wallace_2019", "figure4", **chosen)
    assert len(made.failed) == 1  # it stays so
    made = reproduce("jain_wallace_2019", "figure4", retry_failed=True, **chosen)
    assert not made.failed
    assert len(made[0].table)


@pytest.mark.parametrize("vectors", [None, "glove.txt"])
def test_word_vectors_that_are_not_given_are_noticed(
    vectors: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Nothing is trained here: an interruption takes the place of the grid."""

    def stop(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    for name in ("grid", "need"):
        monkeypatch.setattr(
            f"attnaudit.papers.reproductions.{name}", stop if name == "grid" else print
        )
    for dataset, has_vectors in (("sst", True), ("babi_files:task=1", False), ("keyword", False)):
        with pytest.raises(KeyboardInterrupt):
            reproduce(
                "jain_wallace_2019", "table2", datasets=[dataset], vectors=vectors, out=tmp_path
            )
        said = "no --vectors: embeddings are random" in caplog.text
        caplog.clear()
        assert said == (has_vectors and vectors is None), dataset


def test_the_cost_is_of_the_corpora_that_are_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnaudit.papers.listing.is_here", lambda name, folder: name == "sst")
    listed = item_list()
    has_sst = listed["here"] == "sst"
    assert 0 < has_sst.sum() < len(listed)
    assert listed["cost"].str.fullmatch(r"(\d+ h )?\d+ min|").all()
    assert ((listed["cost"] != "") == has_sst).all()
    assert list_text(listed).count("on what is here") == has_sst.sum()
    assert "Costs are rough guesses" in list_text(listed)


def test_every_published_key_is_one_that_the_item_gives() -> None:
    """Otherwise no number of ours would ever stand next to it."""
    for items in PAPERS.values():
        for item in items:
            if item.published is not None:
                table = published(item.published)
                assert {"dataset", "metric", "value", "digits"} <= set(table.columns)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fast") / "runs"


@pytest.mark.parametrize(
    ("paper", "name"),
    [pytest.param(*each, marks=[pytest.mark.slow] if each in SLOW else []) for each in ALL],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_each_item_runs_fast(paper: str, name: str, out: Path) -> None:
    ((_, item),) = find_items(paper, [name])
    made = reproduce(paper, name, fast=True, seeds=1, out=out, show_progress=False)
    assert made.failed == ()
    first = made[0]
    assert first.dataset == item.fast_dataset
    assert len(first.table) > 0
    assert first.table["ours"].notna().any() or name in ("claim_diabetes", "table4")
    assert {*NUMBERS, *JUDGED, "metric", "dataset"} <= set(first.table.columns)
    assert first.table["published"].isna().all()  # simulated data is no paper's
    read = pd.read_csv(first.path)
    assert list(read.columns) == list(first.table.columns)
    corpus = "keyword" if "keyword" in item.fast_dataset else "babi"
    for part in (paper, name, corpus, "sample_12-epochs_1-seeds_0-fast"):
        assert part in first.path.name
    assert [path.suffix for path in first.figures] == ([".svg", ".png"] if item.draw else [])
    assert str(first).startswith(f"{paper} {name}, ")


def test_finished_runs_are_used_again(out: Path) -> None:
    first = reproduce("jain_wallace_2019", "table1", fast=True, seeds=1, out=out)
    runs = sorted(path.stat().st_mtime_ns for path in out.glob("*/run.json"))
    again = reproduce("jain_wallace_2019", "figure3", fast=True, seeds=1, out=out)
    assert sorted(path.stat().st_mtime_ns for path in out.glob("*/run.json")) == runs
    assert first[0].path.is_file()
    assert again[0].path.is_file()


def test_a_grid_file_is_what_would_be_run(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    made = reproduce(
        "jain_wallace_2019", "table2", datasets=["sst", "babi_files:task=1"], grid_file=file
    )
    assert made.grid == file
    assert made == []
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    assert content["preset"] == "jain_wallace"
    listed = grid(file, tmp_path / "runs", dry_run=True)
    assert len(listed.cells) == 2 * 2 * 3  # datasets, encoders, seeds
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("given", "seeds"), [("2", [0, 1]), ("3,4", [3, 4]), ("7,", None)])
def test_seeds_are_a_number_or_a_list(given: str, seeds: list[int] | None, tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    words = ["reproduce", "wen_2022", "table1", "--datasets", "sst", "--seeds", given]
    done = CliRunner().invoke(app, [*words, "--write-grid", str(file)])
    if seeds is None:
        assert "--seeds must be a number of trainings or seeds" in str(done.exception)
    else:
        assert done.exit_code == 0, done.output
        assert tomllib.loads(file.read_text(encoding="utf-8"))["seeds"] == seeds


@pytest.mark.parametrize("seeds", [0, -1, [], [3, 3], 10**11])
def test_seeds_that_are_no_trainings_are_rejected(seeds: int | list[int]) -> None:
    with pytest.raises(InputError, match="seeds must"):
        reproduce("wen_2022", "table1", datasets=["sst"], seeds=seeds)


def test_the_name_of_a_table_has_all_that_decides_its_numbers() -> None:
    ((_, item),) = find_items("wen_2022", ["table1"])
    chosen = Settings(Path("runs"), (3, 4), vectors="of mine/glove.6B.100d.txt", sample=20)
    words = "vectors_glove.6B.100d-sample_20-epochs_paper-seeds_3.4"
    assert chosen.stem("wen_2022", item, "sst").name == f"wen_2022-table1-sst-{words}"
    assert "vectors" not in chosen.stem("wen_2022", item, "babi_files:task=1").name
    assert "vectors" not in replace(chosen, vectors=None).stem("wen_2022", item, "sst").name
    some = replace(chosen, encoders=("cnn", "bilstm"))
    assert "encoders" not in some.stem("wen_2022", item, "sst").name  # it has no others
    ((_, item),) = find_items("wen_2022", ["figure2"])
    assert "100d-encoders_bilstm.cnn-sample_20" in some.stem("wen_2022", item, "sst").name


def test_only_models_of_the_chosen_encoders_are_made(out: Path) -> None:
    made = reproduce(
        "meister_2021", "table2", "table6", fast=True, seeds=1, out=out, encoders=["bilstm"]
    )
    assert [one.item for one in made] == ["table2", "table6"]
    assert all(set(one.table["encoder"]) == {"bilstm"} for one in made)
    assert all("-encoders_bilstm-" in one.path.name for one in made)
    every = reproduce("meister_2021", "table6", fast=True, seeds=1, out=out)
    of_bilstm = every[0].table[every[0].table["encoder"] == "bilstm"].reset_index(drop=True)
    pd.testing.assert_frame_equal(made[1].table, of_bilstm)


def test_items_that_compare_encoders_are_left_out_with_a_notice(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = {"fast": True, "out": tmp_path, "grid_file": tmp_path / "grid.toml"}
    reproduce("wiegreffe_pinter_2019", encoders=["bilstm"], **chosen)
    assert "left out: wiegreffe_pinter_2019 contextual needs other encoders, too" in caplog.text
    assert 'encoders = ["bilstm"]' in (tmp_path / "grid.toml").read_text()
    assert "cnn" not in (tmp_path / "grid.toml").read_text()
    with pytest.raises(InputError, match=r"'cnm'. Did you mean 'cnn'\? Choose from: average, bil"):
        reproduce("wiegreffe_pinter_2019", encoders=["bilstm", "cnm"], **chosen)
    with pytest.raises(InputError, match="Nothing is left to reproduce"):
        reproduce("wiegreffe_pinter_2019", "contextual", encoders=["bilstm"], **chosen)
    with pytest.raises(InputError, match=r"No encoder is named\. Choose from: average"):
        reproduce("wiegreffe_pinter_2019", encoders=[], **chosen)
    with pytest.raises(InputError, match=r"such as \['bilstm'\]; got a string"):
        reproduce("wiegreffe_pinter_2019", encoders="bilstm", **chosen)
    nowhere = {"data_dir": tmp_path, "out": tmp_path, "show_progress": False}
    made = reproduce("jain_wallace_2019", "table1", encoders=["bilstm"], **nowhere)
    assert not made  # its corpora are not here, and no published number is of what was asked for


def test_a_figure_whose_model_was_left_out_is_not_drawn(
    out: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chosen = {"fast": True, "seeds": 1, "out": out}
    made = reproduce("jain_wallace_2019", "figure2", encoders=["average"], **chosen)
    assert [one.figures for one in made] == [()]
    assert set(made[0].table["encoder"]) == {"average"}
    assert "no figure: its model, bilstm, additive, is not among those made" in caplog.text


def test_means_over_several_encoders_are_not_made_of_some(out: Path) -> None:
    made = reproduce("wen_2022", "figure2", fast=True, seeds=1, out=out, encoders=["bilstm"])
    assert [one.dataset for one in made] == [find_items("wen_2022", ["figure2"])[0][1].fast_dataset]


def test_question_answering_has_its_own_epsilon_and_filters() -> None:
    (answering,) = models(Plan("babi_files:task=1"), ("cnn",))
    assert "furthest:epsilon=0.05" in answering["audits"]
    assert answering["encoders"] == ["cnn:filters=8"]
    (classifying,) = models(Plan("sst"), ("cnn",))
    assert "furthest" in classifying["audits"]
    assert classifying["encoders"] == ["cnn"]


def test_a_corpus_counts_as_the_preset_prepares_it() -> None:
    ((_, item),) = find_items("neely_schouten_2020", ["table2"])
    assert corpus_for(item, "imdb") == "imdb"  # the preset keeps reviews of up to 100 words
    assert corpus_for(item, "imdb:fewer_than=400") is None
    ((_, other),) = find_items("serrano_smith_2019", ["table2"])
    numbers = published("serrano_smith_2019_table2")
    assert not (numbers["dataset"] == corpus_for(other, "imdb")).any()  # another corpus


def test_a_claim_is_judged_on_the_corpora_that_the_paper_makes_it_for() -> None:
    ((_, item),) = find_items("jain_wallace_2019", ["claim_diabetes"])
    assert corpus_for(item, "mimic:task=diabetes") is not None
    assert corpus_for(item, "sst") is None
    claimed = Number("tvd", 0.2, claim=(0.1, 1.0))
    ours = as_frame([("any", seed, claimed) for seed in range(3)])
    assert compare(item, ours, "mimic:task=diabetes")["verdict"].tolist() == ["reproduced"]
    elsewhere = compare(item, ours, None)
    assert (elsewhere["verdict"].tolist(), elsewhere["claim"].tolist()) == ([""], [""])


def test_tables_of_a_grid_must_be_complete() -> None:
    with pytest.raises(ValueError, match="lacks sample"):
        as_grid([{"dataset": "sst", "sample": 3}, {"dataset": "imdb", "epochs": 3}])


def test_old_names_and_wrong_names_are_explained(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="attnaudit"):
        ((paper, item),) = find_items("meister_table6")
    assert (paper, item.name) == ("meister_2021", "table6")
    assert "attnaudit reproduce meister_2021 table6" in caplog.text
    with pytest.raises(InputError, match="Did you mean 'wen_2022'"):
        find_items("wen_2020")
    with pytest.raises(InputError, match="has no item 'table9'"):
        find_items("wen_2022", ["table9"])
    assert len(find_items("all")) == len(ALL)
