"""Reports on finished runs: HTML pages, and figures and tables for papers.

Everything is made from stored results, without torch; nothing is computed again.

- `page`, `site` and `lesson` write HTML; `overview`, `examples`, `row_effects` and `charts/` make
  the data in it; `templates/` and `static/` hold its HTML, CSS and JavaScript, and `scripts` lists
  the scripts in their order.
- `paper_files` writes the figures of `figures/` and the tables of `tables/`.
- `run_sources` reads runs and findings from disk.

`report` is what `attnaudit report` does, from folders to one page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attnaudit.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from attnaudit.report.run_reports import report

__all__ = ["report"]

__getattr__ = lazy_names(__name__, {"report": "run_reports"})
