"""The cache of parsed corpora: stored completely, noticed when damaged or out of date."""

from __future__ import annotations

import functools
import multiprocessing
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data import DATASETS, load
from attnaudit.data.corpus_info import About, describes
from attnaudit.data.reading import cache, parquet_cache
from attnaudit.data.reading.fingerprint import fingerprint
from attnaudit.data.reading.preprocessing import (
    Preparation,
    Text,
)
from attnaudit.data.splits import Example, Splits

WORD = st.text(st.characters(exclude_categories=("Cs",)), max_size=5)


@st.composite
def _splits(draw: st.DrawFn) -> Splits:
    def one(split: str, number: int) -> Example:
        tokens = tuple(draw(st.lists(WORD, min_size=1, max_size=4)))
        maybe = st.none
        label = draw(maybe() | st.integers(0, 2))
        others = draw(maybe() | st.sets(st.integers(0, 2), min_size=1))
        if others is not None and label is not None:
            others.add(label)
        return Example(
            f"{split}/{number}é",
            tokens,
            label=label,
            query=draw(maybe() | st.lists(WORD, min_size=1, max_size=3).map(tuple)),
            evidence=draw(
                maybe()
                | st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens)).map(tuple)
            ),
            segments=draw(maybe() | st.just(tuple(range(len(tokens))))),
            candidates=None if others is None else tuple(sorted(others)),
        )

    parts = {
        split: tuple(one(split, n) for n in range(draw(st.integers(0, 4))))
        for split in ("train", "dev", "test")
    }
    if len({each.label for each in parts["train"]}) < 2:
        parts["train"] = ()
    notes = {"dropped": {"é": 1}, "rule": draw(WORD), "list": [1, None, 2.5]}
    return Splits("made", **parts, classes=("a", "b", "ü"), tokeniser="t", min_count=3, notes=notes)


@settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(splits=_splits())
def test_what_is_stored_comes_back(tmp_path: Path, splits: Splits) -> None:
    parquet_cache.save(splits, tmp_path / "kept")
    again = parquet_cache.load(tmp_path / "kept")
    assert again == splits
    assert splits == again
    assert fingerprint(again) == fingerprint(splits)
    for name in ("train", "dev", "test"):
        ours, theirs = getattr(again, name), getattr(splits, name)
        assert tuple(ours) == theirs
        assert [type(value) for each in ours for value in (each.label, *(each.segments or ()))] == [
            type(value) for each in theirs for value in (each.label, *(each.segments or ()))
        ]
        for each in (slice(None), slice(1, None), slice(None, None, -1), slice(-2, 9)):
            assert ours[each] == theirs[each]
        for at in range(-len(theirs), len(theirs)):
            assert ours[at] == theirs[at]
        for at in (len(theirs), -len(theirs) - 1):
            with pytest.raises(IndexError):
                ours[at]


def _some(count: int = 6) -> Splits:
    made = [Example(f"train/{n}", (f"w{n % 3}", "x"), label=n % 2) for n in range(count)]
    return Splits("made", train=made, dev=(), test=(), classes=("n", "p"), tokeniser="t")


def test_other_examples_are_not_equal(tmp_path: Path) -> None:
    parquet_cache.save(_some(), tmp_path / "kept")
    again = parquet_cache.load(tmp_path / "kept")
    assert again.train != _some(4).train
    assert again.train != list(reversed(_some().train))
    assert again.train != 5


def test_examples_are_made_when_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet_cache.save(_some(), tmp_path / "kept")
    made: list[str] = []

    def counted(example_id: str, **more: Any) -> Example:
        made.append(example_id)
        return Example(example_id, **more)

    monkeypatch.setattr(parquet_cache, "Example", counted)
    again = parquet_cache.load(tmp_path / "kept")
    assert (len(again.train), made) == (6, [])
    assert again.train[-1].example_id == "train/5"
    assert made == ["train/5"]


