"""How the list of corpora and the description of one are printed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from attnaudit.data.describe import Description, SplitCounts
    from attnaudit.data.listing import Entry

WIDTH = 100
MAX_CLASSES = 12  # classes printed one by one


def show_entry(entry: Entry) -> None:
    """Print what a corpus is, whether it is here, and how to get it."""
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
        typer.echo(wrapped(text, f"    {label:8s} "))


def show_description(about: Description) -> None:
    """Print the counts of a dataset, next to the published ones if there are any."""
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
        typer.echo(wrapped(text, f"{name:13s} "))
    for message in about.skipped.get("first", ()):
        typer.echo(wrapped(message, "  skipped: "))


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


def wrapped(text: str, lead: str) -> str:
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
