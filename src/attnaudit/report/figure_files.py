"""Every figure of some runs, as files: one folder a run, and what is drawn of all runs together beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attnaudit.core.errors import NotApplicable
from attnaudit.core.output_files import check_writable
from attnaudit.report.figures import FIGURES, OF_FINDINGS, OF_RUN, OF_RUNS, style
from attnaudit.report.run_sources import Sources
from attnaudit.report.write_summary import Outcome
from attnaudit.results.findings import Findings


def write_figures(
    sources: Sources,
    out: Path,
    *,
    formats: Sequence[str] = style.FORMATS,
    only: Sequence[str] = FIGURES,
) -> Outcome:
    """OUT/run/figure.format, OUT/figure.format. A figure whose audit was not run is left out, with the reason."""
    check_writable(out)
    outcome = Outcome()
    with style.paper():
        for run in sources.runs:
            for name in only:
                if name in OF_RUN:
                    _try(
                        outcome,
                        name,
                        run.title,
                        partial(OF_RUN[name], run),
                        out / run.title,
                        formats,
                    )
        for name in only:
            if name in OF_RUNS:
                _try(outcome, name, "", partial(OF_RUNS[name], sources.runs), out, formats)
            elif name in OF_FINDINGS:
                _of_findings(outcome, name, sources.findings, out, formats)
    return outcome


def _of_findings(
    outcome: Outcome, name: str, findings: Sequence[Findings], out: Path, formats: Sequence[str]
) -> None:
    intervention, draw = OF_FINDINGS[name]
    matching = [each for each in findings if each.name == intervention]
    if not matching:
        reason = (
            f"no findings of `attnaudit run --intervention {intervention}` among the folders given"
        )
        outcome.skip(name, "", reason)
    for each in matching:
        _try(outcome, name, each.title, partial(draw, each), out / each.title, formats)


def _try(
    outcome: Outcome,
    name: str,
    source: str,
    draw: Callable[[], Any],
    folder: Path,
    formats: Sequence[str],
) -> None:
    try:
        figure = draw()
    except NotApplicable as reason:
        outcome.skip(name, source, reason)
        return
    outcome.written += style.save(figure, folder / name, formats)
