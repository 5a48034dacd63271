"""Tables of different seeds put together are the table of all these seeds."""

from __future__ import annotations

import math
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from attnaudit.papers.catalogue import find_items
from attnaudit.papers.comparison import as_frame, compare, not_run
from attnaudit.papers.item import Item, Number
from attnaudit.report.tables.formats import csv_text
from tool_modules import load_tool

NAN = math.nan
TAUS = {  # by measure; the published ones are .34 and .27
    "gradient": (0.33, 0.34, 0.36, 0.48, 0.47),
    "leave_one_out": (0.61, 0.62, 0.60, 0.63, 0.61),
    "random": (0.0, NAN, 0.02, -0.01, NAN),
}
FLOORS = (0.0, 0.01, NAN, 0.05, 0.02)
NAME = "jain_wallace_2019-table2-sst-sample_all-epochs_paper-seeds_{}.csv"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return load_tool("pool_trainings")


def table(seeds: list[int], *, corpus: str | None = "sst", claim: bool = True) -> pd.DataFrame:
    """Numbers of Jain & Wallace's table 2, and a claim, of some of five trainings."""
    shared = {"encoder": "bilstm", "scorer": "additive", "projection": "softmax"}
    numbers = []
    for seed in seeds:
        for measure, taus in TAUS.items():
            keys = {**shared, "predicted_class": "0", "measure": measure}
            number = Number("tau", taus[seed], keys, 0.1, 0.2, FLOORS[seed], 0.6, 1725)
            numbers.append(("sst", seed, number))
        if claim:
            keys = {**shared, "predicted_class": "1", "measure": "gradient"}
            rise = TAUS["gradient"][seed] - 0.335
            numbers.append(("sst", seed, Number("rise", rise, keys, claim=(0.0, math.inf))))
    return compare(_item(), as_frame(numbers), corpus)


def _item() -> Item:
    ((_, item),) = find_items("jain_wallace_2019", ["table2"])
    return item


