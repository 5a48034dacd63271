"""Fetching the files of a corpus: a download that was cut goes on where it stopped, and only a right file gets its name."""

from __future__ import annotations

import errno
import os
import re
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from attnaudit.core.errors import InputError
from attnaudit.core.progress import transfer
from attnaudit.data.corpus_info import Download
from attnaudit.data.partial_file import Begun, alone

if TYPE_CHECKING:
    import requests

PATIENCE = (15, 60)  # seconds: to connect, and between two pieces
PIECE = 1 << 18
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


def fetch(download: Download, folder: Path) -> Path:
    """The file below `folder`, whole and with the right checksum. One that is there already is checked and not fetched again."""
    import pooch

    target = folder / download.saved_as
    if target.exists():
        _check_present(target, download)
        return target
    pooch.get_logger().setLevel("WARNING")  # we say ourselves what is fetched
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with alone(target.parent):
            pooch.retrieve(
                download.url,
                download.checksum,
                fname=target.name,
                path=target.parent,
                downloader=partial(_continue, checksum=download.checksum, target=target),
            )
    except OSError as error:
        _no_writing(error, target)
    return target


def checksum_of(path: Path, like: str) -> str:
    """Of a file, by the method that `like` ("sha256:…") names."""
    import pooch

    method = like.partition(":")[0]
    return f"{method}:{pooch.file_hash(str(path), alg=method)}"


def _continue(url: str, file: str, _: Any, *, checksum: str, target: Path) -> None:
    """What pooch calls to download: it gets the whole file, or an error; the part that came stays beside it for the next time."""
    begun = Begun.of(target, checksum)
    for again in (True, False):
        if _receive(url, begun, may_start_again=again):
            break
    got = checksum_of(begun.path, checksum)
    if got != checksum.lower():
        size = begun.size
        begun.forget()
        raise InputError(
            f"{url}: the file that came is not the one expected. Expected {checksum}, got {got} ({size:,} bytes). It was "
            "removed. Try again; if that is no help, the file at this address was changed or something on the way replaced it."
        )
    os.replace(begun.path, file)
    begun.forget()


def _receive(url: str, begun: Begun, *, may_start_again: bool) -> bool:
    """True once all is there; False if it must be asked for anew from the start."""
    import requests

    try:
        with requests.get(url, headers=begun.headers(), stream=True, timeout=PATIENCE) as answer:
            start, whole = _where(answer, begun)
            if answer.status_code == 416 and begun.size and whole == begun.size:
                return True
            if start is None:
                if may_start_again:
                    begun.forget()
                    return False
                raise InputError(
                    f"{url}: the server does not send the file from its start. Try again later."
                )
            _check_room(url, begun, start, whole)
            begun.remember(answer)
            _write(url, answer, begun, start, whole)
    except requests.RequestException as error:
        raise _no_connection(url, begun, error) from error
    return True


def _where(answer: requests.Response, begun: Begun) -> tuple[int | None, int | None]:
    """(the byte the answer starts at, bytes of the whole file); None where unknown or of no use."""
    if answer.status_code in (206, 416):
        found = _RANGE.match(answer.headers.get("Content-Range", ""))
        whole = int(found[2]) if found and found[2].isdigit() else None
        start = int(found[1]) if found and found[1] else None
        return (start if start == begun.size else None), whole
    if answer.status_code != 200:
        raise _refused(answer)
    length = answer.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _write(
    url: str, answer: requests.Response, begun: Begun, start: int, whole: int | None
) -> None:
    import urllib3

    trouble: Exception | None = None
    with (
        begun.path.open("ab" if start else "wb") as out,
        transfer(url.rsplit("/", 1)[-1], whole, done=start) as advance,
    ):
        try:
            # Not decoded: a server that declares a .gz file as compressed would have it unpacked; the checksum is of the file.
            for piece in answer.raw.stream(PIECE, decode_content=False):
                out.write(piece)
                advance(len(piece))
        except (urllib3.exceptions.HTTPError, ConnectionError, TimeoutError) as error:
            trouble = error
    if trouble or (whole is not None and begun.size < whole):
        reason = f" ({_reason(trouble)})" if trouble else ""
        raise InputError(
            f"{url}: the connection was cut: {begun.size:,} bytes of {'all' if whole is None else f'{whole:,}'} came{reason}. "
            "They are kept; the same command goes on from there."
        ) from trouble


def _no_connection(url: str, begun: Begun, error: Exception) -> InputError:
    kept = f" The {begun.size:,} bytes that came before are kept." if begun.size else ""
    return InputError(
        f"{url}: no connection to the server ({_reason(error)}).{kept} Check the network and any proxy (HTTPS_PROXY), then "
        "give the same command again; or fetch the file by other means and put it into the data folder."
    )


def _refused(answer: requests.Response) -> InputError:
    advice = (
        "The server has trouble; try again later."
        if answer.status_code >= 500 or answer.status_code == 429
        else "The file is no longer at this address, or not for everyone: look on the home page that `attnaudit data` names."
    )
    return InputError(
        f"{answer.url}: expected the file, got the answer {answer.status_code} {answer.reason}. {advice}"
    )


def _check_room(url: str, begun: Begun, start: int, whole: int | None) -> None:
    free = shutil.disk_usage(begun.path.parent).free + (0 if start else begun.size)
    if whole is not None and whole - start > free:
        raise InputError(
            f"{url}: no room in {begun.path.parent}: {whole - start:,} bytes are to come, {free:,} are free. "
            "Make room, or give another folder with --data-dir."
        )


def _no_writing(error: OSError, target: Path) -> NoReturn:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise InputError(
            f"{target}: no room is left in {target.parent}. What came is kept. Make room and give the same command again."
        ) from error
    raise InputError(
        f"{target}: cannot be written ({error.strerror or error}). Check the folder and its rights, or give another with --data-dir."
    ) from error


def _check_present(target: Path, download: Download) -> None:
    got = checksum_of(target, download.checksum) if target.is_file() else "a folder"
    if got != download.checksum.lower():
        raise InputError(
            f"{target}: is there already, but is not the official file: expected {download.checksum}, got {got}. "
            "Move it away to fetch the official one."
        )


def _reason(error: BaseException) -> str:
    """The innermost cause in short: requests wraps its errors several times over."""
    inner: Any = error
    for _ in range(10):
        deeper = getattr(inner, "reason", None) or next(
            (each for each in inner.args if isinstance(each, BaseException)), None
        )
        if not isinstance(deeper, BaseException):
            break
        inner = deeper
    text = re.sub(r"^HTTPS?Connection(Pool)?\(.*?\): ", "", str(inner))
    return f"{type(inner).__name__}: {text[:200]}" if text else type(inner).__name__
