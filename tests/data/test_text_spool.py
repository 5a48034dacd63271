"""Texts that are kept in a file come back as they were, and nothing is lost on a full disk."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from attnaudit.data.audit_texts import OwnText, read_texts
from attnaudit.data.text_spool import SpooledText, TextSpool

TEXTS: list[Any] = [
    "one",
    "",
    "zwölf Bücher 📚",
    ("first", "second"),
    ("", "x"),
    "a\r\nb\0",
    "\ud800",
]


def test_texts_come_back_as_they_were_in_any_order() -> None:
    spool = TextSpool(in_memory=0)
    kept = [spool.keep(text) for text in TEXTS]
    assert all(isinstance(each, SpooledText) for each in kept)
    texts = [OwnText(f"row/{number}", each) for number, each in enumerate(kept)]
    assert [text.content() for text in reversed(texts)] == TEXTS[::-1]
    later = spool.keep("later")  # written after reading
    assert isinstance(later, SpooledText)
    assert later.read() == "later"
    assert [text.content() for text in texts] == TEXTS


def test_only_the_first_bytes_stay_in_memory() -> None:
    spool = TextSpool(in_memory=10)
    kept = [spool.keep("four") for _ in range(4)]
    assert [isinstance(each, str) for each in kept] == [True, True, False, False]


def test_a_full_disk_keeps_the_texts_in_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("attnaudit.data.text_spool.tempfile.TemporaryFile", full)
    spool = TextSpool(in_memory=0)
    assert [spool.keep(text) for text in TEXTS] == TEXTS
    assert caplog.text.count("kept in memory") == 1


def test_rows_of_a_file_are_read_into_the_spool(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text('text,label\none,a\n"two\nlines",b\n', encoding="utf-8")
    spool = TextSpool(in_memory=0)
    found = read_texts(path, spool=spool).texts
    assert all(isinstance(text.text, SpooledText) for text in found)
    plain = read_texts(path).texts
    assert [(text.content(), text.label, text.where) for text in found] == [
        (text.text, text.label, text.where) for text in plain
    ]


@pytest.mark.usefixtures("small_heap")
def test_the_file_goes_with_the_texts() -> None:
    spool = TextSpool(in_memory=0)
    kept = spool.keep("text")
    file = weakref.ref(spool)
    del spool
    gc.collect()
    assert file() is not None
    del kept
    gc.collect()
    assert file() is None


def test_texts_written_before_the_disk_was_full_can_still_be_read() -> None:
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)); "
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "from attnaudit.data.text_spool import SpooledText, TextSpool; "
        "spool = TextSpool(in_memory=0); texts = [f'{n}' * 3000 for n in range(10)] * 4; "
        "kept = [spool.keep(text) for text in texts]; "
        "spooled = [one for one in kept if isinstance(one, SpooledText)]; "
        "assert 0 < len(spooled) < len(kept), len(spooled); "
        "assert [one.read() for one in spooled] == texts[: len(spooled)]; "
        "assert kept[len(spooled) :] == texts[len(spooled) :]"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
