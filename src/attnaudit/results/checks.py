"""Checks of stored results: are the files what was written, and does a release condition hold?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.output_files import write_file
from attnaudit.results.checksums import find_results, verify_folder
from attnaudit.results.gate import condition_outcomes, conditions_met
from attnaudit.results.gate_reports import junit_xml, markdown_summary
from attnaudit.results.results import Results
from attnaudit.results.store import load_results


class Verification(NamedTuple):
    """The state of one folder of results, in words, and whether it is damaged."""

    folder: Path
    state: str
    damaged: bool


def verify(folders: str | Path | Iterable[str | Path]) -> list[Verification]:
    """Compare every stored file with the checksum that was written with it.

    Parameters
    ----------
    folders : run directories, findings, or folders that hold some.

    Returns
    -------
    One `Verification` per run or findings, in the order of the folders.

    Examples
    --------
    >>> damaged = [each.folder for each in verify("runs") if each.damaged]  # doctest: +SKIP
    """
    listed = [folders] if isinstance(folders, str | Path) else folders
    states = {folder: verify_folder(folder) for folder in find_results(map(Path, listed))}
    return [
        Verification(folder, state, state.startswith("damaged")) for folder, state in states.items()
    ]


def gate(run: Results | str | Path, fail_if: str) -> list[str]:
    """The conditions that hold for a run: a release gate is open if there are none.

    Parameters
    ----------
    run : results, or the run directory that holds them.
    fail_if : conditions, separated by semicolons, as in `attnaudit gate --help`.

    Returns
    -------
    Each condition that holds, with what was found.

    Raises
    ------
    InputError
        If a condition is about a question or a number that the run does not have.

    Examples
    --------
    >>> from attnaudit import audit
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> results = audit(Glass("oracle"), glass_batch(30), audits=["permutation"])
    >>> gate(results, "permutation/tvd_median<0")
    []
    """
    results = run if isinstance(run, Results) else load_results(run)
    return conditions_met(results, fail_if)


def write_gate_reports(
    run: Results | str | Path,
    fail_if: str,
    *,
    junit: str | Path | None = None,
    summary: str | Path | None = None,
) -> list[str]:
    """`gate`, and what it found as files for CI.

    Parameters
    ----------
    run, fail_if : as for `gate`.
    junit : file for JUnit XML, with one test case per condition.
    summary : file that a summary in Markdown is added to, such as $GITHUB_STEP_SUMMARY.

    Returns
    -------
    As for `gate`.
    """
    results = run if isinstance(run, Results) else load_results(run)
    outcomes = condition_outcomes(results, fail_if)
    named = results.about.get("texts", {}).get("model") or "audit"
    name = str(named) if isinstance(run, Results) else Path(run).resolve().name
    if junit is not None:
        write_file(Path(junit), junit_xml(outcomes, name))
    if summary is not None:
        _add(markdown_summary(outcomes, results.card(), name), Path(summary))
    return conditions_met(results, fail_if)


def _add(text: str, path: Path) -> None:
    """Add a text to the end of a file, which may be anyone's: nothing in it is lost."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is no file. The summary is added to a regular file: name one.")
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(
            error.errno, f"Cannot add the summary to {path}: {error.strerror}"
        ) from error
