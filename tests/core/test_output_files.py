"""Single files: whole or not there, and only over files of ours."""

from __future__ import annotations

import errno
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.output_files import MANIFEST, check_file, write_file


def test_many_writers_of_one_file_all_succeed(tmp_path: Path) -> None:
    def write(number: int) -> None:
        write_file(tmp_path / f"table-{number % 3}.csv", "a,b\n1,2\n", kind="table")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(200)))
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        MANIFEST,
        *(f"table-{n}.csv" for n in range(3)),
    ]
    assert len(json.loads((tmp_path / MANIFEST).read_text())) == 3


def test_the_same_content_may_be_written_again_after_a_kill_before_the_manifest(
    tmp_path: Path,
) -> None:
    path = write_file(tmp_path / "table.csv", "a,b\n", kind="table")
    (tmp_path / MANIFEST).unlink()  # as if it had never been written
    write_file(path, "a,b\n", kind="table")
    write_file(path, "c,d\n", kind="table")
    assert path.read_text() == "c,d\n"


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = write_file(tmp_path / "table.csv", "old\n", kind="table")

    def fail(draft: Path) -> None:
        draft.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OutputError, match="No space left on device"):
        write_file(path, fail, kind="table")
    assert path.read_text() == "old\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == [MANIFEST, "table.csv"]


def test_a_read_only_file_system_is_an_error_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    # There, removing a file that does not exist fails too.
    monkeypatch.setattr(Path, "write_bytes", read_only)
    monkeypatch.setattr(Path, "unlink", read_only)
    with pytest.raises(OutputError, match=r"page.html: Read-only file system"):
        write_file(tmp_path / "page.html", "<html>")


def test_a_long_name_of_wide_characters_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("表" * 80 + ".csv")  # 244 bytes of the 255 a name may have
    assert write_file(path, "a\n", kind="table").read_text() == "a\n"


def test_a_broken_link_and_a_file_that_cannot_be_read_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="a broken link"):
        check_file(tmp_path / "link")
    (tmp_path / "page.html").write_text("mine")

    def denied(self: Path, *arguments: object, **options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match="Permission denied"):
        check_file(tmp_path / "page.html")
