"""How every figure looks: one column wide, 7 pt, readable without colour; files without dates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from attnaudit.core.output_files import write_file

WIDTH = 3.3  # inches, a column of two
BLUE, ORANGE, GREEN, RED, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#666666",
)  # Okabe & Ito
COLOURS = (BLUE, ORANGE, GREEN)
HATCHES = ("", "/////", "....")
MARKS = ("o", "s", "^")
LINES = ("-", "--", "-.")
FORMATS = ("pdf", "svg", "png")
LONGEST = 28  # characters of a name from the data

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 7,
    "axes.labelsize": 7.5,
    "axes.titlesize": 7.5,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.0,
    "hatch.linewidth": 0.5,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # letters stay letters
    "svg.fonttype": "path",
    "svg.hashsalt": "attnaudit",  # otherwise every file has different ids
    "text.usetex": False,
    "text.parse_math": False,  # a class may be called "$x$"
    "axes.formatter.use_mathtext": False,
}
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None},
    "svg": {"Date": None},
    "png": {"Software": None},
}


@contextmanager
def paper() -> Iterator[None]:
    """Draw and save within: the same figure whatever the user's matplotlib settings."""
    from matplotlib import style

    with style.context([_STYLE], after_reset=True):
        yield


def column(height: float, rows: int = 1, **options: Any) -> tuple[Any, Any]:
    """(figure, axes), one column wide; height: of the whole figure, in inches.

    Without pyplot, so that no global state is touched.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    return figure, figure.subplots(rows, 1, **options)


def legend_above(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend above the axes, in as many columns as the longest label leaves room for."""
    # The symbol, and letters of 7 pt.
    inches = 0.45 + 0.058 * max(map(len, labels), default=0)
    columns = max(1, min(len(labels), int(WIDTH / inches)))
    figure.legend(handles, labels, loc="outside upper center", ncols=columns)


def save(figure: Any, path: Path, formats: Sequence[str]) -> list[Path]:
    """Write one file per format, each whole or not at all; path: without the ending."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once: the same in every format
    written = []
    for kind in formats:
        final = path.with_name(f"{path.name}.{kind}")
        # In memory first: on a full disk, the pdf writer fails with an error that is not OSError.
        image = BytesIO()
        figure.savefig(image, format=kind, metadata=_METADATA[kind])
        written.append(write_file(final, image.getvalue(), kind="figure"))
    return written


def printable(text: str, longest: int = LONGEST) -> str:
    """A text from the data as one short line of characters that the font has."""
    plain = "".join(char if char.isprintable() else " " for char in text[: 4 * longest])
    plain = "".join(char if _in_font(char) else "□" for char in plain).strip()
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def in_words(name: str) -> str:
    """The name of a measure in words: "leave_one_out" -> "leave one out"."""
    return printable(name.replace("_", " "))


def mark_maximum(axes: Any, *, vertical: bool = False) -> None:
    """A dashed, labelled line at ln 2, the maximum of the JSD."""
    maximum = math.log(2)
    draw_line = axes.axvline if vertical else axes.axhline
    draw_line(maximum, color=RED, lw=0.8, ls="--")
    axes.annotate(
        "ln 2, the maximum",
        (maximum, 1) if vertical else (1, maximum),
        xycoords=("data", "axes fraction") if vertical else ("axes fraction", "data"),
        xytext=(3, 1) if vertical else (-2, 2),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=6.5,
        color=RED,
    )


@cache
def _in_font(letter: str) -> bool:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return get_font(findfont(FontProperties(family="DejaVu Sans"))).get_char_index(ord(letter)) > 0
