"""How large a user's table may be; checked first, so that a decompression bomb fails at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.progress import transfer
from attnaudit.data.reading.sources import files

# For comparison: a million reviews are 1.3 GB.
MOST_BYTES = 4_000_000_000  # of a file, decompressed
MOST_LINES = 10_000_000
MOST_ROWS = 5_000_000
MOST_CHARACTERS = 2_000_000_000  # of all values together
_BLOCK = 1 << 20


def check_size(path: Path, *, compressed: bool) -> None:
    """Reject a text file with too many bytes or lines; small uncompressed files are not read."""
    size = path.stat().st_size
    if not compressed and size > MOST_BYTES:
        raise _too_large(path, f"{size:,} bytes, at most {MOST_BYTES:,} are read")
    if not compressed and size <= MOST_LINES:  # a line has at least one byte
        return
    count = lines = 0
    with transfer(f"Checking the size of {path.name}", None if compressed else size) as advance:
        for file in files(path):
            while block := file.stream.read(_BLOCK):
                count, lines = count + len(block), lines + block.count(b"\n")
                advance(len(block))
                if count > MOST_BYTES:
                    raise _too_large(path, f"more than {MOST_BYTES:,} bytes")
                if lines > MOST_LINES:
                    raise _too_large(path, f"more than {MOST_LINES:,} lines")


def within_limits(
    rows: Iterator[tuple[str, dict[str, Any]]],
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same rows, with an error once there are too many rows or characters."""
    characters = 0
    for number, (where, row) in enumerate(rows, start=1):
        if number > MOST_ROWS:
            raise InputError(f"{where}: more than {MOST_ROWS:,} rows. Give a part of the file.")
        characters += sum(len(value) for value in row.values() if isinstance(value, str))
        if characters > MOST_CHARACTERS:
            raise InputError(
                f"{where}: more than {MOST_CHARACTERS:,} characters up to here. "
                "Give a part of the file."
            )
        yield where, row


def _too_large(path: Path, size: str) -> InputError:
    return InputError(f"{path}: too large: {size}. Give a part of the file.")
