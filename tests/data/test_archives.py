"""Archives as untrusted input: complete, cut short, damaged, hostile and decompression bombs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attnaudit.core.errors import InputError
from attnaudit.data.corpora.sst import sst
from attnaudit.data.reading import streams
from attnaudit.data.reading.rows import BadRows, lines, whole_text
from attnaudit.data.reading.sources import LONGEST_HEADER, files
from attnaudit.data.splits import Splits

TREES = {
    split: "".join(
        f"({label} (2 {split}) (2 (2 film) (2 (2 no{number}) ({label} word{number * 37 % 101}))))\n"
        for number, label in enumerate([0, 4, 1, 3] * 5)
    )
    for split in ("train", "dev", "test")
}
SUFFIXES = (".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".txz", ".tbz2", ".zip")
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}


def _folder(place: Path) -> Path:
    (place / "trees").mkdir(parents=True)
    for split, text in TREES.items():
        (place / "trees" / f"{split}.txt").write_text(text)
    (place / "trees" / "README").write_text("not asked for\n")
    return place


def _archive(folder: Path, suffix: str) -> Path:
    path = folder.parent / f"corpus{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            for each in sorted(folder.rglob("*")):
                made.write(each, each.relative_to(folder))
    else:
        kind = {"tgz": "gz", "txz": "xz", "tbz2": "bz2", "tar": ""}.get(
            suffix.rpartition(".")[2], suffix[5:]
        )
        with tarfile.open(path, f"w:{kind}") as packed:
            packed.add(folder, ".")
    return path


def _read(place: Path) -> Splits:
    return sst(place, tokeniser="blanks", min_length=1, drop_longest=False)


def _texts(place: Path, *patterns: str) -> dict[str, str]:
    return {file.name: whole_text(file) for file in files(place, *patterns)}


def _tar(path: Path, *members: tarfile.TarInfo | tuple[str, bytes], kind: str = "") -> Path:
    with tarfile.open(path, f"w:{kind}") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                archive.addfile(info, io.BytesIO(member[1]))
    return path


def _special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def _zip(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names met twice, which is the point
        for name, data in members:
            archive.writestr(name, data, zipfile.ZIP_DEFLATED)
    return path


# The same corpus ----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_corpus_from_any_archive(tmp_path: Path, suffix: str) -> None:
    folder = _folder(tmp_path / "folder")
    expected = _read(folder)
    assert [len(split) for split in (expected.train, expected.dev, expected.test)] == [20, 20, 20]
    assert _read(_archive(folder, suffix)) == expected


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("inside", ["folder", ".tar", ".zip"])
def test_the_same_corpus_from_compressed_files(tmp_path: Path, suffix: str, inside: str) -> None:
    folder = _folder(tmp_path / "folder")
    expected = _read(folder)
    for path in (folder / "trees").glob("*.txt"):
        path.with_name(path.name + suffix).write_bytes(COMPRESS[suffix](path.read_bytes()))
        path.unlink()
    assert _read(folder if inside == "folder" else _archive(folder, inside)) == expected


@pytest.mark.parametrize("suffix", COMPRESS)
def test_several_streams_in_one_compressed_file_are_all_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"text{suffix}"
    path.write_bytes(COMPRESS[suffix](b"one ") + COMPRESS[suffix](b"two"))
    assert _texts(path) == {"text": "one two"}


def test_names_and_places_of_files(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", ("in/x.txt.gz", gzip.compress(b"x")), ("y.txt", b"y"))
    found = {file.name: file.where for file in files(path)}
    assert found == {"in/x.txt": f"{path}: in/x.txt.gz", "y.txt": f"{path}: y.txt"}
    assert list(_texts(path, "x.*")) == ["in/x.txt"]
    assert list(_texts(path, "in/*.txt")) == ["in/x.txt"]
    assert not _texts(path, "n/x.txt", "X.txt")


# Cut short and damaged ----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_archive_cut_short_is_rejected_or_whole(tmp_path: Path, suffix: str) -> None:
    folder = _folder(tmp_path / "folder")
    expected = _read(folder)
    whole = _archive(folder, suffix).read_bytes()
    cut = tmp_path / f"cut{suffix}"
    every_so_often = range(0, len(whole), max(1, len(whole) // 150))
    near_the_end = range(len(whole) - 30, len(whole))
    at_blocks = range(0, len(whole), 512)
    rejected = tried = 0
    for length in sorted({*every_so_often, *near_the_end, *at_blocks}):
        cut.write_bytes(whole[:length])
        try:
            made = _read(cut)
        except InputError as error:
            rejected += str(cut) in str(error)
        else:
            assert made == expected, length
            assert length > 0.5 * len(whole)
        tried += 1
    assert tried > 150
    assert rejected > tried / 2


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("inside", ["folder", ".tar", ".zip"])
def test_a_compressed_file_cut_short_is_rejected(tmp_path: Path, suffix: str, inside: str) -> None:
    folder = _folder(tmp_path / "folder")
    path = folder / "trees" / "dev.txt"
    whole = COMPRESS[suffix](path.read_bytes())
    path.unlink()
    path = path.with_name(path.name + suffix)
    for length in (0, 1, 5, 12, 40, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"dev\.txt\.\w+: damaged, cut short or unreadable"):
            _read(folder if inside == "folder" else _archive(folder, inside))


@pytest.mark.parametrize("suffix", [each for each in SUFFIXES if each != ".tar"])
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255))
def test_a_changed_byte_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, place: float, change: int
) -> None:
    """Every compressed archive has checksums; what it gives is rejected or right."""
    folder = _folder(tmp_path_factory.mktemp("changed") / "folder")
    expected = _read(folder)
    path = _archive(folder, suffix)
    content = bytearray(path.read_bytes())
    content[int(place * len(content))] ^= change
    path.write_bytes(content)
    try:
        made = _read(path)
    except InputError:
        return
    assert made == expected


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(
            lambda all_of, at: all_of[:at], "the end of the archive is missing", id="cut off"
        ),
        pytest.param(
            lambda all_of, at: all_of[:at] + bytes(512) + all_of[at + 512 :],
            "something follows",
            id="zeros",
        ),
        pytest.param(
            lambda all_of, at: all_of[:at] + b"x" + all_of[at + 1 :],
            "a member's header is damaged",
            id="name",
        ),
        pytest.param(
            lambda all_of, at: all_of + all_of, "something follows the end", id="two in a row"
        ),
        pytest.param(
            lambda all_of, at: all_of[: at + 512] + all_of[at + 512 :].rstrip(b"\0") + bytes(300),
            "unexpected end of data|end of the archive is missing",
            id="short end",
        ),
    ],
)
@pytest.mark.parametrize("kind", ["", ".gz"])
def test_a_tar_archive_that_only_looks_whole_is_rejected(
    tmp_path: Path, change: Callable[[bytes, int], bytes], problem: str, kind: str
) -> None:
    """Cut between two members, which tarfile does not report; compressed after the damage."""
    texts = [(f"{name}.txt", name.encode() * 300) for name in "abc"]
    whole = _tar(tmp_path / "a.tar", *texts).read_bytes()
    assert list(_texts(tmp_path / "a.tar")) == ["a.txt", "b.txt", "c.txt"]
    broken = change(whole, whole.index(b"b.txt"))
    path = tmp_path / f"broken.tar{kind}"
    path.write_bytes(gzip.compress(broken) if kind else broken)
    with pytest.raises(InputError, match=problem):
        _texts(path)


def test_a_wrong_checksum_in_a_zip_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:  # stored as it is
        archive.writestr("x.txt", b"hello hello hello")
    path.write_bytes(path.read_bytes().replace(b"hello hello", b"hello jello"))
    with pytest.raises(InputError, match=r"a\.zip: x\.txt: damaged.*CRC"):
        _texts(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_archive(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(InputError, match="train, dev, test is not in it"):
        _read(_archive(folder, suffix))
    nothing = tmp_path / f"nothing{suffix}"
    nothing.write_bytes(b"")
    with pytest.raises(InputError, match=f"nothing{suffix}: damaged"):
        _read(nothing)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".gz", ".xz", ".bz2"])
def test_something_else_under_the_name_of_an_archive(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"page{suffix}"
    path.write_text("<html>404 not found</html>\n" * 100)
    with pytest.raises(InputError, match="damaged, cut short or unreadable"):
        _texts(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"none\.txt: damaged, cut short or unreadable \(.*No such file"
    ):
        _texts(tmp_path / "none.txt")


# Hostile ------------------------------------------------------------------------------------------

OUTSIDE = [
    "/etc/x.txt",
    "../x.txt",
    "a/../../x.txt",
    "..\\x.txt",
    "a\\..\\..\\x.txt",
    "\\x.txt",
    "C:\\x.txt",
    "c:/x",
]


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("wanted", ["*", "other.txt"])
def test_members_outside_the_archive_are_rejected_by_name(
    tmp_path: Path, name: str, wanted: str
) -> None:
    paths = [
        _tar(tmp_path / "a.tar", ("ok.txt", b"ok"), (name, b"x")),
        _zip(tmp_path / "a.zip", ("ok.txt", b"ok"), (name, b"x")),
    ]
    for path in paths:
        with pytest.raises(InputError) as error:
            _texts(path, wanted)
        assert f"the member {name!r} would lie outside the archive's folder" in str(error.value)


@pytest.mark.parametrize("name", ["a..b.txt", "..a.txt", "a...txt", "é/ü.txt", "a b.txt"])
def test_names_that_only_look_like_it_are_read(tmp_path: Path, name: str) -> None:
    assert _texts(_tar(tmp_path / "a.tar", (name, b"x"))) == {name: "x"}
    assert _texts(_zip(tmp_path / "a.zip", (name, b"x"))) == {name: "x"}


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"Q"],
    ids=["symlink", "hard link", "character device", "block device", "fifo", "unknown"],
)
def test_links_and_devices_in_a_tar_are_rejected_by_name(tmp_path: Path, kind: bytes) -> None:
    path = _tar(tmp_path / "a.tar", ("x.txt", b"x"), _special("secret.txt", kind, "/etc/passwd"))
    for wanted in ("*", "x.txt"):
        with pytest.raises(InputError, match=r"the member 'secret\.txt' is a link, a device"):
            _texts(path, wanted)


@pytest.mark.parametrize("mode", [0o120777, 0o020666, 0o060666, 0o010666, 0o140666])
def test_links_and_devices_in_a_zip_are_rejected_by_name(tmp_path: Path, mode: int) -> None:
    info = zipfile.ZipInfo("secret.txt")
    info.create_system, info.external_attr = 3, mode << 16
    path = _zip(tmp_path / "a.zip", ("x.txt", b"x"), (info, b"/etc/passwd"))
    with pytest.raises(InputError, match=r"the member 'secret\.txt' is a link or a device"):
        _texts(path, "x.txt")


def test_a_sparse_member_is_rejected(tmp_path: Path) -> None:
    """A few bytes that claim to be a terabyte of zeros."""
    info = _special("x.txt", tarfile.GNUTYPE_SPARSE)
    block = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    block[483:495] = tarfile.itn(1 << 40, 12, tarfile.GNU_FORMAT)
    block[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(block))[0]
    (tmp_path / "a.tar").write_bytes(bytes(block) + bytes(1024))
    with pytest.raises(InputError, match=r"'x\.txt' is a link, a device or has holes"):
        _texts(tmp_path / "a.tar")


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    ],
)
def test_a_huge_header_in_a_tar_is_rejected_before_it_is_read(tmp_path: Path, kind: bytes) -> None:
    path = tmp_path / "a.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        info = _special("long", kind)
        info.size = 150_000_000
        stream.write(info.tobuf(tarfile.GNU_FORMAT))
        for _ in range(150):
            stream.write(bytes(1_000_000))
        stream.write(bytes(1024))
    before = _peak()
    with pytest.raises(InputError, match="a header of 150,000,000 bytes"):
        _texts(path)
    assert _peak() - before < 50_000_000


@pytest.mark.parametrize("format_", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_of_a_sane_length_are_read(tmp_path: Path, format_: int) -> None:
    name = "/".join(["folder" * 5] * 20) + "/x.txt"
    with tarfile.open(tmp_path / "a.tar", "w", format=format_) as archive:
        archive.addfile(tarfile.TarInfo(name))
    assert list(_texts(tmp_path / "a.tar")) == [name]
    assert len(name) < LONGEST_HEADER


def test_headers_upon_headers_are_rejected(tmp_path: Path) -> None:
    """The library reads each from within the one before it, and runs out of stack."""
    info = _special("pax", tarfile.XHDTYPE)
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) * 5000 + bytes(1024))
    with pytest.raises(InputError, match=r"a\.tar: damaged, cut short or unreadable"):
        _texts(tmp_path / "a.tar")


def test_a_negative_size_is_rejected(tmp_path: Path) -> None:
    block = bytearray(tarfile.TarInfo("x.txt").tobuf(tarfile.GNU_FORMAT))
    block[124:136] = tarfile.itn(-1024, 12, tarfile.GNU_FORMAT)
    block[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(block))[0]
    (tmp_path / "a.tar").write_bytes(bytes(block) + bytes(10240))
    with pytest.raises(InputError, match="a header of -1,024 bytes"):
        _texts(tmp_path / "a.tar")


def test_an_encrypted_zip_is_reported(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", ("x.txt", b"x"))
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.index(mark) + at] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="encrypted, password required"):
        _texts(path)


def test_a_compression_python_does_not_know_is_reported(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.zip", ("x.txt", b"x"))
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        content[content.index(mark) + at] = 99
    path.write_bytes(content)
    with pytest.raises(InputError, match="compression"):
        _texts(path)


def test_a_name_occurring_twice_is_rejected(tmp_path: Path) -> None:
    twice = [("a/x.txt", b"1"), ("a/x.txt", b"2")]
    once_compressed = [("a/x.txt", b"1"), ("a/x.txt.gz", gzip.compress(b"2"))]
    for members in (twice, once_compressed):
        for path in (_tar(tmp_path / "a.tar", *members), _zip(tmp_path / "a.zip", *members)):
            with pytest.raises(InputError, match=r"'a/x\.txt' is there twice"):
                _texts(path)
    for name, data in once_compressed:
        (tmp_path / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "folder" / name).write_bytes(data)
    with pytest.raises(InputError, match=r"'a/x\.txt' is there twice"):
        _texts(tmp_path / "folder")


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    """They are read, and what is said of them can be printed and stored."""
    name = b"caf\xe9 \x1b[31m.txt"
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / os.fsdecode(name)).write_bytes(b"latin")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(folder, ".")
    for place in (folder, tmp_path / "a.tar"):
        (file,) = files(place)
        assert file.name == "caf\\udce9 \\x1b[31m.txt"
        assert file.where.endswith(file.name)
        assert file.where.isprintable()


@pytest.mark.parametrize("flag", [0, 0x800])
def test_names_in_a_zip_that_are_not_what_they_claim(tmp_path: Path, flag: int) -> None:
    path = _zip(tmp_path / "a.zip", ("xxxx.txt", b"x"))
    content = path.read_bytes().replace(b"xxxx.txt", b"\xff\xfe\xe9x.txt")
    path.write_bytes(content)
    raw = bytearray(content)
    raw[raw.index(b"PK\1\2") + 9] = flag >> 8
    raw[raw.index(b"PK\3\4") + 7] = flag >> 8
    path.write_bytes(raw)
    if flag:
        with pytest.raises(InputError, match=r"damaged, cut short or unreadable.*utf-8"):
            _texts(path)
    else:
        assert list(_texts(path).values()) == ["x"]


# Bombs --------------------------------------------------------------------------------------------


def _bomb(folder: Path, kind: str, size: int) -> Path:
    """`size` bytes in lines of 50, in very few on disk."""
    content = (b"0" * 49 + b"\n") * (size // 50)
    inner, _, outer = kind.partition(" in ")
    data = COMPRESS[inner](content) if inner in COMPRESS else content
    name = f"x.txt{inner if inner in COMPRESS else ''}"
    if not outer:
        path = folder / name
        path.write_bytes(data)
        return path
    path = folder / f"bomb{outer}"
    if outer == ".zip":
        return _zip(path, (name, data))
    return _tar(path, (name, data), kind=outer.removeprefix(".tar").removeprefix("."))


BOMBS = [
    ".gz",
    ".xz",
    ".bz2",
    "text in .tar.gz",
    "text in .tar.xz",
    "text in .tar.bz2",
    "text in .zip",
    ".gz in .zip",
    ".xz in .zip",
    ".gz in .tar",
    ".bz2 in .tar.gz",
]


def _line_count(path: Path, *patterns: str) -> int:
    return sum(1 for file in files(path, *patterns) for _ in lines(file, BadRows()))


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    path = _bomb(tmp_path, kind, 2_000_000)
    assert _line_count(path) == 40_000  # no bomb by the usual measure
    monkeypatch.setattr(streams, "BOMB_SIZE", 500_000)
    with pytest.raises(
        InputError, match=rf"{path.name}: unpacks to more than .* decompression bomb"
    ):
        _line_count(path)


@pytest.mark.parametrize("kind", ["text in .tar.gz", "text in .tar.xz", "text in .tar.bz2"])
def test_bombs_that_are_only_passed_over_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(streams, "BOMB_SIZE", 500_000)
    with pytest.raises(InputError, match="decompression bomb"):
        _line_count(_bomb(tmp_path, kind, 2_000_000), "other.txt")


def test_what_grows_less_than_a_hundredfold_is_no_bomb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "BOMB_SIZE", 1)
    path = tmp_path / "x.txt.gz"
    path.write_bytes(gzip.compress("".join(f"{number**3}\n" for number in range(20_000)).encode()))
    assert _line_count(path) == 20_000


@pytest.mark.parametrize("outer", [".zip", ".tar"])
def test_many_small_members_are_one_bomb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outer: str
) -> None:
    monkeypatch.setattr(streams, "BOMB_SIZE", 1_000_000)
    zeros = b"zero\n" * 40_000
    members = [(f"{number}.txt.gz", gzip.compress(zeros)) for number in range(4)]
    path = (_zip if outer == ".zip" else _tar)(tmp_path / f"a{outer}", *members)
    assert [len(text) for text in _texts(path).values()] == [200_000] * 4
    members += [(f"{number}.txt.gz", gzip.compress(zeros)) for number in range(4, 9)]
    path = (_zip if outer == ".zip" else _tar)(tmp_path / f"b{outer}", *members)
    with pytest.raises(InputError, match="decompression bomb"):
        _texts(path)


READ_A_BOMB = """
import sys, resource
from pathlib import Path
from attnaudit.data.reading.sources import files
from attnaudit.data.reading.rows import BadRows, lines
from attnaudit.core.errors import InputError
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    bad = BadRows(skip=True)
    for file in files(Path(sys.argv[1])):
        for _ in lines(file, bad): pass
    print("read")
except InputError as error:
    print("bomb" if "decompression bomb" in str(error) else error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize("kind", [".gz", ".zip"])
def test_a_real_bomb_of_zeros_is_stopped_in_little_memory(tmp_path: Path, kind: str) -> None:
    """A quarter of a gigabyte without a line end, in a megabyte, in a process of its own."""
    size = 240_000_000
    zeros = tmp_path / "x.txt"
    with zeros.open("wb") as stream:
        stream.truncate(size)
    path = tmp_path / f"bomb{kind}"
    if kind == ".gz":
        with zeros.open("rb") as source, gzip.open(path, "wb", 1) as packed:
            shutil.copyfileobj(source, packed, 1 << 20)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(zeros, "x.txt")
    zeros.unlink()
    assert path.stat().st_size < 2_000_000
    done = subprocess.run(
        [sys.executable, "-c", READ_A_BOMB, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    verdict, grown = done.stdout.split()
    assert verdict == "bomb"
    assert int(grown) < 30_000  # kilobytes


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def test_an_error_in_words_of_the_stream_below_is_passed_on_as_it_is() -> None:
    class Below(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise InputError("said below")

    with pytest.raises(InputError, match=r"^said below$"):
        streams.guarded(Below(), "above", None).read()
