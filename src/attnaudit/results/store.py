"""One directory per run. `run.json` is written last and names every other file with its checksum. Never pickle."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.core.errors import InputError
from attnaudit.core.notices import notice
from attnaudit.core.output_files import sha256, whole_file
from attnaudit.core.output_folders import MARKS, write_folder
from attnaudit.core.temporary import is_temporary
from attnaudit.results.results import Results
from attnaudit.results.schema import check_details, read_parquet, read_table

RUN = "run.json"
TABLES = ("values", "summary", "examples")
FORMAT = 1
_DEFAULTS = {"model": "attentive", "output": "linear_query", "variant": "ordinary"}


def run_name(choices: dict[str, Any]) -> str:
    """A readable name with a hash of all the choices: the same choices, the same directory, anywhere."""
    digest = hashlib.blake2b(
        json.dumps(choices, sort_keys=True).encode(), digest_size=4
    ).hexdigest()
    shown = "-".join(telling(choices))
    return f"{file_name(shown)[:80]}-{digest}"


def file_name(text: str) -> str:
    """The text with all that could trouble a file system as underscores."""
    return re.sub(r"[^A-Za-z0-9.=-]+", "_", text)


def telling(choices: dict[str, Any]) -> list[str]:
    """The choices that tell runs apart at a glance: the usual five, and others where they are not the default."""
    usual = [
        str(choices[key])
        for key in ("dataset", "encoder", "scorer", "projection")
        if key in choices
    ]
    unusual = [
        str(choices[key])
        for key, default in _DEFAULTS.items()
        if choices.get(key, default) != default
    ]
    return (
        [*usual, *unusual, f"seed {choices['seed']}"] if "seed" in choices else [*usual, *unusual]
    )


def is_complete(folder: Path) -> bool:
    """Finished, by a version whose format this one reads; never a folder that is being written."""
    if is_temporary(folder):
        return False
    try:
        return json.loads((folder / RUN).read_text(encoding="utf-8")).get("format") == FORMAT
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def find_runs(folders: Iterable[Path]) -> list[Path]:
    """The runs named, or held by a folder named; unfinished ones within such a folder are left out."""
    found: list[Path] = []
    for folder in folders:
        below = _runs_below(folder)
        found += below if below and not is_complete(folder) else [folder]
    return found


def _runs_below(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if is_complete(each))
    except OSError:  # not a folder, or gone meanwhile: whoever reads it says so
        return []


def load_readable(folders: Iterable[Path]) -> list[tuple[Path, Results]]:
    """Every run that can be read, in order; the others are named and left out. An error if none can."""
    readable: list[tuple[Path, Results]] = []
    wrong: list[str] = []
    for folder in folders:
        try:
            readable.append((folder, load_results(folder)))
        except InputError as error:
            wrong.append(str(error))
    if wrong and not readable:
        raise InputError("\n".join(wrong))
    for reason in wrong:
        notice(f"left out: {reason}")
    return readable


def save_results(results: Results, folder: Path, *, force: bool = False) -> Path:
    """The results alone, of a model that is kept elsewhere; complete or not at all."""
    return write_folder(folder, lambda draft: write_results(results, draft), replace=force)


def write_results(results: Results, folder: Path, *, run: dict[str, Any] | None = None) -> None:
    """values.parquet, summary.parquet, examples.parquet, card.json and, last, run.json with the checksums of all files there."""
    results.values.to_parquet(folder / "values.parquet", index=False)
    results.summaries.to_parquet(folder / "summary.parquet", index=False)
    results.examples.to_parquet(folder / "examples.parquet", index=False)
    about = {
        key: value for key, value in results.about.items() if key != "run"
    }  # of a run that was read back
    details = {"format": FORMAT, "about": about, "versions": versions(), **(run or {})}
    # The card that reading the folder back gives.
    stored = replace(results, about={**about, "run": details})
    write_json(folder / "card.json", stored.card().as_dict())
    write_mark(folder / RUN, details)


def write_mark(path: Path, content: dict[str, Any]) -> None:
    """The JSON file that makes a folder complete: `content`, the checksums of the folder's other files, and its own."""
    others = sorted(each for each in path.parent.iterdir() if each.is_file() and each != path)
    known = {key: value for key, value in content.items() if key not in ("files", "checksum")}
    whole = _plain(
        {
            **known,
            "files": {
                each.name: {"bytes": each.stat().st_size, "sha256": sha256(each)} for each in others
            },
        }
    )
    write_json(path, {**whole, "checksum": _checksum(whole)})


