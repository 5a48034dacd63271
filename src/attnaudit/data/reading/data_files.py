"""The path of a user's data file: what kind of file it is, or what to do where it is none that is read."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.data.reading.streams import shown

ENDINGS = ".csv, .tsv, .jsonl, .json (these also .gz, .xz or .bz2) or .parquet"
_ENDING = re.compile(r"\.(?:(csv|tsv|jsonl|json)(\.(?:gz|xz|bz2))?|(parquet))", re.IGNORECASE)
_LISTED = 8  # files of a folder in a message
_INSTEAD = {
    ".xls": "an Excel workbook. Save the sheet as CSV UTF-8",
    ".xlsx": "an Excel workbook. Save the sheet as CSV UTF-8",
    ".ods": "a spreadsheet. Save the sheet as CSV in UTF-8",
    ".zip": "an archive. Unpack it and give one of its files",
    ".tar": "an archive. Unpack it and give one of its files",
    ".tgz": "an archive. Unpack it and give one of its files",
    ".arrow": "an Arrow file. Write it as .parquet",
    ".feather": "an Arrow file. Write it as .parquet",
    ".pkl": "a pickle, which may run code when it is read. Write the table as .parquet or .csv",
    ".pickle": "a pickle, which may run code when it is read. Write the table as .parquet or .csv",
    ".txt": "plain text without named columns. Write it as .csv, with the names of the columns in the first line",
}


def endings(name: str) -> list[int]:
    """Places after which `name` may be cut and be the name of such a file."""
    return [
        found.end()
        for found in _ENDING.finditer(name)
        if name[found.end() : found.end() + 1] in ("", ":")
    ]


def file_kind(path: Path) -> tuple[str, bool]:
    """("csv", is it compressed) of a regular file that may be read, by its name; errors say what to do."""
    _check_regular(path)
    found = next(
        (each for each in _ENDING.finditer(path.name) if each.end() == len(path.name)), None
    )
    if found is None:
        kind = _INSTEAD.get(path.suffix.lower())
        instead = f" This looks like {kind}." if kind else ""
        raise InputError(
            f"{shown(str(path))}: cannot tell what kind of file this is. Its name must end in {ENDINGS}.{instead}"
        )
    return (found[1] or found[3]).lower(), found[2] is not None


def _check_regular(path: Path) -> None:
    name = shown(str(path))
    try:
        mode = path.stat().st_mode
        inside = _inside(path) if stat.S_ISDIR(mode) else ""
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"The file {name!r} does not exist. Looked for it from the folder {str(Path.cwd())!r}."
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"{name[:200]}: cannot be read ({error}). Check its name and its permissions."
        ) from None
    if stat.S_ISDIR(mode):
        raise InputError(
            f"{name} is a folder. Give one file, whose name ends in {ENDINGS}. {inside}"
        )
    if not stat.S_ISREG(mode):
        raise InputError(f"{name} is a pipe or a device. Write the data into a file and give that.")
    if not os.access(path, os.R_OK):
        raise InputError(
            f"{name}: you may not read this file. Change its permissions, or give a copy."
        )


def _inside(folder: Path) -> str:
    names = sorted(
        each.name for each in folder.iterdir() if each.is_file() and _ENDING.search(each.name)
    )
    if not names:
        return "It holds no such file."
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"It holds {', '.join(map(shown, names[:_LISTED]))}{more}."
