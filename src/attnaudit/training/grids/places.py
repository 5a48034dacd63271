"""Where in a grid file something stands, for error messages."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEADER = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?")


class Places(NamedTuple):
    """The text of a grid file and its name; without a text, for a spec made in Python."""

    name: str = "the grid"
    text: str | None = None

    def of(self, key: str | None = None, table: str | None = None, number: int = 0) -> str:
        """Words for the place of a key, or of a table.

        Parameters
        ----------
        key : as it is written; None for the table itself.
        table : "include" or "exclude"; None for the top of the file.
        number : of the table among those of its name, from 0.

        Examples
        --------
        >>> Places("grid.toml", 'seeds = [0]\\n[[include]]\\nseed = 4').of("seed", "include")
        'grid.toml, line 3 ([[include]] number 1)'
        """
        line = self._line(key, table, number)
        where = self.name if line is None else f"{self.name}, line {line}"
        return where if table is None else f"{where} ([[{table}]] number {number + 1})"

    def _line(self, key: str | None, table: str | None, number: int) -> int | None:
        if self.text is None:
            return None
        current, seen = None, -1
        for line, text in enumerate(self.text.splitlines(), 1):
            header = _HEADER.match(text)
            if header:
                current = header[1]
                seen += current == table
                if current == table and seen == number and key is None:
                    return line
            elif (
                key is not None
                and current == table
                and (table is None or seen == number)
                and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", text)
            ):
                return line
        return None
