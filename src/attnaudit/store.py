"""One directory a run. `run.json` is written last, by atomic rename: a directory that has it is complete. Never pickle."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.errors import InputError
from attnaudit.results import Results

RUN = "run.json"
FILES = ("values.parquet", "summary.parquet", "examples.parquet")
FORMAT = 1
_DEFAULTS = {"model": "attentive", "output": "linear_query", "variant": "ordinary"}


def run_name(choices: dict[str, Any]) -> str:
    """A readable name with a hash of all the choices: the same choices, the same directory, anywhere."""
    digest = hashlib.blake2b(json.dumps(choices, sort_keys=True).encode(), digest_size=4).hexdigest()
    shown = "-".join(telling(choices))
    return f"{file_name(shown)[:80]}-{digest}"


def file_name(text: str) -> str:
    """The text with all that could trouble a file system as underscores."""
    return re.sub(r"[^A-Za-z0-9.=-]+", "_", text)


def telling(choices: dict[str, Any]) -> list[str]:
    """The choices that tell runs apart at a glance: the usual five, and others where they are not the default."""
    usual = [str(choices[key]) for key in ("dataset", "encoder", "scorer", "projection") if key in choices]
    unusual = [
        str(choices[key]) for key, default in _DEFAULTS.items() if choices.get(key, default) != default
    ]
    return [*usual, *unusual, f"seed {choices['seed']}"] if "seed" in choices else [*usual, *unusual]


def is_complete(folder: Path) -> bool:
    """Finished, by a version whose format this one reads."""
    try:
        return json.loads((folder / RUN).read_text(encoding="utf-8")).get("format") == FORMAT
    except (OSError, ValueError, AttributeError):
        return False


@contextmanager
def draft(folder: Path) -> Iterator[Path]:
    """A folder to write a run in, which takes the place of `folder` when all is written; nothing is left of it after a failure."""
    check_writable(folder.parent)
    working = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))
    working.chmod(
        stat.S_IMODE(folder.parent.stat().st_mode) | stat.S_IRWXU
    )  # mkdtemp's own is for nobody else
    try:
        yield working
        if folder.exists():
            shutil.rmtree(folder)
        working.replace(folder)
    finally:
        shutil.rmtree(working, ignore_errors=True)


def find_runs(folders: Iterable[Path]) -> list[Path]:
    """The runs named, or held by a folder named; unfinished ones within such a folder are left out."""
    found: list[Path] = []
    for folder in folders:
        below = sorted(each for each in folder.iterdir() if is_complete(each)) if folder.is_dir() else []
        found += below if below and not is_complete(folder) else [folder]
    return found


def check_writable(folder: Path) -> None:
    """Fail before the long work, not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write-test-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(
            f"Cannot write to {folder}: {error.strerror}. Give another folder with --out, or make this one writable."
        ) from error


def save_results(results: Results, folder: Path) -> Path:
    """The results alone, of a model that is kept elsewhere; complete or not at all."""
    with draft(folder) as working:
        write_results(results, working)
    return folder


def write_results(results: Results, folder: Path, *, run: dict[str, Any] | None = None) -> None:
    """values.parquet, summary.parquet, examples.parquet, card.json and, last, run.json."""
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
    write_json(folder / RUN, details)


def load_results(folder: str | Path) -> Results:
    folder = Path(folder)
    details = read_run(folder)
    values, summaries, examples = (
        pd.read_parquet(folder / f"{name}.parquet") for name in ("values", "summary", "examples")
    )
    return Results(values, summaries, examples, about={**details["about"], "run": details})


def read_run(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise InputError(f"There is no directory {folder}.")
    if not is_complete(folder):
        raise InputError(
            f"{folder} is not a complete run: its {RUN} is missing, damaged or of another version. "
            "Give a directory that `attnaudit run` has finished, or run it again."
        )
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} has lost {', '.join(missing)}. Run it again with --force.")
    return json.loads((folder / RUN).read_text(encoding="utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(_plain(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("attnaudit", "torch", "numpy", "scipy", "pandas", "pyarrow", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _plain(content: Any) -> Any:
    """NaN and infinity are no JSON: null."""
    if isinstance(content, dict):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, float) and content - content != 0:
        return None
    return content
