"""`attnaudit data`: listing, downloads from a local server, and counts next to the published."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from attnaudit.cli import main
from attnaudit.core.errors import InputError
from attnaudit.data import DATASETS, download
from attnaudit.data.corpus_info import About, Download, describes
from attnaudit.data.describe import describe
from attnaudit.data.download import fetch
from attnaudit.data.listing import entries
from attnaudit.data.partial_file import download_lock
from attnaudit.data.published_counts import TABLE_1, published_row
from attnaudit.data.splits import Example, Splits

CONTENT = bytes(range(256)) * 4000  # a megabyte, several pieces
HALF = len(CONTENT) // 2
RIGHT = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


# A server -------------------------------------------------------------------------------------


@dataclass
class Server:
    """What is served, how, and what was asked for."""

    address: str = ""
    content: bytes = CONTENT
    tag: str | None = '"one"'
    date: str | None = None
    status: int = 200
    ranges: bool = True
    shift: int = 0  # send a part from so many bytes before the one asked for
    cut_after: int | None = None  # close the connection after so many bytes of the next answer
    asked: list[dict[str, str]] = field(default_factory=list)

    def file(self, checksum: str = RIGHT, saved_as: str = "made/file.bin") -> Download:
        return Download(f"{self.address}/file.bin", checksum, saved_as)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    serving = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            serving.asked.append(dict(self.headers))
            if serving.status != 200:
                self.send_error(serving.status)
                return
            start, content = self._start(), serving.content
            if start is not None and start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(200 if start is None else 206)
            if start is not None:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            if serving.tag:
                self.send_header("ETag", serving.tag)
            if serving.date:
                self.send_header("Last-Modified", serving.date)
            body = content[start or 0 :]
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body if serving.cut_after is None else body[: serving.cut_after])
            serving.cut_after = None

        def _start(self) -> int | None:
            """The byte asked for; None for the whole file, as If-Range of another version gets."""
            found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            version = self.headers.get("If-Range")
            if not found or not serving.ranges or version not in (None, serving.tag, serving.date):
                return None
            return int(found[1]) - serving.shift

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        serving.address = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
        thread.start()
        yield serving
        listening.shutdown()
        thread.join()


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def _cut(server: Server, folder: Path, at: int = HALF) -> None:
    """A first attempt that breaks off."""
    server.cut_after = at
    with pytest.raises(
        InputError, match=f"cut: {at:,} bytes of {len(server.content):,} received.*kept"
    ):
        fetch(server.file(), folder)


# Downloads ------------------------------------------------------------------------------------


def test_a_good_file_gets_its_name_and_nothing_else_stays(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = fetch(server.file(), tmp_path)
    assert path == tmp_path / "made/file.bin"
    assert path.read_bytes() == CONTENT
    assert _names(tmp_path) == ["file.bin"]
    assert capfd.readouterr() == ("", "")
    assert "Range" not in server.asked[0]
    assert server.asked[0]["Accept-Encoding"] == "identity"


def test_an_md5_is_a_checksum_too(server: Server, tmp_path: Path) -> None:
    fetch(server.file(f"md5:{hashlib.md5(CONTENT).hexdigest()}"), tmp_path)
    with pytest.raises(InputError, match=r"Expected md5:0000.*got md5:"):
        fetch(server.file(f"md5:{'0' * 32}", "other.bin"), tmp_path)


def test_a_file_that_is_there_is_checked_and_not_fetched_again(
    server: Server, tmp_path: Path
) -> None:
    fetch(server.file(), tmp_path)
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert len(server.asked) == 1
    (tmp_path / "made/file.bin").write_bytes(b"my own")
    with pytest.raises(
        InputError,
        match=r"exists already, but is not the official file: expected sha256:.*Move it away",
    ):
        fetch(server.file(), tmp_path)
    assert (tmp_path / "made/file.bin").read_bytes() == b"my own"


def test_a_wrong_checksum_leaves_nothing(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:-1] + b"!"
    with pytest.raises(
        InputError, match=rf"Expected {RIGHT}, got sha256:[0-9a-f]{{64}} \(1,024,000 bytes\)"
    ):
        fetch(server.file(), tmp_path)
    assert _names(tmp_path) == []


def test_a_cut_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    _cut(server, tmp_path)
    assert not (tmp_path / "made/file.bin").exists()
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert server.asked[1]["Range"] == f"bytes={HALF}-"
    assert server.asked[1]["If-Range"] == '"one"'
    assert _names(tmp_path) == ["file.bin"]


def test_cut_again_and_again(server: Server, tmp_path: Path) -> None:
    _cut(server, tmp_path, 1000)
    server.cut_after = 1000
    with pytest.raises(InputError, match="2,000 bytes of 1,024,000 received"):
        fetch(server.file(), tmp_path)
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert [each.get("Range") for each in server.asked] == [None, "bytes=1000-", "bytes=2000-"]


def test_a_server_without_ranges_sends_everything_again(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    _cut(server, tmp_path)
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert "Range" in server.asked[1]


def test_a_part_from_another_byte_than_asked_for_is_not_used(
    server: Server, tmp_path: Path
) -> None:
    _cut(server, tmp_path)
    server.shift = 1
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert [each.get("Range") for each in server.asked] == [None, f"bytes={HALF}-", None]


def test_a_file_that_changed_meanwhile_is_not_glued_together(
    server: Server, tmp_path: Path
) -> None:
    server.content = b"old" + CONTENT[3:]
    _cut(server, tmp_path)
    server.content, server.tag = CONTENT, '"two"'
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert server.asked[1]["If-Range"] == '"one"'


def test_a_weak_tag_is_no_promise_of_the_same_bytes_but_the_date_is(
    server: Server, tmp_path: Path
) -> None:
    server.tag, server.date = 'W/"one"', "Wed, 01 May 2013 10:00:00 GMT"
    _cut(server, tmp_path)
    fetch(server.file(), tmp_path)
    assert server.asked[1]["If-Range"] == server.date


def test_without_a_version_the_checksum_decides(server: Server, tmp_path: Path) -> None:
    server.tag = None
    server.content = b"old" + CONTENT[3:]
    _cut(server, tmp_path)
    server.content = CONTENT
    with pytest.raises(InputError, match="not the one expected"):
        fetch(server.file(), tmp_path)
    assert "If-Range" not in server.asked[1]
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT


def test_all_bytes_came_before_but_the_end_was_not_seen(server: Server, tmp_path: Path) -> None:
    _cut(server, tmp_path)
    (part,) = (tmp_path / "made").glob(".*.partial")
    part.write_bytes(CONTENT)
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert [each.get("Range") for each in server.asked] == [None, "bytes=1024000-"]


def test_a_part_longer_than_the_file_is_given_up(server: Server, tmp_path: Path) -> None:
    _cut(server, tmp_path)
    (part,) = (tmp_path / "made").glob(".*.partial")
    part.write_bytes(CONTENT + b"more")
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert [each.get("Range") for each in server.asked] == [None, "bytes=1024004-", None]


@pytest.mark.parametrize(
    ("status", "advice"), [(404, "home page"), (403, "home page"), (503, "try again later")]
)
def test_an_http_error_is_reported_with_its_number(
    server: Server, tmp_path: Path, status: int, advice: str
) -> None:
    server.status = status
    with pytest.raises(InputError, match=f"expected the file, got the answer {status} .*{advice}"):
        fetch(server.file(), tmp_path)
    assert _names(tmp_path) == []


def test_no_network_keeps_what_came(server: Server, tmp_path: Path) -> None:
    _cut(server, tmp_path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/file.bin"
        with pytest.raises(
            InputError,
            match=r"no connection to the server \(NewConnectionError: .*refused.*"
            r"The 512,000 bytes.*Check the network",
        ):
            fetch(Download(nobody, RIGHT, "made/file.bin"), tmp_path)
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT
    assert "Range" in server.asked[1]


def test_no_room_is_reported_before_anything_is_written(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage(NamedTuple):
        free: int

    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: Usage(1000))
    with pytest.raises(
        InputError, match=r"not enough space in .*: 1,024,000 bytes are needed, 1,000 are free"
    ):
        fetch(server.file(), tmp_path)
    assert _names(tmp_path) == []


def test_room_that_runs_out_and_folders_that_may_not_be_written(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(number: int) -> Callable[..., None]:
        def replace(*_: object) -> None:
            raise OSError(number, os.strerror(number))

        return replace

    monkeypatch.setattr(download.os, "replace", fails(errno.ENOSPC))
    with pytest.raises(InputError, match="no space is left"):
        fetch(server.file(), tmp_path)
    monkeypatch.setattr(download.os, "replace", fails(errno.EACCES))
    with pytest.raises(InputError, match=r"cannot be written \(Permission denied\)"):
        fetch(server.file(), tmp_path)


def test_two_downloads_never_write_one_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    with download_lock(tmp_path / "made"), pytest.raises(InputError, match="another download"):
        fetch(server.file(), tmp_path)
    assert fetch(server.file(), tmp_path).read_bytes() == CONTENT


# The command ----------------------------------------------------------------------------------


class Done(NamedTuple):
    code: object
    out: str
    err: str


@pytest.fixture
def attnaudit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    monkeypatch.delenv("ATTNAUDIT_DATA", raising=False)
    monkeypatch.setenv("ATTNAUDIT_CACHE", str(tmp_path / "cache"))

    def call(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["attnaudit", "data", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(ended.value.code or 0, *capsys.readouterr())

    return call


def _register(monkeypatch: pytest.MonkeyPatch, *downloads: Download, steps: str = "") -> None:
    """A corpus `made` whose two files lie in the folder `made`."""

    @describes(
        About(
            title="Made files",
            task="a task of two classes",
            size="2 / 2 texts",
            licence="anyone's",
            home="https://example.org/made",
            places=("made",),
            holds=("file.bin", "second.bin"),
            downloads=downloads,
            steps=steps,
        )
    )
    def made(place: Path) -> Splits:
        raise AssertionError("nothing here reads it")

    monkeypatch.setitem(DATASETS, "made", made)


def test_get_fetches_every_file_and_then_says_it_is_here(
    attnaudit: Callable[..., Done], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _register(monkeypatch, server.file(), server.file(saved_as="made/second.bin"))
    done = attnaudit("get", "made", "--data-dir", str(tmp_path))
    assert done.code == 0, done.err
    assert "Licence: anyone's" in done.out
    assert f"{tmp_path / 'made/second.bin'}: 1,024,000 bytes, sha256 as expected" in done.out
    again = attnaudit("get", "made", "--data-dir", str(tmp_path))
    assert (again.code, again.out) == (0, f"made is already here: {tmp_path / 'made'}\n")
    assert len(server.asked) == 2


def test_get_goes_on_after_an_error_in_words(
    attnaudit: Callable[..., Done], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _register(monkeypatch, server.file(), server.file(saved_as="made/second.bin"))
    server.cut_after = 70_000
    done = attnaudit("get", "made", "--data-dir", str(tmp_path))
    assert done.code == 2
    assert done.err.startswith("attnaudit: http://127.0.0.1")
    assert "Traceback" not in done.err
    again = attnaudit("get", "made", "--data-dir", str(tmp_path))
    assert again.code == 0
    assert server.asked[1]["Range"] == "bytes=70000-"
    assert _names(tmp_path / "made") == ["file.bin", "second.bin"]


def test_get_interrupted_keeps_what_came(
    attnaudit: Callable[..., Done], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _register(monkeypatch, server.file())

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(download, "checksum_of", interrupted)
        done = attnaudit("get", "made", "--data-dir", str(tmp_path))
    assert done.code == 130
    assert "The part that was downloaded is kept" in done.err
    (part,) = (tmp_path / "made").glob(".*.partial")
    assert part.read_bytes() == CONTENT


def test_get_goes_to_the_cache_folder_where_no_other_is_given(
    attnaudit: Callable[..., Done], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _register(monkeypatch, server.file())
    assert attnaudit("get", "made").code == 0
    assert (tmp_path / "cache/data/made/file.bin").read_bytes() == CONTENT


def test_get_prints_the_steps_where_nothing_may_be_fetched(
    attnaudit: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _register(monkeypatch, steps="Sign the agreement, then put both files into the folder made.")
    done = attnaudit("get", "made", "--data-dir", str(tmp_path))
    assert done.code == 2
    assert "Sign the agreement" in done.out
    assert "anyone's" in done.out
    assert str(tmp_path) in done.out


def test_get_of_a_simulator_and_of_a_name_that_is_none(attnaudit: Callable[..., Done]) -> None:
    assert attnaudit("get", "keyword").out == "keyword needs no files.\n"
    done = attnaudit("get", "imdbb")
    assert done.code == 2
    assert "Did you mean 'imdb'?" in done.err


@pytest.mark.parametrize("command", [[], ["get", "imdb"], ["describe", "imdb"]])
def test_a_data_folder_that_is_not_there_is_named(
    attnaudit: Callable[..., Done], tmp_path: Path, command: list[str]
) -> None:
    done = attnaudit(*command, "--data-dir", str(tmp_path / "nowhere"))
    assert done.code == 2
    assert f"The data folder '{tmp_path / 'nowhere'}' does not exist" in done.err
    assert not (tmp_path / "nowhere").exists()


def test_the_list_says_what_is_here_and_what_is_missing(
    attnaudit: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _register(monkeypatch, steps="Ask for it.")
    _trees(tmp_path / "sst")
    (tmp_path / "made").mkdir()
    (tmp_path / "made/file.bin").write_bytes(b"x")
    done = attnaudit("--data-dir", str(tmp_path))
    assert done.code == 0
    blocks = {block.split()[0]: block for block in done.out.split("\n\n")[1:]}
    assert set(blocks) == set(DATASETS)
    assert f"found {tmp_path / 'sst'}" in " ".join(blocks["sst"].split())
    assert "(not here)" in blocks["made"]
    # Long paths are wrapped.
    assert f"missing  second.bin in {tmp_path / 'made'}" in " ".join(
        blocks["made"].split()
    ).replace("missing ", "missing  ")
    assert "get it   Ask for it." in blocks["made"]
    for fact in ("a task of two classes", "2 / 2 texts", "anyone's", "https://example.org/made"):
        assert fact in blocks["made"]
    assert "missing  aclImdb or" in blocks["imdb"]
    assert "get it   attnaudit data get imdb" in blocks["imdb"]
    assert "(needs no data folder)" in blocks["keyword"]
    assert "missing" not in blocks["keyword"]
    assert max(len(line) for line in done.out.splitlines() if "/" not in line) <= 100


def test_the_listing_without_a_folder_finds_nothing(tmp_path: Path) -> None:
    listed = entries(tmp_path / "not made yet")
    assert {each.name for each in listed} == set(DATASETS)
    looked_for = [each for each in listed if each.about and each.about.places]
    assert {"imdb", "sst"} <= {each.name for each in looked_for}
    assert not any(each.place for each in looked_for)
    assert all(each.missing for each in looked_for)


@pytest.mark.parametrize("name", sorted(DATASETS))
def test_every_download_lands_where_its_reader_looks(name: str, tmp_path: Path) -> None:
    about = getattr(DATASETS[name], "about", None)
    downloads = about.downloads if about else ()
    for each in downloads:
        assert re.fullmatch(r"sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}", each.checksum)
        assert each.url.startswith(("https://", "http://"))
        (tmp_path / each.saved_as).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each.saved_as).touch()
    if about is None or about.locate:
        assert not downloads
    else:
        assert (about.look(tmp_path) is not None) == bool(downloads)


# Describing -----------------------------------------------------------------------------------

WORDS = "one two three four five"


def _trees(folder: Path) -> None:
    """Train: two negative sentences, a positive, a short and a neutral one; dev, test: one each."""
    folder.mkdir(parents=True)
    kept = [(0, f"{WORDS} bad"), (1, f"{WORDS} awful"), (4, f"{WORDS} good")]
    texts = {
        "train": [*kept, (3, "short one"), (2, f"{WORDS} meh")],
        "dev": [(0, f"{WORDS} bad"), (3, f"{WORDS} fine")],
        "test": [(1, f"{WORDS} poor"), (4, f"{WORDS} good")],
    }
    for split, sentences in texts.items():
        lines = [
            f"({label} {' '.join(f'(2 {word})' for word in text.split())})"
            for label, text in sentences
        ]
        (folder / f"{split}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


CHOICE = "sst:tokeniser=blanks,drop_longest=false"


def test_describe_counts(tmp_path: Path) -> None:
    _trees(tmp_path / "sst")
    found = describe(CHOICE, data_dir=tmp_path)
    assert found.splits["train"].classes == {"negative": 2, "positive": 1}
    assert [each.examples for each in found.splits.values()] == [3, 2, 2]
    assert (found.splits["train"].mean_length, found.splits["train"].longest) == (6.0, 6)
    assert found.vocabulary == 8 + 4
    assert found.vocabulary_before_length_filter == 9 + 4
    assert found.dropped == {"train, neutral": 1, "train, short": 1}
    assert found.repeated == {"dev in train": 1, "test in train": 1, "test in dev": 0}
    assert found.extras == {"query": 0, "segments": 0, "evidence": 0, "candidates": 0}
    assert found.tokeniser == "blanks"
    assert found.published is not None
    assert found.published.train == (3034, 3321)


def test_describe_prints_ours_next_to_the_published(
    attnaudit: Callable[..., Done], tmp_path: Path
) -> None:
    _trees(tmp_path / "sst")
    done = attnaudit("describe", CHOICE, "--data-dir", str(tmp_path))
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert ["vocabulary", "12", "16,175"] in rows
    assert ["before", "the", "length", "filter", "13", "13,826", "(their", "notebook)"] in rows
    assert ["mean", "length,", "train", "6.0", "19"] in rows
    assert ["negative", "2", "3,034"] in rows
    assert ["test", "2", "1,725"] in rows
    assert ["tokeniser", "blanks"] in rows
    assert "train, short: 1" in done.out
    assert "dev in train: 1" in done.out
    assert max(map(len, done.out.splitlines())) <= 100


def test_describe_a_simulator_knows_query_evidence_and_sentences() -> None:
    found = describe("babi:task=2,train=200,test=20")
    assert found.extras == {"query": 220, "segments": 220, "evidence": 220, "candidates": 0}
    assert found.published is not None
    assert found.published.notebook_vocabulary == 38
    assert describe("keyword:train=20,dev=5,test=5").published is None


def test_where_the_published_train_size_is_of_train_and_dev_ours_is_too(
    attnaudit: Callable[..., Done],
) -> None:
    done = attnaudit("describe", "babi:task=1,train=200,dev_share=0.2,test=20")
    rows = [line.split() for line in done.out.splitlines()]
    assert ["train", "160"] in rows
    assert ["train", "and", "dev", "200", "10,000"] in rows
    assert ["test", "20", "1,000"] in rows
    both = rows[rows.index(["train", "and", "dev", "200", "10,000"]) + 1 :][:6]
    assert sum(int(row[1]) for row in both) == 200


def test_names_of_classes_cannot_command_the_terminal(
    attnaudit: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    train = (Example("train/0", ("word",), label=0), Example("train/1", ("word",), label=1))
    notes = {"source": "\x07red", "skipped": {"rows": 1, "first": ["bad\x07 row"]}}
    monkeypatch.setitem(
        DATASETS,
        "odd",
        lambda: Splits("odd", train, (), (), ("good", "\x07bad"), "blanks", notes=notes),
    )
    done = attnaudit("describe", "odd")
    assert done.code == 0, done.err
    assert "bad row" in done.out
    assert "\x07" not in done.out


def test_describe_many_classes_and_an_empty_split(
    attnaudit: Callable[..., Done], monkeypatch: pytest.MonkeyPatch
) -> None:
    classes = tuple(f"class{number}" for number in range(30))
    train = tuple(Example(f"train/{n}", ("word",), label=n % 30) for n in range(60))

    def many() -> Splits:
        """Many classes."""
        return Splits("many", train, (), (Example("test/0", ("word",)),), classes, "blanks")

    monkeypatch.setitem(DATASETS, "many", many)
    done = attnaudit("describe", "many")
    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines()]
    assert ["class11", "2"] in rows
    assert ["18", "other", "classes", "36"] in rows
    assert "class12" not in done.out
    assert "dev mean -, longest 0" in done.out
    assert "test in train: 1" in done.out


def test_the_published_table_is_asked_by_dataset_options_and_number_of_classes() -> None:
    assert len(TABLE_1) == 12
    row = published_row("babi", {"task": 3, "seed": 0}, 6)
    assert row is not None
    assert (row.mean_length, row.train) == (421, (10_000,))
    assert published_row("imdb", {}, 2) is not None
    assert published_row("imdb", {}, 8) is None
    assert published_row("keyword", {}, 2) is None
