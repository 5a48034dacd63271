"""Folders of results: whole or not there, and only over results of ours."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pandas as pd
import pytest

from attnaudit.auditing.audit import audit
from attnaudit.core import folder_marks, temporary
from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.interruption import Interrupted
from attnaudit.core.output_files import write_file
from attnaudit.core.output_folders import check_folder, write_folder
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results import store
from attnaudit.results.results import Results


def test_our_own_results_are_replaced_only_by_force_and_files_in_them_are_kept(
    results: Results, tmp_path: Path
) -> None:
    folder = results.save(tmp_path / "out")
    (folder / "notes.md").write_text("mine", encoding="utf-8")
    (folder / "figures").mkdir()
    (folder / "figures" / "plot.pdf").write_bytes(b"mine too")
    (folder / "latest").symlink_to("notes.md")
    with pytest.raises(InputError, match=r"holds results already.*--force"):
        results.save(folder)
    other = audit(
        Glass("inert"),
        glass_batch(8),
        audits=["permutation"],
        measures=["random"],
        show_progress=False,
    )
    other.save(folder, force=True)
    pd.testing.assert_frame_equal(store.load_results(folder).values, other.values)
    assert (folder / "notes.md").read_text(encoding="utf-8") == "mine"
    assert (folder / "figures" / "plot.pdf").read_bytes() == b"mine too"
    assert (folder / "latest").is_symlink()
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_run_inside_replaced_results_is_kept(results: Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "out")
    inner = results.save(folder / "another_run")
    results.save(folder, force=True)
    pd.testing.assert_frame_equal(store.load_results(inner).values, results.values)


def test_an_empty_folder_and_a_link_to_one_may_be_filled(results: Results, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    results.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert store.is_complete(tmp_path / "empty")


@pytest.mark.parametrize("moment", ["old set aside", "new in place"])
def test_a_kill_during_the_swap_leaves_a_whole_run(
    results: Results, tmp_path: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after SIGKILL: what the block's cleaning up would do is not done either."""
    folder = results.save(tmp_path / "out")
    renames = 0
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        nonlocal renames
        moved = real(self, target)
        renames += 1
        if renames == (1 if moment == "old set aside" else 2):
            os._exit(9)
        return moved

    child = os.fork()
    if child == 0:
        monkeypatch.setattr(Path, "rename", rename)
        results.save(folder, force=True)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    left = [each for each in tmp_path.iterdir() if temporary.is_temporary(each)]
    assert left
    assert store.find_runs([tmp_path]) in ([folder], [tmp_path])  # never a draft
    for each in left:
        os.utime(each, (0, 0))  # long ago
    check_folder(tmp_path / "another")  # whoever writes there next puts things right
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    pd.testing.assert_frame_equal(store.load_results(folder).values, results.values)


def test_what_another_process_wrote_meanwhile_is_left_and_ours_is_kept_next_to_it(
    results: Results, tmp_path: Path
) -> None:
    def write(draft: Path) -> None:
        store.write_results(results, draft)
        results.save(tmp_path / "out")  # the other process

    with pytest.raises(OutputError, match=r"out.other-1"):
        write_folder(tmp_path / "out", write)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out", "out.other-1"]
    assert store.is_complete(tmp_path / "out.other-1")


def test_without_room_the_results_are_kept_elsewhere_and_the_message_says_where(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    real = pd.DataFrame.to_parquet

    def full(self: pd.DataFrame, path: Path, **options: object) -> None:
        if elsewhere not in Path(path).parents:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, path, **options)

    monkeypatch.setattr(pd.DataFrame, "to_parquet", full)
    with pytest.raises(
        OutputError, match=r"No space left on device.*were kept in .*make room, then move"
    ) as caught:
        results.save(tmp_path / "out")
    (kept,) = elsewhere.glob("*/out")
    assert str(kept) in str(caught.value)
    monkeypatch.undo()
    pd.testing.assert_frame_equal(store.load_results(kept).values, results.values)
    assert not (tmp_path / "out").exists()


def test_marks_are_those_of_the_folders_we_write() -> None:
    assert set(folder_marks.MARKS) == {"run.json", "intervention.json", "corpus_audit.json"}


def test_an_interruption_during_the_swap_puts_the_old_results_back(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = results.save(tmp_path / "out")
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        if target == folder and self.name.startswith(".attnaudit-draft-"):
            raise Interrupted(signal.SIGINT)
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(Interrupted):
        results.save(folder, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    pd.testing.assert_frame_equal(store.load_results(folder).values, results.values)


def test_a_folder_filled_between_the_check_and_the_move_is_left_as_it_is(
    results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, real = tmp_path / "out", Path.rename

    def rename(self: Path, target: Path) -> Path:
        if target == folder and not folder.exists():
            folder.mkdir()
            (folder / "notes.md").write_text("mine")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(OutputError, match=r"out\.other-1"):
        results.save(folder)
    assert (folder / "notes.md").read_text() == "mine"
    assert store.is_complete(tmp_path / "out.other-1")


def test_a_page_may_be_written_inside_a_folder_that_is_being_written(
    results: Results, tmp_path: Path
) -> None:
    def write(draft: Path) -> None:
        store.write_results(results, draft)
        write_file(draft / "note.txt", "a lock inside a lock", kind="note")

    write_folder(tmp_path / "out", write)
    assert (tmp_path / "out" / "note.txt").exists()
