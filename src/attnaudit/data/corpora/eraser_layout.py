"""Documents and annotations in the layout of the ERASER benchmark: train, val and test.jsonl, and docs/ or docs.jsonl."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.reading.preprocessing import Preparation
from attnaudit.data.reading.rows import json_rows, whole_text
from attnaudit.data.reading.sources import files

SPLITS = {"train": "train", "val": "dev", "test": "test"}  # name of the file -> ours
FILES = tuple(f"{split}.jsonl" for split in SPLITS)
_KINDS: dict[type, str] = {str: "text", list: "a list", int: "a whole number"}


@dataclass(frozen=True)
class Annotation:
    where: str
    row: dict[str, Any]
    evidence: tuple[dict[str, Any], ...]  # of all groups


@dataclass(frozen=True)
class Document:
    words: tuple[str, ...]
    sentences: tuple[int, ...]  # of each word


def read_layout(
    place: Path, prepare: Preparation
) -> tuple[dict[str, Document], dict[str, list[Annotation]]]:
    """Everything, as an archive has its members in any order."""
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
                        documents[_told(where, row, "docid", str)] = _document(
                            _told(where, row, "document", str)
                        )
            else:
                part = annotations.setdefault(PurePosixPath(file.name).stem, [])
                for where, row in json_rows(file, prepare.bad):
                    with prepare.bad:
                        part.append(_checked(where, row))
    return documents, annotations


def _document(text: str) -> Document:
    """Sentences are lines and words what stands between blanks: the evidence counts them so."""
    lines = [line.strip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    sentences = [[word for word in line.split(" ") if word] for line in lines if line]
    return Document(
        tuple(word for sentence in sentences for word in sentence),
        tuple(number for number, sentence in enumerate(sentences) for _ in sentence),
    )


def _checked(where: str, row: dict[str, Any]) -> Annotation:
    for name in ("annotation_id", "classification"):
        _told(where, row, name, str)
    if row.get("query") is not None:
        _told(where, row, "query", str)
    if row.get("docids") is not None and not all(
        isinstance(each, str) for each in _told(where, row, "docids", list)
    ):
        raise _unlike(where, "docids", "names of documents", row["docids"])
    evidence = [
        each for group in _told(where, row, "evidences", list) for each in _listed(where, group)
    ]
    for each in evidence:
        if not isinstance(each, dict):
            raise _unlike(where, "evidences", "groups of objects", each)
        for name in ("docid", "text"):
            _told(where, each, name, str)
        for name in ("start_token", "end_token"):
            _told(where, each, name, int)
    return Annotation(where, row, tuple(evidence))


def _told(where: str, row: dict[str, Any], name: str, kind: type) -> Any:
    value = row.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _unlike(where, name, _KINDS[kind], value)
    return value


def _listed(where: str, group: Any) -> list[Any]:
    if not isinstance(group, list):
        raise _unlike(where, "evidences", "groups, each a list", group)
    return group


def _unlike(where: str, name: str, expected: str, got: Any) -> InputError:
    return InputError(
        f"{where}: {name!r} must be {expected}, got {str(got)[:60]!r}. Is this a line in the layout of ERASER?"
    )
