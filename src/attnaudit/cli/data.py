"""`attnaudit data`: list the corpora, download one, describe one."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from attnaudit.cli.options import DataDir
from attnaudit.core.interruption import Interrupted

if TYPE_CHECKING:
    from attnaudit.data.describe import Description, SplitCounts
    from attnaudit.data.listing import Entry

WIDTH = 100
MAX_CLASSES = 12  # classes printed one by one

app = typer.Typer(help="List the corpora and which of them are here; download one; describe one.")


@app.callback(invoke_without_command=True)
def overview(context: typer.Context, data_dir: DataDir = None) -> None:
    """List every corpus: task, size, licence, source, whether it is here and what is missing.

    `attnaudit data get imdb` downloads a corpus; `attnaudit data describe imdb` counts its texts,
    words and classes.
    """
    context.obj = data_dir
    if context.invoked_subcommand is not None:
        return
    from attnaudit.data import data_folder
    from attnaudit.data.listing import entries

    folder = data_folder(data_dir)
    listed = entries(folder)
    corpora = [entry for entry in listed if entry.needs_files]
    typer.echo(f"Data folder: {folder}")
    typer.echo(
        f"Corpora here: {sum(entry.place is not None for entry in corpora)} of {len(corpora)}."
    )
    for entry in listed:
        _show_entry(entry)


@app.command()
def get(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="Name of a corpus, as `attnaudit data` lists it: imdb.")
    ],
    data_dir: DataDir = None,
) -> None:
    """Download a freely available corpus and verify its checksum.

    For other corpora, print how to get them (exit code 2). An interrupted download continues when
    the same command is given again.

    Example: `attnaudit data get imdb`
    """
    from attnaudit.core import registry
    from attnaudit.data import DATASETS, data_folder
    from attnaudit.data.download import fetch
    from attnaudit.data.listing import about_chosen, missing

    name, options = registry.parse(name)
    about = about_chosen(registry.find(DATASETS, name, "dataset"), options)
    if about is None or not (about.places or about.locate):
        typer.echo(f"{name} needs no files." + (f" {about.steps}" if about and about.steps else ""))
        return
    folder = data_folder(data_dir or context.obj)
    if (found := about.look(folder)) is not None:
        typer.echo(f"{name} is already here: {found}")
        return
    if not about.downloads:
        typer.echo(
            _wrapped(
                f"{about.title} cannot be downloaded automatically. Licence: {about.licence}.", ""
            )
        )
        typer.echo()
        typer.echo(_wrapped(about.steps or f"See {about.home}.", ""))
        if about.places:
            typer.echo()
            typer.echo(_wrapped(f"Missing in {folder}: {missing(about, folder)}.", ""))
        raise typer.Exit(2)
    typer.echo(f"{about.title}\nLicence: {about.licence}\nFrom: {about.home}")
    try:
        for download in about.downloads:
            path = fetch(download, folder)
            algorithm = download.checksum.partition(":")[0]
            typer.echo(f"{path}: {path.stat().st_size:,} bytes, {algorithm} as expected")
    except (KeyboardInterrupt, Interrupted):
        typer.secho(
            "attnaudit: interrupted. The part that was downloaded is kept; the same command "
            "continues from there.",
            fg="red",
            err=True,
        )
        raise typer.Exit(130) from None


@app.command()
def describe(
    context: typer.Context,
    choice: Annotated[
        str,
        typer.Argument(
            metavar="NAME[:OPTIONS]", help="A dataset: sst, imdb:labels=stars, babi:task=2."
        ),
    ],
    data_dir: DataDir = None,
) -> None:
    """Count vocabulary, lengths and classes of a dataset.

    Next to the numbers of Jain & Wallace 2019 (table 1), if they used it.

    Example: `attnaudit data describe babi:task=2`
    """
    from attnaudit.data.describe import describe

    _show_description(describe(choice, data_dir=data_dir or context.obj))


def _show_entry(entry: Entry) -> None:
    about = entry.about
    state = "here" if entry.place else "not here" if entry.needs_files else "needs no data folder"
    typer.echo(f"\n{entry.name}  ({state})")
    lines = {"what": entry.title}
    if about is None:
        lines["task"] = "simulated, with known evidence"
    else:
        lines |= {
            "task": about.task,
            "size": about.size,
            "licence": about.licence,
            "from": about.home,
        }
    if entry.place:
        lines["found"] = str(entry.place)
    elif entry.needs_files and about is not None:
        lines["missing"] = entry.missing
        lines["get it"] = (
            f"attnaudit data get {entry.name}"
            if about.downloads
            else about.steps or f"see {about.home}"
        )
    elif about is not None and about.steps:
        lines["get it"] = about.steps
    for label, text in lines.items():
        typer.echo(_wrapped(text, f"    {label:8s} "))


def _show_description(about: Description) -> None:
    from attnaudit.data.describe import EXTRAS
    from attnaudit.data.published_counts import SOURCE

    typer.echo(f"{about.choice}: {_plain(about.title)}\n")
    published = about.published
    rows = [("", "ours", SOURCE if published else "")]
    train = about.splits["train"]
    rows.append(
        ("vocabulary", f"{about.vocabulary:,}", f"{published.vocabulary:,}" if published else "")
    )
    if about.vocabulary_before_length_filter is not None or (
        published and published.notebook_vocabulary
    ):
        ours = about.vocabulary_before_length_filter
        notebook = published.notebook_vocabulary if published else None
        rows.append(
            (
                "  before the length filter",
                "" if ours is None else f"{ours:,}",
                f"{notebook:,} (their notebook)" if notebook else "",
            )
        )
    rows.append(
        (
            "mean length, train",
            _number(train.mean_length),
            str(published.mean_length) if published else "",
        )
    )
    for split, counts, theirs in _with_published(about):
        rows.append((split, f"{counts.examples:,}", f"{sum(theirs):,}" if theirs else ""))
        rows += [
            (f"  {_plain(name)}", f"{count:,}", f"{theirs[index]:,}" if len(theirs) > 1 else "")
            for index, (name, count) in enumerate(_listed_classes(counts))
        ]
    label = max(len(row[0]) for row in rows)
    for what, ours_text, theirs_text in rows:
        typer.echo(f"{what:{label}s}  {ours_text:>12s}  {theirs_text}".rstrip())
    skipped = about.skipped.get("rows", 0)
    facts = {
        "tokeniser": about.tokeniser,
        "vocabulary": (
            "every training word"
            if about.min_count == 1
            else f"words in at least {about.min_count} training texts"
        )
        + ", and four special tokens",
        "lengths": "; ".join(
            f"{split} mean {_number(counts.mean_length)}, longest {counts.longest:,}"
            for split, counts in about.splits.items()
        ),
        "examples with": "; ".join(
            f"{EXTRAS[name]}: {count:,}" for name, count in about.extras.items()
        ),
        "dropped": "; ".join(f"{why}: {count:,}" for why, count in about.dropped.items())
        or "nothing",
        "skipped": f"{skipped:,} bad row{'' if skipped == 1 else 's'}",
        "duplicates": "; ".join(f"{where}: {count:,}" for where, count in about.repeated.items())
        + " (exactly the same words)",
        **{key.replace("_", " "): str(value) for key, value in about.notes.items()},
    }
    typer.echo()
    for name, text in facts.items():
        typer.echo(_wrapped(text, f"{name:13s} "))
    for message in about.skipped.get("first", ()):
        typer.echo(_wrapped(message, "  skipped: "))


def _with_published(about: Description) -> Iterator[tuple[str, SplitCounts, tuple[int, ...]]]:
    """Each split with the published class counts; train and dev together if those are of both."""
    from attnaudit.data.describe import together

    published = about.published
    both = published is not None and published.train_holds_dev
    for split, counts in about.splits.items():
        yield split, counts, () if both and split == "train" else getattr(published, split, ())
        if both and split == "dev":
            yield (
                "train and dev",
                together(about.splits["train"], counts),
                getattr(published, "train", ()),
            )


def _listed_classes(counts: SplitCounts) -> list[tuple[str, int]]:
    """The count of each class; of many classes, the first few and the rest together."""
    named = list(counts.classes.items())
    if counts.unlabelled:
        named.append(("without a label", counts.unlabelled))
    if len(named) <= MAX_CLASSES:
        return named
    rest = named[MAX_CLASSES:]
    return [*named[:MAX_CLASSES], (f"{len(rest):,} other classes", sum(count for _, count in rest))]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def _wrapped(text: str, lead: str) -> str:
    """The text wrapped to WIDTH columns, with its further lines aligned to the first."""
    return textwrap.fill(
        _plain(text),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain(text: str) -> str:
    """The text without control characters, which data may hold and a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in text)