def test_a_byte_changed_in_the_store_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    parquet_cache.save(_some(), path)
    whole = path.read_bytes()
    noticed = 0
    for at in range(0, len(whole), 3):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1 :])
        try:
            again = parquet_cache.load(path)
        except Exception:
            noticed += 1
        else:
            assert again == _some(), at
    assert noticed > len(whole) / 3 / 2


def test_a_failed_save_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: Any, **more: Any) -> None:
        Path(given[1]).write_bytes(b"half")
        raise OSError("no room")

    monkeypatch.setattr(parquet_cache.pq, "write_table", broken)
    with pytest.raises(OSError, match="no room"):
        parquet_cache.save(_some(), tmp_path / "kept")
    assert not list(tmp_path.iterdir())


class Counted:
    """A corpus of one file, whose reader counts how often it is called."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls = 0
        self.folder, self.monkeypatch = folder / "data", monkeypatch
        self.file = self.folder / "counted" / "a.txt"
        self.file.parent.mkdir(parents=True)
        self.file.write_text("plain\nwords\nof it\nall\n")
        monkeypatch.setenv("ATTNAUDIT_CACHE", str(folder / "cache"))
        self.register()

    def register(self, version: int = 1) -> None:
        about = About("t", "t", "s", "l", "h", places=("counted", "counted.txt"), version=version)

        @describes(about)
        def counted(
            place: Path, *, tokeniser: str = "regex", more: int = 1, seed: int = 0
        ) -> Splits:
            self.calls += 1
            prepare = Preparation("counted", tokeniser=tokeniser)
            path = place if place.is_file() else place / "a.txt"
            texts = [
                Text(f"train/{n}", "", line, n % 2)
                for n, line in enumerate(path.read_text().splitlines())
            ]
            return prepare.finish(
                train=prepare.examples(texts), dev=(), test=(), classes=("n", "p"), more=more
            )

        self.monkeypatch.setitem(DATASETS, "counted", counted)

    def load(self, options: str = "", **more: Any) -> Splits:
        return load(f"counted{options}", data_dir=self.folder, **more)

    def kept(self) -> list[Path]:
        return sorted((self.folder.parent / "cache" / "parsed").iterdir())


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(tmp_path, monkeypatch)


def test_the_second_time_nothing_is_parsed(counted: Counted) -> None:
    first = counted.load()
    second = counted.load()
    assert (counted.calls, first == second) == (1, True)
    assert isinstance(second.train, parquet_cache.StoredExamples)
    assert counted.load(":seed=0,more=1") == first  # the same options, written out
    assert counted.calls == 1


def test_two_at_once_parse_once(counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads lock each other out as processes do: each opens the lock file itself."""
    reader = DATASETS["counted"]

    @functools.wraps(reader)
    def slow(*given: Any, **more: Any) -> Splits:
        time.sleep(0.3)
        return reader(*given, **more)

    monkeypatch.setitem(DATASETS, "counted", slow)
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(lambda _: counted.load(), range(4)))
    assert counted.calls == 1
    assert all(each == loaded[0] for each in loaded)
    assert [path.suffix for path in counted.kept()] == [".parquet"]


def test_without_the_cache_nothing_is_kept_or_taken(counted: Counted) -> None:
    counted.load(cache=False)
    assert not (counted.folder.parent / "cache").exists()
    counted.load()
    counted.load(cache=False)
    assert counted.calls == 3


@pytest.mark.parametrize(
    "change", ["content", "time", "new file", "name", "option", "seed", "tokeniser", "version"]
)
def test_whatever_changes_it_is_parsed_again(counted: Counted, change: str) -> None:
    counted.load()
    options: dict[str, Any] = {}
    if change == "content":
        counted.file.write_text("other\nwords\nof it\nall, all\n")
    elif change == "time":
        os.utime(counted.file, ns=(1, 1))
    elif change == "new file":
        (counted.file.parent / "b.txt").write_text("")
    elif change == "name":
        (counted.file.parent / "b.txt").write_text("")
        counted.load()
        (counted.file.parent / "b.txt").rename(counted.file.parent / "c.txt")
        counted.calls -= 1
    elif change == "seed":
        options["seed"] = 7
    elif change == "version":
        counted.register(version=2)
    choice = {"option": ":more=2", "tokeniser": ":tokeniser=blanks"}.get(change, "")
    counted.load(choice, **options)
    assert counted.calls == 2
    counted.load(choice, **options)
    assert counted.calls == 2


