"""The command `attnaudit data`: which corpora there are, fetching them, and their counts beside the published ones."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnaudit.core.interruption import Interrupted

if TYPE_CHECKING:
    from attnaudit.data.describe import Description, SplitCounts
    from attnaudit.data.listing import Entry

WIDTH = 100
SHOWN = 12  # classes printed one by one

app = typer.Typer(help="List the corpora and which of them are here; download one; describe one.")
Folder = Annotated[Path | None, typer.Option("--data-dir", help="Folder of the corpora; default: the environment variable ATTNAUDIT_DATA, else the user's cache folder.")]  # fmt: skip


@app.callback(invoke_without_command=True)
def overview(context: typer.Context, data_dir: Folder = None) -> None:
    """List every corpus: task, size, licence, source, whether it is here and what is missing.

    `attnaudit data get NAME` downloads one; `attnaudit data describe NAME` counts its texts, words and classes.
    """
    context.obj = data_dir
    if context.invoked_subcommand is not None:
        return
    from attnaudit.data import data_folder
    from attnaudit.data.listing import entries

    folder = data_folder(data_dir)
    listed = entries(folder)
    corpora = [each for each in listed if each.needs_files]
    typer.echo(f"Data folder: {folder}")
    typer.echo(
        f"Corpora here: {sum(each.place is not None for each in corpora)} of {len(corpora)}."
    )
    for entry in listed:
        _show_entry(entry)


@app.command()
def get(
    context: typer.Context,
    name: Annotated[
        str, typer.Argument(help="Name of a corpus, as `attnaudit data` lists it: imdb.")
    ],
    data_dir: Folder = None,
) -> None:
    """Download a freely available corpus and verify its checksum; for others, print how to get them (exit code 2).

    An interrupted download continues when the same command is given again.
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
        for each in about.downloads:
            path = fetch(each, folder)
            typer.echo(
                f"{path}: {path.stat().st_size:,} bytes, {each.checksum.partition(':')[0]} as expected"
            )
    except (KeyboardInterrupt, Interrupted):
        typer.secho(
            "attnaudit: interrupted. The part that was downloaded is kept; the same command continues from there.",
            fg="red",
            err=True,
        )
        raise typer.Exit(130) from None


@app.command()
def describe(
    context: typer.Context,
    choice: Annotated[str, typer.Argument(metavar="NAME[:OPTIONS]", help="A dataset: sst, imdb:labels=stars, babi:task=2.")],
    data_dir: Folder = None,
) -> None:  # fmt: skip
    """Count vocabulary, lengths and classes of a dataset, next to the numbers of Jain & Wallace 2019 (table 1) if they used it."""
    from attnaudit.data.describe import describe as counted

    _show_description(counted(choice, data_dir=data_dir or context.obj))


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
    for split, counts, theirs in _beside(about):
        rows.append((split, f"{counts.examples:,}", f"{sum(theirs):,}" if theirs else ""))
        rows += [
            (f"  {_plain(name)}", f"{count:,}", f"{theirs[at]:,}" if len(theirs) > 1 else "")
            for at, (name, count) in enumerate(_shown(counts))
        ]
    label = max(len(row[0]) for row in rows)
    for what, ours_text, theirs_text in rows:
        typer.echo(f"{what:{label}s}  {ours_text:>12s}  {theirs_text}".rstrip())
    facts = {
        "tokeniser": about.tokeniser,
        "vocabulary": (
            "every training word"
            if about.min_count == 1
            else f"words in at least {about.min_count} training texts"
        )
        + ", and four special tokens",
        "lengths": "; ".join(
            f"{split} mean {_number(each.mean_length)}, longest {each.longest:,}"
            for split, each in about.splits.items()
        ),
        "examples with": "; ".join(
            f"{EXTRAS[each]}: {count:,}" for each, count in about.extras.items()
        ),
        "dropped": "; ".join(f"{why}: {count:,}" for why, count in about.dropped.items())
        or "nothing",
        "skipped": f"{about.skipped.get('rows', 0):,} bad row{'' if about.skipped.get('rows', 0) == 1 else 's'}",
        "duplicates": "; ".join(f"{where}: {count:,}" for where, count in about.repeated.items())
        + " (exactly the same words)",
        **{key.replace("_", " "): str(value) for key, value in about.notes.items()},
    }
    typer.echo()
    for name, text in facts.items():
        typer.echo(_wrapped(text, f"{name:13s} "))
    for message in about.skipped.get("first", ()):
        typer.echo(_wrapped(message, "  skipped: "))


def _beside(about: Description) -> Iterator[tuple[str, SplitCounts, tuple[int, ...]]]:
    """Each split with the published class counts, and train with dev where these are of both."""
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


def _shown(counts: SplitCounts) -> list[tuple[str, int]]:
    """Each class; of many, the first few."""
    named = list(counts.classes.items())
    if counts.unlabelled:
        named.append(("without a label", counts.unlabelled))
    if len(named) <= SHOWN:
        return named
    rest = named[SHOWN:]
    return [*named[:SHOWN], (f"{len(rest):,} other classes", sum(count for _, count in rest))]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def _wrapped(text: str, lead: str) -> str:
    """At most WIDTH columns, the lines below the first under its text."""
    return textwrap.fill(
        _plain(text),
        WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain(text: str) -> str:
    """Text of data may hold control characters, which a terminal would obey."""
    return "".join(each if each.isprintable() else " " for each in text)
