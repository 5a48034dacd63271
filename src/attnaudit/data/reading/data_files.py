"""The user's data file: its kind, inferred from its name, or an error that says what to do."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from attnaudit.core.errors import InputError
from attnaudit.data.reading.streams import printable

ENDINGS = ".csv, .tsv, .jsonl, .json (these also .gz, .xz or .bz2) or .parquet"
_ENDING = re.compile(r"\.(?:(csv|tsv|jsonl|json)(\.(?:gz|xz|bz2))?|(parquet))", re.IGNORECASE)
_LISTED = 8  # files of a folder listed in a message
_OTHER_KINDS = {
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
    ".txt": "plain text without named columns. Write it as .csv, with a header of column names",
}


def endings(name: str) -> list[int]:
    """Positions at which `name` can be cut so that it ends like a data file."""
    return [
        match.end()
        for match in _ENDING.finditer(name)
        if name[match.end() : match.end() + 1] in ("", ":")
    ]


def file_kind(path: Path) -> tuple[str, bool]:
    """(kind, whether it is compressed) of a readable regular file: ("csv", False)."""
    _check_regular(path)
    matches = _ENDING.finditer(path.name)
    ending = next((match for match in matches if match.end() == len(path.name)), None)
    if ending is None:
        kind = _OTHER_KINDS.get(path.suffix.lower())
        hint = f" This looks like {kind}." if kind else ""
        raise InputError(
            f"{printable(str(path))}: cannot tell what kind of file this is. "
            f"Its name must end in {ENDINGS}.{hint}"
        )
    return (ending[1] or ending[3]).lower(), ending[2] is not None


def _check_regular(path: Path) -> None:
    name = printable(str(path))
    try:
        mode = path.stat().st_mode
        contents = _contents(path) if stat.S_ISDIR(mode) else ""
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
            f"{name} is a folder. Give one file, whose name ends in {ENDINGS}. {contents}"
        )
    if not stat.S_ISREG(mode):
        raise InputError(f"{name} is a pipe or a device. Write the data into a file and give that.")
    if not os.access(path, os.R_OK):
        raise InputError(
            f"{name}: you may not read this file. Change its permissions, or give a copy."
        )


def _contents(folder: Path) -> str:
    """The data files in a folder, in words."""
    names = sorted(
        path.name for path in folder.iterdir() if path.is_file() and _ENDING.search(path.name)
    )
    if not names:
        return "It holds no such file."
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"It holds {', '.join(map(printable, names[:_LISTED]))}{more}."
