"""Temporary names and locks: ours are recognised, others are never touched."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from attnaudit.core import temporary
from attnaudit.results import store
from attnaudit.results.results import Results


def test_a_draft_is_no_run_and_an_abandoned_one_is_removed_but_not_one_in_use(
    results: Results, tmp_path: Path
) -> None:
    abandoned, in_use = (tmp_path / temporary.draft_name() for _ in range(2))
    for draft in (abandoned, in_use):
        draft.mkdir()
        store.write_results(results, draft)
    folder = results.save(tmp_path / "out")
    assert {each.name for each in tmp_path.iterdir()} == {
        abandoned.name,
        in_use.name,
        "out",
    }  # too young to tell
    assert store.find_runs([tmp_path]) == [folder]
    assert not store.is_complete(abandoned)
    for draft in (abandoned, in_use):
        os.utime(draft, (0, 0))
    with temporary.held(in_use):
        temporary.tidy(tmp_path)
        assert {each.name for each in tmp_path.iterdir()} == {in_use.name, "out"}
    temporary.tidy(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_files_and_folders_of_the_user_are_never_tidied_away(tmp_path: Path) -> None:
    names = (".draft-thesis", ".attnaudit-draft-thesis", ".attnaudit-replaced-1-thesis")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "chapter.txt").write_text("mine")
        os.utime(tmp_path / name, (0, 0))
        assert not temporary.is_temporary(tmp_path / name)
    temporary.tidy(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(names)


def test_a_draft_of_a_file_is_removed_after_a_day(tmp_path: Path) -> None:
    draft = tmp_path / temporary.draft_name()
    draft.touch()
    hour_ago = time.time() - 3600
    os.utime(draft, (hour_ago, hour_ago))
    temporary.tidy(tmp_path)
    assert draft.exists()
    os.utime(draft, (0, 0))
    temporary.tidy(tmp_path)
    assert not draft.exists()


def test_a_replaced_folder_comes_back_if_its_replacement_never_came(tmp_path: Path) -> None:
    old = tmp_path / temporary.replaced_name("out")
    old.mkdir()
    (old / "run.json").write_text("{}")
    os.utime(old, (0, 0))
    temporary.tidy(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_thread_may_lock_a_folder_twice_and_another_waits(tmp_path: Path) -> None:
    entered: list[str] = []

    def enter() -> None:
        with temporary.held(tmp_path):
            entered.append("other")

    with temporary.held(tmp_path):
        with temporary.held(tmp_path):
            pass
        other = threading.Thread(target=enter)
        other.start()
        time.sleep(0.2)
        entered.append("this")
    other.join()
    assert entered == ["this", "other"]


def test_a_folder_that_cannot_be_opened_is_not_locked(tmp_path: Path) -> None:
    with temporary.held(tmp_path / "missing"):
        pass
