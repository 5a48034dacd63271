"""The report of finished runs, as one page or as a static site."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from attnaudit.core.garbage import rare_collections
from attnaudit.core.output_files import check_file, check_writable, recovery_advice
from attnaudit.report.page import write_page_of
from attnaudit.report.site import check_site, write_site_of
from attnaudit.results.store import find_runs
from attnaudit.results.stored_runs import StoredRuns, check_run, readable


class ReportOutput(NamedTuple):
    """The page that was written, and the number of runs on it."""

    path: Path
    runs: int


def report(
    runs: str | Path | Iterable[str | Path],
    out: str | Path = "report.html",
    *,
    site: str | Path | None = None,
) -> ReportOutput:
    """Write one HTML page about finished runs. Does what `attnaudit report` does.

    Parameters
    ----------
    runs : run directories, or folders that hold some. Runs that cannot be read are named and left
        out.
    out : the page to write.
    site : write a static site with every stored example into this folder instead.

    Examples
    --------
    >>> report("runs", "report.html").path  # doctest: +SKIP
    """
    check_file(Path(out)) if site is None else check_site(Path(site))
    listed = [runs] if isinstance(runs, str | Path) else runs
    checked = readable(find_runs(map(Path, listed)), check_run)
    # Runs with the default audits first; those that an intervention compares with have fewer.
    checked.sort(key=lambda run: run[1].get("choices", {}).get("audits") is not None)
    folders = [folder for folder, _ in checked]
    results = StoredRuns(folders)
    if site is None:
        check_writable(Path(out).parent)
        with recovery_advice("No page was written; the runs are unchanged."), rare_collections():
            return ReportOutput(*write_page_of(results, Path(out), folders=folders))
    with recovery_advice("Pages that were written before it are complete."), rare_collections():
        return ReportOutput(*write_site_of(results, Path(site), folders=folders))
