"""Read questions with sources from a file: jsonl, or in the format of SQuAD or HotpotQA."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.data.citations.example import CitationExample
from attnaudit.data.citations.hotpotqa import hotpotqa_examples
from attnaudit.data.citations.squad import squad_examples
from attnaudit.data.reading.option_names import Spelling, in_python
from attnaudit.data.reading.row_errors import BadRows, RowError
from attnaudit.data.reading.rows import DECODER, json_rows
from attnaudit.data.reading.sources import files

COLUMNS = ("sources", "question", "answer", "gold", "span", "id")
_LARGEST = 1 << 28  # bytes of a json file


def read_citations(
    path: str | Path,
    *,
    columns: dict[str, str] | None = None,
    level: str = "paragraph",
    skip_bad: bool = False,
    spell: Spelling = in_python,
) -> tuple[list[CitationExample], BadRows]:
    """Read the questions of a file, and count the rows that could not be read.

    Parameters
    ----------
    path
        jsonl with `sources` (a list of texts), `question` and, optionally, `answer`, `gold` (the
        numbers of the needed sources, from 0), `span` (a part of the answer) and `id`; or json in
        the format of SQuAD, whose sources are the sentences of a paragraph, or of HotpotQA.
    columns
        Names of these in a jsonl file, if they are others: {"sources": "passages"}.
    level
        Of HotpotQA, what a source is: "paragraph" or "sentence".
    skip_bad
        Skip and count rows that cannot be read.
    spell
        Writes options in messages.

    Returns
    -------
    The questions, and what was skipped.
    """
    path = Path(path)
    bad = BadRows(skip=skip_bad, spell=spell, can_skip=True)
    names = {name: name for name in COLUMNS} | (columns or {})
    if unknown := sorted(set(names) - set(COLUMNS)):
        raise InputError(f"There is no column {unknown[0]!r}. Choose from: {', '.join(COLUMNS)}.")
    if not path.is_file():
        raise InputError(
            f"There is no file {path}. Expected jsonl, one question per line, or json."
        )
    examples = list(_examples(path, names, level, bad))
    if not examples:
        first = f" The first of {bad.count:,} skipped rows: {bad.messages[0]}" if bad.count else ""
        raise InputError(f"{path}: there is no question in it.{first}")
    _reject_repeated_ids(examples)
    return examples, bad


def _examples(
    path: Path, names: dict[str, str], level: str, bad: BadRows
) -> Iterator[CitationExample]:
    for file in files(path):
        if file.name.endswith((".jsonl", ".ndjson")):
            for number, (where, row) in enumerate(json_rows(file, bad)):
                with bad:
                    yield _of_row(row, names, number, where)
        elif file.name.endswith(".json"):
            content = _content(file.stream.read(_LARGEST + 1), file.where)
            if isinstance(content, dict) and isinstance(content.get("data"), list):
                yield from squad_examples(content["data"], file.where, bad)
            elif isinstance(content, list):
                yield from hotpotqa_examples(content, file.where, bad, level=level)
            else:
                raise InputError(
                    f'{file.where}: expected an object with "data" as in SQuAD, or a list of '
                    "questions as in HotpotQA."
                )
        else:
            raise InputError(
                f"{file.where}: expected a file .jsonl, one question per line, or .json in the "
                "format of SQuAD or HotpotQA."
            )


def _content(raw: bytes, where: str) -> Any:
    if len(raw) > _LARGEST:
        raise InputError(f"{where}: larger than {_LARGEST >> 20} MB. Save it as jsonl, by line.")
    try:
        return DECODER.decode(raw.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise InputError(f"{where}, line {error.lineno}: not JSON ({error.msg}).") from error
    except (RecursionError, ValueError) as error:
        raise InputError(f"{where}: not JSON ({str(error)[:100]}).") from error


def _of_row(row: dict[str, Any], names: dict[str, str], number: int, where: str) -> CitationExample:
    for name in ("sources", "question"):
        if names[name] not in row:
            raise RowError(
                f"{where}: there is no {names[name]!r}; expected {name}, got the keys "
                f"{', '.join(row)[:100] or 'none'}.",
                reason=f"no {name}",
            )
    sources, gold = row[names["sources"]], row.get(names["gold"])
    if not isinstance(sources, list) or not all(isinstance(text, str) for text in sources):
        raise RowError(
            f"{where}: {names['sources']!r} must be a list of texts, got {str(sources)[:60]}.",
            reason="sources are not a list of texts",
        )
    if gold is not None and not (
        isinstance(gold, list) and all(isinstance(n, int) and not isinstance(n, bool) for n in gold)
    ):
        raise RowError(
            f"{where}: {names['gold']!r} must be a list of numbers of sources, counted from 0, got "
            f"{str(gold)[:60]}.",
            reason="gold is not a list of numbers",
        )
    texts = {name: row.get(names[name]) for name in ("question", "answer", "span", "id")}
    for name, text in texts.items():
        if text is not None and not isinstance(text, str) and name != "id":
            raise RowError(
                f"{where}: {names[name]!r} must be a text, got {str(text)[:60]}.",
                reason=f"{name} is not a text",
            )
    return CitationExample(
        f"row/{number}" if texts["id"] is None else str(texts["id"]),
        tuple(sources),
        texts["question"] or "",
        (texts["answer"] or "").strip(),
        None if gold is None else tuple(sorted(set(gold))),
        (texts["span"] or "").strip(),
        where,
    )


def _reject_repeated_ids(examples: list[CitationExample]) -> None:
    seen: dict[str, str] = {}
    for example in examples:
        if example.example_id in seen:
            raise InputError(
                f"{example.where}: the id {example.example_id[:60]!r} was used before, at "
                f"{seen[example.example_id]}. Give every question an id of its own, or none."
            )
        seen[example.example_id] = example.where
