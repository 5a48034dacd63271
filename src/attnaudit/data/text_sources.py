"""The user's texts where they are: files, a folder of text files, a saved dataset, or stdin."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from attnaudit.core.errors import InputError
from attnaudit.data.audit_texts import TextsRead, read_texts, texts_of_table
from attnaudit.data.reading.data_files import endings
from attnaudit.data.reading.memory_tables import dataset_table, records_table
from attnaudit.data.reading.option_names import Spelling, in_command
from attnaudit.data.reading.row_errors import BadRows
from attnaudit.data.reading.streams import printable
from attnaudit.data.reading.tables import Table

STDIN = "-"
_SAVED_DATASET, _SAVED_SPLITS = "dataset_info.json", "dataset_dict.json"
_MOST_BYTES = 1 << 28  # of one text file, and of stdin


def read_sources(
    places: Sequence[str | Path],
    *,
    split: str | None = None,
    spell: Spelling = in_command,
    skip_bad: bool = False,
    stdin: BinaryIO | None = None,
    **options: Any,
) -> TextsRead:
    """Read the texts of one or several places, one after the other.

    Parameters
    ----------
    places : each one of

        - a csv, tsv, jsonl, json or parquet file;
        - a folder of .txt files, one text each; if they are in subfolders, these name the labels;
        - a folder that `datasets.save_to_disk` wrote; FOLDER:SPLIT for one of several splits;
        - a folder with a file per split, such as test.csv;
        - "-" for standard input: jsonl, csv or tsv with a header, or one text per line.
    split : of folders with several.
    spell, skip_bad, options : as for `read_texts`.
    stdin : what "-" stands for; by default the standard input.

    Returns
    -------
    TextsRead, with rows numbered over all places.
    """
    if not places:
        raise InputError("There is no data to read. Name a file or a folder with --data.")
    bad = BadRows(skip=skip_bad, spell=spell)
    parts, first_rows, rows = [], [], 0
    for place in places:
        skipped = bad.count
        parts.append(_read(str(place), split, bad, stdin or sys.stdin.buffer, options))
        first_rows.append(rows)
        rows += len(parts[-1].texts) + bad.count - skipped
    if len(parts) == 1:
        return parts[0]
    labelled = {part.labelled for part in parts}
    if len(labelled) > 1:
        without = places[[part.labelled for part in parts].index(False)]
        raise InputError(
            f"{without} has no labels, but other data has. Give both labels, or leave them out "
            f"with {spell('label', '')}."
        )
    classes = {tuple(part.classes or ()) for part in parts}
    if len(classes) > 1:
        raise InputError("The data sets have different class names. Audit them one by one.")
    numbered = [
        replace(text, example_id=f"row/{first + int(text.example_id.rpartition('/')[2])}")
        for part, first in zip(parts, first_rows, strict=True)
        for text in part.texts
    ]
    summary = "\n".join(part.summary for part in parts)
    return TextsRead(numbered, bad, summary, parts[0].classes)


def _read(
    place: str, split: str | None, bad: BadRows, stdin: BinaryIO, options: dict[str, Any]
) -> TextsRead:
    if place == STDIN:
        return _standard_input(bad, stdin, options)
    path = Path(place)
    folder, colon, named = place.rpartition(":")
    if not path.exists() and colon and Path(folder).is_dir():
        path, split = Path(folder), named
    if not path.is_dir():
        return read_texts(path, bad=bad, **options)
    if (path / _SAVED_SPLITS).is_file() or (path / _SAVED_DATASET).is_file():
        return _of_table(_saved_dataset(path, split), bad, options)
    if split is not None and not any(path.rglob("*.txt")):
        return read_texts(_split_file(path, split), bad=bad, **options)
    if split is not None:
        path = _subfolder(path, split)
    if any(path.rglob("*.txt")):
        return _of_table(_text_files(path), bad, options)
    return read_texts(path, bad=bad, **options)  # says what the folder holds


def _of_table(table: Table, bad: BadRows, options: dict[str, Any]) -> TextsRead:
    for name in ("delimiter", "encoding"):
        if options.get(name) is not None:
            raise InputError(f"{table.where}: a {name} is for csv and text files. Leave it out.")
    wanted: dict[str, Any] = {name: options.get(name) for name in ("text", "label", "pair")}
    scores, spool = options.get("scores", ()), options.get("spool")
    return texts_of_table(table, **wanted, bad=bad, scores=scores, spool=spool)


def _saved_dataset(path: Path, split: str | None) -> Table:
    try:
        import datasets  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(
            f"{path}: reading what datasets saved needs that package: pip install datasets. Or "
            "write the texts as .parquet or .csv."
        ) from None
    loaded: Any = datasets.load_from_disk(str(path))
    if isinstance(loaded, dict):
        names = ", ".join(loaded)
        if split is None and len(loaded) > 1:
            raise InputError(
                f"{path} holds several splits: {names}. Choose one: --split {next(iter(loaded))}, "
                f"or {path}:{next(iter(loaded))}."
            )
        chosen = next(iter(loaded)) if split is None else split
        if chosen not in loaded:
            raise InputError(f"{path} has no split {chosen!r}; it has: {names}.")
        return dataset_table(loaded[chosen], f"{printable(path.name)}:{chosen}")
    if split is not None:
        raise InputError(f"{path} is one dataset without splits; leave the split {split!r} out.")
    return dataset_table(loaded, printable(path.name))


def _split_file(path: Path, split: str) -> Path:
    found = sorted(
        each
        for each in path.iterdir()
        if each.is_file() and each.name.partition(".")[0] == split and endings(each.name)
    )
    if len(found) != 1:
        files = ", ".join(sorted(each.name for each in path.iterdir())[:8]) or "nothing"
        raise InputError(
            f"{path}: expected one file called {split}.csv or the like for the split {split!r}, "
            f"found {len(found)}. The folder holds {files}."
        )
    return found[0]


def _subfolder(path: Path, split: str) -> Path:
    if not (path / split).is_dir():
        there = ", ".join(sorted(each.name for each in path.iterdir() if each.is_dir())) or "none"
        raise InputError(f"{path} has no subfolder {split!r} for this split; it has: {there}.")
    return path / split


def _text_files(path: Path) -> Table:
    """One text per .txt file, sorted by name; the folder it is in is its label."""
    files = sorted(each for each in path.rglob("*.txt") if each.is_file())
    labels = [each.parent.relative_to(path).as_posix() for each in files]
    has_labels = "." not in labels
    if not has_labels and set(labels) != {"."}:
        raise InputError(
            f"{path}: some text files are in subfolders, whose names are labels, and some are not, "
            f"such as {files[labels.index('.')].name}. Move them."
        )
    records = []
    for file, label in zip(files, labels, strict=True):
        if file.stat().st_size > _MOST_BYTES:
            raise InputError(f"{file}: a single text of {file.stat().st_size:,} bytes is too long.")
        record = {"text": _decoded(file.read_bytes(), str(file)).strip()}
        records.append({**record, "label": label} if has_labels else record)
    return records_table(records, printable(path.name))


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: this is not UTF-8 ({error}). Convert it to UTF-8.") from None


def _standard_input(bad: BadRows, stdin: BinaryIO, options: dict[str, Any]) -> TextsRead:
    content = stdin.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise InputError("Standard input is too long. Write it into a file and give that.")
    start = content.lstrip(b"\xef\xbb\xbf \r\n\t")
    if not start:
        raise InputError("There is nothing on the standard input.")
    first_line = start.splitlines()[0]
    cells = first_line.replace(b"\t", b",").split(b",")
    names = {cell.strip().strip(b'"').lower() for cell in cells}
    wanted = {str(options.get(name) or "").lower().encode() for name in ("text", "label")} - {b""}
    has_header = bool(names & (wanted or {b"text", b"sentence", b"review", b"premise"}))
    kind = "json" if start[:1] == b"[" else "jsonl" if start[:1] == b"{" else ""
    if not kind and not has_header:
        lines = [line.strip() for line in _decoded(content, "standard input").splitlines()]
        records = [{"text": line} for line in lines if line]
        return _of_table(records_table(records, "standard input"), bad, options)
    kind = kind or ("tsv" if b"\t" in first_line else "csv")
    with TemporaryDirectory(prefix="attnaudit-") as folder:
        file = Path(folder) / f"stdin.{kind}"
        file.write_bytes(content)
        return read_texts(file, bad=bad, **options)
