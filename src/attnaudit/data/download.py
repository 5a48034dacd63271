"""Download the files of a corpus: interrupted downloads resume, and checksums are verified."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.output_files import whole_file
from attnaudit.core.progress import transfer
from attnaudit.data.corpus_info import Download
from attnaudit.data.partial_file import PartialFile, download_lock

if TYPE_CHECKING:
    import requests

TIMEOUTS = (15, 60)  # seconds: to connect, and between two chunks
CHUNK = 1 << 18  # bytes
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


def fetch(download: Download, folder: Path) -> Path:
    """Download a file below `folder`, unless it is there already, and verify its checksum.

    Parameters
    ----------
    download : Download
        The address of the file, its checksum and its path below the folder.
    folder : Path
        The data folder.

    Returns
    -------
    Path
        The complete file. It gets this name only once its checksum is right.
    """
    target = folder / download.saved_as
    if target.exists():
        _check_present(target, download)
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with download_lock(target.parent):
            partial = PartialFile.of(target, download.checksum)
            _receive_all(download, partial)
            with whole_file(target) as draft:
                os.replace(partial.path, draft)
            partial.remove()
    except OutputError as error:
        cause = error.__cause__
        _raise_unwritable(cause if isinstance(cause, OSError) else error, target)
    except OSError as error:
        _raise_unwritable(error, target)
    return target


def checksum_of(path: Path, like: str) -> str:
    """Checksum of a file, by the method that `like` ("sha256:…") names."""
    import pooch

    method = like.partition(":")[0]
    return f"{method}:{pooch.file_hash(str(path), alg=method)}"


def _receive_all(download: Download, partial: PartialFile) -> None:
    """Complete the partial file and verify its checksum; on a lost connection it is kept."""
    url = download.url
    for may_restart in (True, False):
        if _receive(url, partial, may_restart=may_restart):
            break
    got = checksum_of(partial.path, download.checksum)
    if got != download.checksum.lower():
        size = partial.size
        partial.remove()
        raise InputError(
            f"{url}: the file received is not the one expected. Expected {download.checksum}, "
            f"got {got} ({size:,} bytes). It was removed. Try again; if that does not help, the "
            "file at this address has changed or was replaced on the way."
        )


def _receive(url: str, partial: PartialFile, *, may_restart: bool) -> bool:
    """True once the file is complete; False if it must be requested again from the start."""
    import requests

    try:
        with requests.get(
            url, headers=partial.headers(), stream=True, timeout=TIMEOUTS
        ) as response:
            start, total = _range_of(response, partial)
            if response.status_code == 416 and partial.size and total == partial.size:
                return True
            if start is None:
                if may_restart:
                    partial.remove()
                    return False
                raise InputError(
                    f"{url}: the server does not send the file from its start. Try again later."
                )
            _check_free_space(url, partial, start, total)
            partial.save_version(response)
            _write(url, response, partial, start, total)
    except requests.RequestException as error:
        raise _no_connection(url, partial, error) from error
    return True


def _range_of(response: requests.Response, partial: PartialFile) -> tuple[int | None, int | None]:
    """(first byte sent, size of the whole file); None if unknown or not the byte requested."""
    if response.status_code in (206, 416):
        match = _RANGE.match(response.headers.get("Content-Range", ""))
        total = int(match[2]) if match and match[2].isdigit() else None
        start = int(match[1]) if match and match[1] else None
        return (start if start == partial.size else None), total
    if response.status_code != 200:
        raise _bad_status(response)
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _write(
    url: str, response: requests.Response, partial: PartialFile, start: int, total: int | None
) -> None:
    import urllib3

    problem: Exception | None = None
    with (
        partial.path.open("ab" if start else "wb") as out,
        transfer(url.rsplit("/", 1)[-1], total, done=start) as advance,
    ):
        try:
            # Not decoded: a server that declares a .gz file as compressed would have it unpacked,
            # and the checksum is of the file.
            for chunk in response.raw.stream(CHUNK, decode_content=False):
                out.write(chunk)
                advance(len(chunk))
        except (urllib3.exceptions.HTTPError, ConnectionError, TimeoutError) as error:
            problem = error
    if problem or (total is not None and partial.size < total):
        reason = f" ({_reason(problem)})" if problem else ""
        expected = "all" if total is None else f"{total:,}"
        raise InputError(
            f"{url}: the connection was cut: {partial.size:,} bytes of {expected} "
            f"received{reason}. "
            "They are kept; run the same command again to resume."
        ) from problem


def _no_connection(url: str, partial: PartialFile, error: Exception) -> InputError:
    kept = f" The {partial.size:,} bytes received so far are kept." if partial.size else ""
    return InputError(
        f"{url}: no connection to the server ({_reason(error)}).{kept} Check the network and any "
        "proxy (HTTPS_PROXY) and run the same command again; or get the file by other means and "
        "put it into the data folder."
    )


def _bad_status(response: requests.Response) -> InputError:
    advice = (
        "The server has a problem; try again later."
        if response.status_code >= 500 or response.status_code == 429
        else "The file is no longer at this address, or not public: "
        "see the home page that `attnaudit data` lists."
    )
    return InputError(
        f"{response.url}: expected the file, got the answer "
        f"{response.status_code} {response.reason}. {advice}"
    )


def _check_free_space(url: str, partial: PartialFile, start: int, total: int | None) -> None:
    free = shutil.disk_usage(partial.path.parent).free + (0 if start else partial.size)
    if total is not None and total - start > free:
        raise InputError(
            f"{url}: not enough space in {partial.path.parent}: {total - start:,} bytes are "
            f"needed, {free:,} are free. Free some space, or give another folder with --data-dir."
        )


def _raise_unwritable(error: OSError, target: Path) -> NoReturn:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        raise InputError(
            f"{target}: no space is left in {target.parent}. The bytes received are kept. "
            "Free some space and run the same command again."
        ) from error
    raise InputError(
        f"{target}: cannot be written ({error.strerror or error}). "
        "Check the folder and its permissions, or give another with --data-dir."
    ) from error


def _check_present(target: Path, download: Download) -> None:
    got = checksum_of(target, download.checksum) if target.is_file() else "a folder"
    if got != download.checksum.lower():
        raise InputError(
            f"{target}: exists already, but is not the official file: "
            f"expected {download.checksum}, got {got}. Move it away to download the official one."
        )


def _reason(error: BaseException) -> str:
    """The innermost cause in short: requests wraps its errors several times over."""
    inner: Any = error
    for _ in range(10):
        deeper = getattr(inner, "reason", None) or next(
            (argument for argument in inner.args if isinstance(argument, BaseException)), None
        )
        if not isinstance(deeper, BaseException):
            break
        inner = deeper
    text = re.sub(r"^HTTPS?Connection(Pool)?\(.*?\): ", "", str(inner))
    return f"{type(inner).__name__}: {text[:200]}" if text else type(inner).__name__