def read_mark(path: Path) -> dict[str, Any]:
    """What `write_mark` wrote; rejected if it is damaged. Marks of earlier versions have no checksum."""
    folder = path.parent
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read ({str(error)[:200]}). Make the results again."
        ) from error
    if not isinstance(found, dict):
        raise InputError(
            f"{path} is damaged: expected a JSON object, got {type(found).__name__}. Make the results again."
        )
    if "checksum" in found or "files" in found:
        rest = {key: value for key, value in found.items() if key != "checksum"}
        if found.get("checksum") != _checksum(rest) or not isinstance(found.get("files"), dict):
            raise InputError(
                f"{path} was changed or damaged after it was written: its checksum does not fit. Make the results again, or take {folder} "
                "from a copy that is whole."
            )
    return found


def check_files(folder: Path, details: dict[str, Any], names: Iterable[str]) -> None:
    """Reject files that are missing or are not, byte for byte, what the mark says. Without checksums only their presence is checked."""
    listed = details.get("files", {})
    for name in names:
        path = folder / name
        if not path.is_file():
            raise InputError(f"{folder} has lost {name}. Run it again with --force.")
        if name in listed and _differs(path, listed[name]):
            raise InputError(
                f"{path} is damaged: its checksum is not the one in {RUN}. Run it again with --force, or take it from a copy that is whole."
            )


def verify_folder(folder: Path) -> str:
    """ "whole", "damaged: …", or "cannot be verified: …" for results of a version that kept no checksums."""
    try:
        mark = read_mark(next(folder / name for name in MARKS if (folder / name).is_file()))
    except InputError as error:
        return f"damaged: {error}"
    if "files" not in mark:
        return f"cannot be verified: attnaudit {mark.get('versions', {}).get('attnaudit', 'of an early version')} kept no checksums"
    wrong = [name for name, told in mark["files"].items() if _differs(folder / name, told)]
    return f"damaged: {', '.join(wrong)}" if wrong else f"whole ({len(mark['files']) + 1} files)"


def find_results(folders: Iterable[Path]) -> list[Path]:
    """Runs and findings: those named, and all those below."""
    found: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"There is no directory {folder}.")
        marked = {path.parent for name in MARKS for path in folder.rglob(name)}
        here = sorted(each for each in marked if not any(map(is_temporary, (each, *each.parents))))
        if not here:
            raise InputError(f"{folder} holds no results of attnaudit: there is nothing to verify.")
        found += here
    return found


def load_results(folder: str | Path) -> Results:
    folder = Path(folder)
    details = read_run(folder)
    check_files(folder, details, (f"{name}.parquet" for name in TABLES))
    classes = len(details["about"]["classes"])
    values, summaries, examples = (
        read_table(folder / f"{name}.parquet", name, classes) for name in TABLES
    )
    return Results(values, summaries, examples, about={**details["about"], "run": details})


def read_findings(
    folder: Path, mark: str, detail: str
) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    """What an intervention or a corpus audit found: its JSON object, its summary, and the numbers behind that."""
    about = read_mark(folder / mark)
    if not all(isinstance(about.get(key), str) for key in ("name", "question")):
        raise InputError(
            f"{folder / mark} is damaged: it does not say what was found. Make the findings again."
        )
    check_files(folder, about, (f"{name}.parquet" for name in ("summary", detail)))
    summary, rest = (read_parquet(folder / f"{name}.parquet") for name in ("summary", detail))
    return about, summary, rest


def read_run(folder: Path, *, draft: bool = False) -> dict[str, Any]:
    """run.json of a complete run; draft: of one that is still being put in place."""
    if draft:
        return read_mark(folder / RUN)
    if not folder.is_dir():
        raise InputError(f"There is no directory {folder}.")
    if not is_complete(folder):
        raise InputError(
            f"{folder} is not a complete run: its {RUN} is missing, damaged or of another version. "
            "Give a directory that `attnaudit run` has finished, or run it again."
        )
    details = read_mark(folder / RUN)
    check_details(folder / RUN, details)
    return details


def write_json(path: Path, content: Any) -> None:
    """Whole or not at all; NaN and infinity, which are no JSON, as null."""
    with whole_file(path) as draft:
        draft.write_text(
            json.dumps(_plain(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("attnaudit", "torch", "numpy", "scipy", "pandas", "pyarrow", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _differs(path: Path, told: Any) -> bool:
    try:
        return (
            not isinstance(told, dict)
            or path.stat().st_size != told.get("bytes")
            or sha256(path) != told.get("sha256")
        )
    except OSError:
        return True


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _plain(content: Any) -> Any:
    """NaN and infinity are no JSON: null."""
    if isinstance(content, dict):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, float) and content - content != 0:
        return None
    return content
