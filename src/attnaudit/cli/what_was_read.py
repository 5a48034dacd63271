"""Which columns of a user's file a run read as what, and how many texts."""

from __future__ import annotations

from typing import Any


def what_was_read(data: dict[str, Any]) -> str | None:
    """One line for the user to check; None for a known corpus.

    Parameters
    ----------
    data : what run.json stores under "data".

    Examples
    --------
    >>> columns = {"text": "review", "label": "stars"}
    >>> sizes = {"train": 8, "dev": 1, "test": 1}
    >>> what_was_read({"sizes": sizes, "notes": {"source": "a.csv", "columns": columns}})
    'Read a.csv: text = review, label = stars; train 8, dev 1, test 1'
    """
    from attnaudit.data.reading.streams import printable

    notes = data.get("notes") or {}
    columns = notes.get("columns")
    if not isinstance(columns, dict) or not columns:
        return None
    by_file = (
        columns if all(isinstance(of_file, dict) for of_file in columns.values()) else {"": columns}
    )
    named = [
        ", ".join(f"{name} = {printable(str(column)[:60])}" for name, column in of_file.items())
        for of_file in by_file.values()
    ]
    sizes = ", ".join(f"{name} {count:,}" for name, count in data["sizes"].items())
    source = notes.get("source", data.get("name"))
    return f"Read {source}: {'; '.join(dict.fromkeys(named))}; {sizes}"
