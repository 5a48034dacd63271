"""Tables for papers, one or a family per file: a run, or all runs -> a table."""

from collections.abc import Callable
from typing import Any

from attnaudit.report.tables.flips import flips
from attnaudit.report.tables.jain_wallace_table2 import jain_wallace_table2
from attnaudit.report.tables.runs import runs
from attnaudit.report.tables.summary import summary, summary_by_class, summary_by_row
from attnaudit.report.tables.table import PaperTable

Make = Callable[[Any], PaperTable]

OF_RUN: dict[str, Make] = {
    "summary": summary,
    "summary_by_class": summary_by_class,
    "summary_by_row": summary_by_row,
}
OF_RUNS: dict[str, Make] = {
    "runs": runs,
    "jain_wallace_table2": jain_wallace_table2,
    "flips": flips,
}
RELEASED = "jain_wallace_released"  # several files, csv only; made by the module of this name
READ_VALUES = ("jain_wallace_table2", RELEASED)  # the others are made from summaries alone
TABLES = (*OF_RUN, *OF_RUNS, RELEASED)