def test_of_a_single_file_the_content_counts(counted: Counted) -> None:
    path = counted.folder / "counted.txt"
    counted.file.rename(path)
    counted.file.parent.rmdir()
    first = counted.load()
    os.utime(path, ns=(1, 1))
    assert (counted.load() == first, counted.calls) == (True, 1)
    status = path.stat()
    path.write_text(path.read_text().replace("plain", "brown"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert counted.load().train[0].tokens == ("brown",)
    assert counted.calls == 2


def test_auto_is_kept_apart_by_what_it_means(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("spacy")
    assert counted.load(":tokeniser=auto").tokeniser.startswith("spacy-")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert counted.load(":tokeniser=auto").tokeniser == "regex"
    assert counted.calls == 2


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "text"])
def test_a_damaged_file_of_the_cache_is_replaced(counted: Counted, damage: str) -> None:
    first = counted.load()
    (kept,) = counted.kept()
    whole = kept.read_bytes()
    kept.write_bytes(
        {
            "empty": b"",
            "cut": whole[:-9],
            "changed": whole[:4] + bytes(byte ^ 0x15 for byte in whole[4:60]) + whole[60:],
            "text": b"PAR1 or so",
        }[damage]
    )
    assert kept.read_bytes() != whole
    assert (counted.load() == first, counted.calls) == (True, 2)
    assert (counted.load() == first, counted.calls) == (True, 2)
    assert counted.kept() == [kept]


def test_a_cache_that_cannot_be_written_costs_time_only(counted: Counted) -> None:
    (counted.folder.parent / "cache").write_text("a file, where the folder should be")
    first = counted.load()
    assert (counted.load() == first, counted.calls) == (True, 2)


def test_a_link_to_nothing_is_no_trouble(counted: Counted) -> None:
    (counted.file.parent / "link").symlink_to("nowhere")
    counted.load()
    counted.load()
    assert counted.calls == 1


def test_a_place_that_cannot_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(b"")

    def denied(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match=r"a\.zip: cannot be read \(.*Permission denied"):
        cache.files_fingerprint(path)


@pytest.mark.parametrize("option", ["place=x", "folder=5", "folder=[1]"])
def test_a_choice_cannot_break_the_loading(counted: Counted, option: str) -> None:
    with pytest.raises(InputError, match=r"has no option 'place'|data folder '.*' does not exist"):
        counted.load(f":{option}")


def test_a_cache_that_may_not_be_read_costs_time_only(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*given: Any, **more: Any) -> None:
        raise PermissionError(13, "Permission denied")

    first = counted.load()
    monkeypatch.setattr(parquet_cache, "load", denied)
    monkeypatch.setattr(Path, "unlink", denied)
    monkeypatch.setattr(parquet_cache, "save", denied)
    assert (counted.load() == first, counted.calls) == (True, 2)


def _save_often(folder: str, seed: int) -> None:
    for number in range(30):
        parquet_cache.save(_some(40 + seed * 2 + number % 2), Path(folder) / "kept")


def test_two_processes_may_write_at_once(tmp_path: Path) -> None:
    """The last writer wins, and the file is complete at any time. Processes are forks of one."""
    copies = multiprocessing.get_context("fork")
    writers = [copies.Process(target=_save_often, args=(str(tmp_path), seed)) for seed in range(2)]
    parquet_cache.save(_some(40), tmp_path / "kept")
    for writer in writers:
        writer.start()
    read = 0
    while any(writer.is_alive() for writer in writers):
        assert 40 <= len(parquet_cache.load(tmp_path / "kept").train) <= 43
        read += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert read > 0
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]