def _stored(folder: Path, table: pd.DataFrame, seeds: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / NAME.format(seeds)
    path.write_text(csv_text(table), encoding="utf-8")
    return path


@pytest.mark.parametrize("stored", [[0, 1, 2], [3, 4]])
@pytest.mark.parametrize("corpus", ["sst", None])
def test_pooled_tables_are_the_table_of_all_trainings(
    tool: ModuleType, tmp_path: Path, corpus: str | None, stored: list[int]
) -> None:
    new = [seed for seed in range(5) if seed not in stored]
    old, _ = (
        _stored(tmp_path / folder, table(seeds, corpus=corpus), ".".join(map(str, seeds)))
        for folder, seeds in (("stored", stored), ("new", new))
    )
    done = tool.pool_folder(tmp_path / "new", tmp_path / "stored")
    assert done == [f"pooled: {NAME.format('0.1.2.3.4')}"]
    assert not old.exists()
    pooled = tool.read(tmp_path / "stored" / NAME.format("0.1.2.3.4"))
    whole = tool.read(_stored(tmp_path, table([0, 1, 2, 3, 4], corpus=corpus), "0.1.2.3.4"))
    # Floors are kept as means: of three trainings here, of which one has none, and of two.
    known = pooled["floor"].notna()
    pd.testing.assert_frame_equal(
        pooled.drop(columns="floor"), whole.drop(columns="floor"), rtol=1e-12
    )
    assert pooled.loc[known, "floor"].tolist() == pytest.approx(
        [(3 * 0.005 + 2 * 0.035) / 5] * known.sum()
    )
    if corpus is not None:
        verdicts = pooled["verdict"].fillna("").tolist()
        assert verdicts == ["reproduced", "differs", "", "no verdict"]
        assert pooled["trainings"].tolist() == [5, 5, 3, 5]


def test_more_trainings_may_change_a_verdict(tool: ModuleType) -> None:
    few = table([0, 1, 2])
    claim = tool.pool([few, table([3, 4])]).iloc[-1]
    assert few.iloc[-1]["verdict"] == claim["verdict"] == "no verdict"
    assert claim["low"] != few.iloc[-1]["low"]
    only = tool.pool([table([0]), table([1]), table([2])])
    assert table([0]).iloc[0]["verdict"] == "no verdict"
    assert only.iloc[0]["verdict"] == few.iloc[0]["verdict"] == "reproduced"
    assert table([0])["texts_low"].notna().any()
    assert only["texts_low"].isna().all()


def test_the_least_spread_of_a_published_number_counts(tool: ModuleType) -> None:
    few, more = table([0, 1, 2]), table([3, 4])
    for other in (more["spread"] + 1, NAN):
        for tables in ([few, more.assign(spread=other)], [more.assign(spread=other), few]):
            spread = tool.pool(tables)["spread"].tolist()
            assert spread == pytest.approx(few["spread"].tolist(), nan_ok=True)


def test_what_is_impossible_stays_so(tool: ModuleType, tmp_path: Path) -> None:
    missing = not_run(_item(), "mimic:task=anemia", "the corpus is not in the data folder")
    read = tool.read(_stored(tmp_path, missing, "0"))
    pooled = tool.pool([read, read])
    assert set(pooled["verdict"]) == {"not possible here"}
    assert set(pooled["why"]) == {"the corpus is not in the data folder"}


def test_tables_of_other_numbers_are_not_pooled(tool: ModuleType, tmp_path: Path) -> None:
    _stored(tmp_path / "stored", table([0, 1, 2]), "0.1.2")
    _stored(tmp_path / "new", table([3, 4], claim=False), "3.4")
    with pytest.raises(SystemExit, match=r"'1'.* is not once in each table"):
        tool.pool_folder(tmp_path / "new", tmp_path / "stored")
    _stored(tmp_path / "new", table([3, 4]).assign(published=0.9), "3.4")
    with pytest.raises(SystemExit, match="differs in 'published'"):
        tool.pool_folder(tmp_path / "new", tmp_path / "stored")
    _stored(tmp_path / "new", table([3, 4]).rename(columns={"encoder": "model"}), "3.4")
    with pytest.raises(SystemExit, match="different columns"):
        tool.pool_folder(tmp_path / "new", tmp_path / "stored")
    assert [path.name for path in (tmp_path / "stored").iterdir()] == [NAME.format("0.1.2")]


def test_trainings_count_once_and_new_tables_are_copied(tool: ModuleType, tmp_path: Path) -> None:
    stored = _stored(tmp_path / "stored", table([0, 1, 2]), "0.1.2")
    before = stored.read_bytes()
    _stored(tmp_path / "new", table([2, 3]), "2.3")
    (line,) = tool.pool_folder(tmp_path / "new", tmp_path / "stored")
    assert line.startswith("left alone")
    assert stored.read_bytes() == before
    stored.unlink()
    (line,) = tool.pool_folder(tmp_path / "new", tmp_path / "stored")
    assert line == f"copied: {NAME.format('2.3')}"
    copy, new = (tmp_path / folder / NAME.format("2.3") for folder in ("stored", "new"))
    assert copy.read_bytes() == new.read_bytes()
    new.unlink()
    _stored(tmp_path / "new", table([1, 2, 3]), "1.2.3")
    assert tool.pool_folder(tmp_path / "new", tmp_path / "stored")[0].startswith("replaced")
    assert [path.name for path in (tmp_path / "stored").iterdir()] == [NAME.format("1.2.3")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a-seeds_x.csv", "a\n", "is not named as"),
        (NAME.format("3.4").replace(".csv", "-fast.csv"), None, "made with --fast"),
        (NAME.format("3.4").replace("sst", "imdb"), None, "named after an item .* dataset, sst"),
        (NAME.format("3.4").replace("table2", "tabel2"), None, "named after an item"),
        (NAME.format("3.4.5"), None, "has 2 numbers per line, and 3 seeds"),
        (NAME.format("3.4"), "", "is no table of"),
        (NAME.format("3.4"), "dataset\nsst\n", "is no table of"),
    ],
)
def test_a_table_that_is_not_what_it_says_is_named_before_anything_is_written(
    tool: ModuleType, tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    stored = _stored(tmp_path / "stored", table([0, 1, 2]), "0.1.2")
    good = _stored(tmp_path / "new", table([3, 4]), "3.4")
    good.rename(good.with_name(good.name.replace("-sst-", "-sst-vectors_a-")))
    text = csv_text(table([3, 4])) if content is None else content
    (tmp_path / "new" / name).write_text(text, encoding="utf-8")
    with pytest.raises(SystemExit, match=message):
        tool.pool_folder(tmp_path / "new", tmp_path / "stored")
    assert [*(tmp_path / "stored").iterdir()] == [stored]


def test_several_new_tables_are_pooled_at_once(tool: ModuleType, tmp_path: Path) -> None:
    _stored(tmp_path / "stored", table([0, 4]), "0.4")
    for seed in (1, 2, 3):
        _stored(tmp_path / "new", table([seed]), str(seed))
    assert tool.pool_folder(tmp_path / "new", tmp_path / "stored") == [
        f"pooled: {NAME.format('0.1.2.3.4')}"
    ]
    pooled = tool.read(tmp_path / "stored" / NAME.format("0.1.2.3.4"))
    assert pooled["ours"].tolist() == pytest.approx(table([0, 1, 2, 3, 4])["ours"].tolist())
    _stored(tmp_path / "new", table([2, 3]), "2.3")
    with pytest.raises(SystemExit, match="A seed is in two tables"):
        tool.pool_folder(tmp_path / "new", tmp_path / "stored")


def test_the_same_trainings_under_another_name_are_not_counted_twice(
    tool: ModuleType, tmp_path: Path
) -> None:
    _stored(tmp_path / "stored", table([0, 1, 2]), "0.1.2")
    _stored(tmp_path / "new", table([0, 1, 2]), "3.4.5")
    with pytest.raises(SystemExit, match="have the same trainings"):
        tool.pool_folder(tmp_path / "new", tmp_path / "stored")


def _of(encoders: str, seeds: str) -> str:
    return NAME.format(seeds).replace("-sample", f"-encoders_{encoders}-sample")


def _both(seeds: list[int]) -> pd.DataFrame:
    """Numbers of two encoders, and one of neither."""
    counted = table(seeds).iloc[[0]].assign(encoder="", metric="train", measure="")
    parts = [counted, table(seeds), table(seeds).assign(encoder="cnn")]
    return pd.concat(parts, ignore_index=True)


def _one(encoder: str, seeds: list[int]) -> pd.DataFrame:
    both = _both(seeds)
    return both[both["encoder"].isin(["", encoder])].reset_index(drop=True)


def _pooled(tool: ModuleType, folder: Path, made: pd.DataFrame, name: str) -> list[str]:
    """Pool one table with what is stored."""
    (folder / "new").mkdir(exist_ok=True)
    (folder / "new" / name).write_text(csv_text(made), encoding="utf-8")
    done = tool.pool_folder(folder / "new", folder / "stored")
    (folder / "new" / name).unlink()
    return done


def _lines(folder: Path) -> list[tuple[str, ...]]:
    """Every stored line, with the number of its trainings in the file's name."""
    return sorted(
        (str(line["encoder"]), line["metric"], line["measure"], line["by_training"])
        for path in folder.iterdir()
        for line in pd.read_csv(path, keep_default_na=False).to_dict("records")
    )


def test_a_table_of_one_encoder_is_pooled_with_one_of_all(tool: ModuleType, tmp_path: Path) -> None:
    """The lines of the other encoders keep their trainings, under a name of their own."""
    _stored(tmp_path / "stored", _both([0, 1, 2]), "0.1.2")
    done = _pooled(tool, tmp_path, _one("bilstm", [3, 4]), _of("bilstm", "3.4"))
    assert done == [
        f"pooled: {_of('bilstm', '0.1.2.3.4')}",
        f"split off: {_of('cnn', '0.1.2')}",
    ]
    assert sorted(path.name for path in (tmp_path / "stored").iterdir()) == [
        _of("bilstm", "0.1.2.3.4"),
        _of("cnn", "0.1.2"),
    ]
    others = _both([0, 1, 2])
    others = others[others["encoder"] == "cnn"]
    assert (tmp_path / "stored" / _of("cnn", "0.1.2")).read_text() == csv_text(others)
    # The other encoder's trainings come later: one table of both again.
    done = _pooled(tool, tmp_path, _one("cnn", [3, 4]), _of("cnn", "3.4"))
    assert done == [f"pooled: {NAME.format('0.1.2.3.4')}"]
    whole = _stored(tmp_path / "whole", _both([0, 1, 2, 3, 4]), "0.1.2.3.4")
    assert _lines(tmp_path / "stored") == _lines(whole.parent)


def test_nothing_is_lost_or_doubled_whatever_comes_first(tool: ModuleType, tmp_path: Path) -> None:
    stored = _stored(tmp_path / "stored", _both([0, 1, 2]), "0.1.2")
    before = stored.read_bytes()
    # Some of the stored seeds again, of one encoder or of all.
    for seeds, text in (([2, 3], "2.3"), ([0, 1], "0.1")):
        for made, name in (
            (_one("bilstm", seeds), _of("bilstm", text)),
            (_both(seeds), NAME.format(text)),
        ):
            assert _pooled(tool, tmp_path, made, name)[0].startswith("left alone")
            assert [path.read_bytes() for path in stored.parent.iterdir()] == [before]
    # All of them again: replaced.
    done = _pooled(tool, tmp_path, _one("bilstm", [0, 1, 2, 3]), _of("bilstm", "0.1.2.3"))
    assert done == [f"replaced: {_of('bilstm', '0.1.2.3')}", f"split off: {_of('cnn', '0.1.2')}"]
    # More of both at once.
    done = _pooled(tool, tmp_path, _both([4]), NAME.format("4"))
    assert done == [
        f"pooled: {_of('bilstm', '0.1.2.3.4')}",
        f"pooled: {_of('cnn', '0.1.2.4')}",
    ]
    lines = _lines(stored.parent)
    assert len(lines) == len(_both([0])) == len({line[:3] for line in lines})
    # A name with encoders may hold every line.
    done = _pooled(tool, tmp_path, _both([0, 1, 2, 3, 4]), _of("bilstm.cnn", "0.1.2.3.4"))
    assert done == [f"replaced: {NAME.format('0.1.2.3.4')}"]
    assert [path.name for path in stored.parent.iterdir()] == [NAME.format("0.1.2.3.4")]


def test_an_encoder_that_was_not_stored_is_added(tool: ModuleType, tmp_path: Path) -> None:
    _stored(tmp_path / "stored", table([0, 1, 2]), "0.1.2")
    cnn = table([3, 4]).assign(encoder="cnn")
    done = _pooled(tool, tmp_path, cnn, _of("cnn", "3.4"))
    assert sorted(done) == [
        f"copied: {_of('cnn', '3.4')}",
        f"split off: {_of('bilstm', '0.1.2')}",
    ]


def test_seeds_that_differ_need_an_encoder_to_be_named_by(tool: ModuleType, tmp_path: Path) -> None:
    without = [part.drop(columns="encoder") for part in (table([0, 1, 2]), table([3, 4]))]
    stored = _stored(tmp_path / "stored", without[0], "0.1.2")
    other = without[1].assign(measure=without[1]["measure"] + "_b")
    with pytest.raises(SystemExit, match="no encoder to name them by"):
        _pooled(tool, tmp_path, other, NAME.format("3.4"))
    assert [*stored.parent.iterdir()] == [stored]
