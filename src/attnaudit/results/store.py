"""One directory per run: written completely or not at all, and read back as it was written.

`run.json` is written last and lists every other file with its checksum. Nothing is pickled.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from attnaudit.core.errors import InputError
from attnaudit.core.output_folders import write_folder
from attnaudit.core.temporary import is_temporary
from attnaudit.results.checksums import check_files, read_mark, write_json, write_mark
from attnaudit.results.earlier_card import read_earlier_card
from attnaudit.results.questions import RULES
from attnaudit.results.results import Results
from attnaudit.results.run_log import RUN_LOG
from attnaudit.results.run_schema import check_details
from attnaudit.results.table_schema import read_table, read_values
from attnaudit.results.value_file import write_values

RUN = "run.json"
TABLES = ("values", "summary", "examples")
# The schema version: what run.json stores under "format". Version 1 held one line per value.
FORMAT = 2
READABLE = (1, FORMAT)


def is_complete(folder: Path) -> bool:
    """Whether a run is finished, and of the schema version that this version of attnaudit reads."""
    if is_temporary(folder):
        return False
    try:
        return json.loads((folder / RUN).read_text(encoding="utf-8")).get("format") in READABLE
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def find_runs(folders: Iterable[Path]) -> list[Path]:
    """The given runs, and the finished ones directly within given folders.

    A folder without any finished run is returned itself, so that reading it says what is wrong.
    """
    runs: list[Path] = []
    for folder in folders:
        below = _finished_runs_in(folder)
        runs += below if below and not is_complete(folder) else [folder]
    return runs


def _finished_runs_in(folder: Path) -> list[Path]:
    try:
        return sorted(run for run in folder.iterdir() if is_complete(run))
    except OSError:  # not a folder, or gone by now: reading it says so
        return []


def save_results(
    results: Results,
    folder: Path,
    *,
    force: bool = False,
    was_free: bool = False,
    log: str | None = None,
) -> Path:
    """Write results without a model to a folder of their own, complete or not at all.

    Parameters
    ----------
    results : of an audit.
    folder : a new one, unless `force` allows to replace earlier results.
    was_free : the folder was checked before the work (see `write_folder`).
    log : the text of run.log, if there is to be one.

    Returns
    -------
    The folder.
    """

    def write(draft: Path) -> None:
        if log is not None:
            (draft / RUN_LOG).write_text(log, encoding="utf-8")
        write_results(results, draft)

    return write_folder(folder, write, replace=force, was_free=was_free)


def write_results(results: Results, folder: Path, *, run: dict[str, Any] | None = None) -> None:
    """Write the tables, card.json and, last, run.json with the checksums of all files there.

    Parameters
    ----------
    results : of an audit.
    folder : exists, and may hold other files of the run already, such as its model.
    run : what run.json says besides the schema version, `about` and the versions.
    """
    write_values(results.columns, folder / "values.parquet")
    results.summaries.to_parquet(folder / "summary.parquet", index=False)
    results.examples.to_parquet(folder / "examples.parquet", index=False)
    # Results that were read back hold the earlier run.json in "run".
    about = {key: value for key, value in results.about.items() if key != "run"}
    details = {"format": FORMAT, "about": about, "versions": versions(), **(run or {})}
    # The card depends on what made the results: write the one that reading the folder back gives.
    stored = replace(results, about={**about, "run": details})
    write_json(folder / "card.json", stored.card().as_dict())
    write_mark(folder / RUN, details)


def load_results(folder: str | Path) -> Results:
    """Read stored results.

    Parameters
    ----------
    folder : of a finished run, or of results that `Results.save` wrote.

    Returns
    -------
    Results, with run.json as `about["run"]`.

    Raises
    ------
    InputError
        If the folder is not a complete run, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> import attnaudit
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> results = attnaudit.audit(Glass("oracle"), glass_batch(8), show_progress=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_results(results.save(Path(folder) / "run")).values.equals(results.values)
    True
    """
    return open_results(folder).read()


def open_results(folder: str | Path) -> Results:
    """Stored results whose tables are read, and compared with their checksums, when first used.

    For many runs, or for those of which only the summary is needed; `load_results` reads all.

    Parameters
    ----------
    folder : of a finished run, or of results that `Results.save` wrote.

    Returns
    -------
    Results, with run.json as `about["run"]`. Using a part that is damaged raises an InputError.

    Raises
    ------
    InputError
        If the folder is not a complete run, or its run.json is damaged.
    """
    folder = Path(folder)
    details = read_run(folder)
    classes = len(details["about"]["classes"])
    about = {**details["about"], "run": details}
    if about.get("rules") != RULES:  # audited by a version whose rules of the card were others
        about.setdefault("earlier_card", read_earlier_card(folder / "card.json"))

    def read(name: str) -> Any:
        check_files(folder, details, [f"{name}.parquet"])
        if name == "values":
            return read_values(folder / "values.parquet", details["format"], classes)
        return read_table(folder / f"{name}.parquet", name, classes)

    return Results.stored(
        about,
        columns=partial(read, "values"),
        summaries=partial(read, "summary"),
        examples=partial(read, "examples"),
    )


def read_run(folder: Path, *, draft: bool = False) -> dict[str, Any]:
    """run.json of a complete run.

    Parameters
    ----------
    folder : of the run.
    draft : the run is still being written, and is not checked.
    """
    if draft:
        return read_mark(folder / RUN)
    if not folder.is_dir():
        raise InputError(f"There is no directory {folder}.")
    if not is_complete(folder):
        below = _finished_runs_in(folder)
        if below:
            raise InputError(
                f"{folder} is not a run but a folder with {len(below)} finished ones. Give one, "
                f"such as {below[0]}."
            )
        raise InputError(
            f"{folder} is not a complete run: its {RUN} is missing, damaged or of another version. "
            "Give a directory that `attnaudit run` has finished, or run it again."
        )
    details = read_mark(folder / RUN)
    check_details(folder / RUN, details)
    return details


_LIBRARIES = (
    *("attnaudit", "torch", "numpy", "scipy", "pandas", "pyarrow", "scikit-learn"),
    *("entmax", "captum", "transformers"),
)


def versions() -> dict[str, str]:
    """The versions of Python, attnaudit and the libraries that may change numbers."""
    return {
        "python": platform.python_version(),
        **{name: _installed_version(name) for name in _LIBRARIES},
    }


@cache
def _installed_version(name: str) -> str:
    """Read once per process: it parses the library's metadata, and every run asks several times."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
