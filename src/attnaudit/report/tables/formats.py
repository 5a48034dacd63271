"""A table as csv, Markdown or LaTeX.

Names come from the data and may contain anything: they stay text in every format.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from itertools import groupby

import pandas as pd

from attnaudit.core.number_text import is_number
from attnaudit.report.tables.table import PaperTable

_LONGEST = 60  # characters of a printed cell
_LONGEST_HEAD = 160
_HEAD_WIDTH = 20  # characters per line of a column's head
_LONG = 45  # lines; longer tables may break over pages
_LATEX = {mark: f"\\{mark}" for mark in "{}$&#%_"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": r"\textendash{}",
    "−": "$-$",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "·": r"$\cdot$",
    "…": r"\ldots{}",
}
_MARKDOWN = {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {mark: f"\\{mark}" for mark in "\\`*_[]|~$"}


def to_csv(table: PaperTable) -> str:
    """The stored numbers."""
    return csv_text(table.numbers)


def csv_text(frame: pd.DataFrame, *, index: bool = False) -> str:
    """A table as csv: every number reads back the same, an undefined one is an empty cell."""
    safe = frame.copy()
    for column in safe.columns:
        if not pd.api.types.is_numeric_dtype(safe[column]):
            safe[column] = ["" if pd.isna(value) else _cell(str(value)) for value in safe[column]]
    safe.columns = [_cell(str(name)) for name in safe.columns]
    return safe.to_csv(index=index, lineterminator="\n", float_format=_full_precision)


def _full_precision(value: float) -> str:
    return repr(float(value))


def _cell(text: str) -> str:
    """One line that no spreadsheet runs as a formula."""
    plain = _one_line(text)
    is_formula = plain[:1] in ("=", "@") or (plain[:1] in ("+", "-") and not is_number(plain))
    return f"'{plain}" if is_formula else plain


def to_markdown(table: PaperTable) -> str:
    """A pipe table with its caption above."""
    frame = table.printed
    align = ["---" if index < table.words else "---:" for index in range(frame.shape[1])]
    heads = [
        f"{head} {name}".strip() for head, name in zip(_heads(table), frame.columns, strict=True)
    ]
    rows = [[markdown(str(cell)) for cell in row] for row in frame.itertuples(index=False)]
    lines = [[markdown(head, _LONGEST_HEAD) for head in heads], align, *rows]
    return (
        f"{markdown(table.caption, 500)}\n\n"
        + "\n".join(f"| {' | '.join(line)} |" for line in lines)
        + "\n"
    )


def to_latex(table: PaperTable) -> str:
    """A tabular with the rules of booktabs, or a longtable beyond 45 lines.

    The caption is a comment; a name that repeats is printed once.
    """
    frame = table.printed
    kind = "longtable" if len(frame) > _LONG else "tabular"
    columns = "l" * table.words + "r" * (frame.shape[1] - table.words)
    head = [*_spanning(_heads(table)), _row([_stacked(str(name)) for name in frame.columns])]
    body: list[str] = []
    above = [""] * table.words
    for row in frame.itertuples(index=False):
        cells = [str(cell) for cell in row]
        # A cell is left empty only if all cells to its left repeat too, and never the last word.
        same = next((i for i in range(table.words) if cells[i] != above[i]), table.words)
        if body and same == 0 and table.words > 1:
            body.append(r"\addlinespace")
        empty = min(same, table.words - 1)
        body.append(_row([""] * empty + [latex(cell) for cell in cells[empty:]]))
        above = cells[: table.words]
    packages = "booktabs, longtable" if kind == "longtable" else "booktabs"
    repeated = [r"\endhead"] if kind == "longtable" else []
    lines = [
        f"% {_one_line(table.caption)}",
        f"% Packages: {packages}. Letters beyond Latin need LuaLaTeX or XeLaTeX.",
        rf"\begin{{{kind}}}{{{columns}}}",
        r"\toprule",
        *head,
        r"\midrule",
        *repeated,
        *body,
        r"\bottomrule",
        rf"\end{{{kind}}}",
    ]
    return "\n".join(lines) + "\n"


def _heads(table: PaperTable) -> list[str]:
    return list(table.heads) or [""] * table.printed.shape[1]


def _spanning(heads: Sequence[str]) -> list[str]:
    """A line of heads, each over its columns with a rule below; nothing if there are none."""
    if not any(heads):
        return []
    cells, rules, start = [], [], 1
    for head, columns in groupby(heads):
        width = len(list(columns))
        cells += [rf"\multicolumn{{{width}}}{{c}}{{{latex(head)}}}"] if head else [""] * width
        rules += [rf"\cmidrule(lr){{{start}-{start + width - 1}}}"] if head else []
        start += width
    return [_row(cells), " ".join(rules)]


def _stacked(head: str) -> str:
    """A long head on several lines, so that its column stays narrow."""
    lines = textwrap.wrap(_short(head, _LONGEST_HEAD), _HEAD_WIDTH) or [""]
    stacked = r" \\ ".join(map(latex, lines))
    return stacked if len(lines) == 1 else rf"\shortstack[r]{{{stacked}}}"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def latex(text: str) -> str:
    """A short text, escaped."""
    escaped = "".join(_LATEX.get(char, char) for char in _short(text))
    apart = re.sub(r"([-`',])(?=\1)|([?!])(?=`)", r"\g<0>{}", escaped)  # no ligatures
    # A preceding \\ would take [ and * for its options.
    return f"{{}}{apart}" if apart[:1] in ("[", "*") else apart


def markdown(text: str, longest: int = _LONGEST) -> str:
    """A short text, escaped; an address does not become a link."""
    plain = "".join(_MARKDOWN.get(char, char) for char in _short(text, longest))
    return re.sub(r"\b(https?|www|ftp|mailto)(?=[:.])", r"\1&#8203;", plain)


def _short(text: str, longest: int = _LONGEST) -> str:
    plain = _one_line(text[: 4 * longest])
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def _one_line(text: str) -> str:
    """Printable characters only: no control characters, line ends or lone surrogates."""
    return "".join(char if char.isprintable() else " " for char in text).strip()


FORMATS: dict[str, tuple[str, Callable[[PaperTable], str]]] = {
    "csv": ("csv", to_csv),
    "md": ("md", to_markdown),
    "latex": ("tex", to_latex),
}
