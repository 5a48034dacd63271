"""The layout of the ERASER benchmark: train, val and test.jsonl, and docs/ or docs.jsonl."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.preprocessing import Preparation
from attnaudit.data.reading.rows import json_rows, whole_text
from attnaudit.data.reading.sources import files

SPLIT_OF = {"train": "train", "val": "dev", "test": "test"}  # file name -> split
FILES = tuple(f"{name}.jsonl" for name in SPLIT_OF)
_KINDS: dict[type, str] = {str: "text", list: "a list", int: "a whole number"}


@dataclass(frozen=True)
class Annotation:
    """One line of an annotation file."""

    where: str
    row: dict[str, Any]
    evidence: tuple[dict[str, Any], ...]  # of all groups


@dataclass(frozen=True)
class Document:
    """A document with the sentence number of each word."""

    words: tuple[str, ...]
    sentences: tuple[int, ...]


def read_layout(
    place: Path, prepare: Preparation
) -> tuple[dict[str, Document], dict[str, list[Annotation]]]:
    """(documents by name, annotations by file); all at once, as archives have no fixed order."""
    documents: dict[str, Document] = {}
    annotations: dict[str, list[Annotation]] = {}
    for file in files(place, *FILES, "docs.jsonl", "docs/[!.]*"):
        _, below, name = f"/{file.name}".rpartition("/docs/")
        with prepare.bad:
            if below:
                documents[name] = _document(whole_text(file))
            elif file.name.endswith("docs.jsonl"):
                for where, row in json_rows(file, prepare.bad):
                    with prepare.bad:
                        name = _field(where, row, "docid", str)
                        documents[name] = _document(_field(where, row, "document", str))
            else:
                part = annotations.setdefault(PurePosixPath(file.name).stem, [])
                for where, row in json_rows(file, prepare.bad):
                    with prepare.bad:
                        part.append(_checked(where, row))
    return documents, annotations


def _document(text: str) -> Document:
    """Sentences are lines and words are separated by blanks, as the evidence counts them."""
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    sentences = [[word for word in line.split(" ") if word] for line in lines if line]
    return Document(
        tuple(word for sentence in sentences for word in sentence),
        tuple(number for number, sentence in enumerate(sentences) for _ in sentence),
    )


def _checked(where: str, row: dict[str, Any]) -> Annotation:
    for name in ("annotation_id", "classification"):
        _field(where, row, name, str)
    if row.get("query") is not None:
        _field(where, row, "query", str)
    if row.get("docids") is not None and not all(
        isinstance(name, str) for name in _field(where, row, "docids", list)
    ):
        raise _malformed(where, "docids", "names of documents", row["docids"])
    evidence: list[dict[str, Any]] = []
    for group in _field(where, row, "evidences", list):
        if not isinstance(group, list):
            raise _malformed(where, "evidences", "groups, each a list", group)
        evidence += group
    for item in evidence:
        if not isinstance(item, dict):
            raise _malformed(where, "evidences", "groups of objects", item)
        for name in ("docid", "text"):
            _field(where, item, name, str)
        for name in ("start_token", "end_token"):
            _field(where, item, name, int)
    return Annotation(where, row, tuple(evidence))


def _field(where: str, row: dict[str, Any], name: str, kind: type) -> Any:
    """The value of a field, or an error if it is not of this kind."""
    value = row.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _malformed(where, name, _KINDS[kind], value)
    return value


def _malformed(where: str, name: str, expected: str, got: Any) -> InputError:
    return InputError(
        f"{where}: {name!r} must be {expected}, got {str(got)[:60]!r}. "
        "Is this a line in the layout of ERASER?"
    )
