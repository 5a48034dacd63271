"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from attnaudit.core.errors import InputError
from attnaudit.core.tasks import Workers
from attnaudit.core.verbosity import Verbosity, set_verbosity, verbosity

Audits = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated names, or all; default: the usual ones. See `attnaudit list`."
    ),
]
Measures = Annotated[
    str | None,
    typer.Option(
        help="Comma-separated names, or all; default: the usual ones. See `attnaudit list`."
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        help="Folder of the corpora; default: the environment variable ATTNAUDIT_DATA, else the "
        "user's cache folder.",
    ),
]
Device = Annotated[str, typer.Option(help="cpu or cuda.")]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        callback=lambda wanted: _choose(Verbosity.QUIET, wanted),
        help="No progress and no notices: results and errors only.",
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        callback=lambda wanted: _choose(Verbosity.VERBOSE, wanted),
        help="Also say what is being done, and how long each phase took.",
    ),
]
WorkerCount = Annotated[
    int, typer.Option("--workers", min=1, help="Processes on this machine that share the work.")
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Threads per process; default: the cores divided by the workers, and one where models "
        "of the papers are trained in this process.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Work on an existing Dask cluster: tcp://HOST:PORT or a scheduler file. Inputs and "
        "outputs must be the same folders on every machine."
    ),
]
Resources = Annotated[
    str | None, typer.Option(help="What a Dask worker must offer to get a task: GPU=1.")
]
Parts = Annotated[
    str | None,
    typer.Option(
        help="Where the parts of the unfinished audit are kept: a folder, or an address that "
        "fsspec knows, such as s3://bucket/job; default: OUT.parts."
    ),
]
FailIf = Annotated[
    str | None,
    typer.Option(
        help="Exit with code 3 if any of these conditions holds: "
        '"matters=no; points!=yes; permutation/tvd_median<0.05". See `attnaudit gate --help`.'
    ),
]
Junit = Annotated[
    Path | None,
    typer.Option("--junit", help="Write what the gate found as JUnit XML, a case per condition."),
]
Summary = Annotated[
    Path | None,
    typer.Option(
        "--summary", help="Add what the gate found, as Markdown, to a file: $GITHUB_STEP_SUMMARY."
    ),
]


def _choose(chosen: Verbosity, wanted: bool) -> bool:
    """Set how much is shown, if an option asks for it; both options at once are an error."""
    if wanted and verbosity() not in (Verbosity.NORMAL, chosen):
        raise InputError("--quiet and --verbose contradict each other. Leave one of them out.")
    if wanted:
        set_verbosity(chosen)
    return wanted


def split_names(text: str | None) -> tuple[str, ...] | None:
    """Names separated by commas; a comma between the options of one name does not separate.

    >>> split_names("furthest:epsilon=0.05,fidelity=code,permutation")
    ('furthest:epsilon=0.05,fidelity=code', 'permutation')
    """
    if not text:
        return None
    names: list[str] = []
    for piece in text.split(","):
        if names and "=" in piece and ":" not in piece:
            names[-1] += f",{piece}"
        else:
            names.append(piece.strip())
    return tuple(names)


def split_numbers(text: str) -> str | list[int]:
    """Whole numbers joined by +; a word stays as it is.

    >>> split_numbers("0+3"), split_numbers("all")
    ([0, 3], 'all')
    """
    parts = text.split("+")
    if all(part.lstrip("-").isdigit() for part in parts):
        return [int(part) for part in parts]
    return text


def split_resources(text: str | None) -> dict[str, float] | None:
    """Resources of Dask workers, with the amount of each.

    >>> split_resources("GPU=1,MEMORY=2e9")
    {'GPU': 1.0, 'MEMORY': 2000000000.0}
    """
    if text is None:
        return None
    try:
        pairs = [part.split("=") for part in text.split(",")]
        return {name.strip(): float(amount) for name, amount in pairs}
    except ValueError:
        raise InputError(
            f"--resources must be NAME=NUMBER, separated by commas, got {text!r}. "
            "Write for example --resources GPU=1."
        ) from None


def workers_from(
    count: int, threads: int | None, scheduler: str | None, resources: str | None
) -> Workers:
    """Where the work is done, from the options --workers, --threads, --scheduler, --resources."""
    return Workers(count, scheduler, split_resources(resources) or {}, threads)


def split_verbalisers(text: str | None) -> list[str] | dict[str, str] | None:
    """Words separated by commas, or label=word.

    >>> split_verbalisers("good,bad"), split_verbalisers("pos=good,neg=bad")
    (['good', 'bad'], {'pos': 'good', 'neg': 'bad'})
    """
    if text is None or "=" not in text:
        return None if text is None else [word.strip() for word in text.split(",")]
    pairs = [part.partition("=") for part in text.split(",")]
    words = {label.strip(): word.strip() for label, _, word in pairs}
    if not all(label and word for label, word in words.items()) or len(words) < len(pairs):
        raise InputError(
            "--verbalisers must be words, or label=WORD, separated by commas and each label once, "
            f"got {text!r}. Write for example --verbalisers positive=good,negative=bad."
        )
    return words


def split_labels(text: str | None) -> dict[str, str] | None:
    """Labels of a file with the class names they stand for.

    >>> split_labels("pos=positive,neg=negative")
    {'pos': 'positive', 'neg': 'negative'}
    """
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    names = {label.strip(): name.strip() for label, _, name in pairs}
    if not all(label and name for label, name in names.items()) or len(names) < len(pairs):
        raise InputError(
            "--labels must be label=CLASS, separated by commas and each label once, got "
            f"{text!r}. Write for example --labels pos=positive,neg=negative."
        )
    return names


def split_scores(texts: Sequence[str]) -> dict[str, str]:
    """Files of scores by the name of their explanation: NAME=FILE, or by the name of the file.

    >>> split_scores(["mine=scores/a.jsonl", "shap.jsonl"])
    {'mine': 'scores/a.jsonl', 'shap': 'shap.jsonl'}
    """
    named: dict[str, str] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        name, path = (name.strip(), path.strip()) if equals else (Path(text).stem, text)
        if not name or not path or name in named:
            raise InputError(
                f"--scores must be FILE or NAME=FILE, each name once, got {text!r}. Write for "
                "example --scores mine=scores.jsonl."
            )
        named[name] = path
    return named


def renamed(old: str, old_value: Any, new: str, new_value: Any) -> Any:
    """The value of an option that may be given under its old name, which is deprecated."""
    if old_value is None:
        return new_value
    if new_value is not None:
        raise InputError(f"{old} is the old name of {new}; give only {new}.")
    deprecated(old, new)
    return old_value


def deprecated(old: str, new: str) -> None:
    """Say on the standard error that a name has changed."""
    typer.secho(
        f"attnaudit: {old} is deprecated and will be removed in the next version. Use {new}.",
        fg="yellow",
        err=True,
    )
