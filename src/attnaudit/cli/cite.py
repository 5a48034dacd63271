"""`attnaudit cite`: a saved language model and a file of questions with sources."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attnaudit.cli.audit_output import print_message
from attnaudit.cli.options import (
    Device,
    FailIf,
    Parts,
    Quiet,
    Resources,
    Scheduler,
    Threads,
    Verbose,
    WorkerCount,
    split_names,
    split_numbers,
    workers_from,
)
from attnaudit.cli.runs import print_gate


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(cite)


def cite(
    model_dir: Annotated[
        Path,
        typer.Argument(
            help="Folder with config.json, model.safetensors and the tokenizer of a language "
            "model, as save_pretrained writes it."
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            help="jsonl with sources, question and, optionally, answer, gold, span and id; or json "
            "in the format of SQuAD or HotpotQA."
        ),
    ],
    sources: Annotated[str, typer.Option(help="Column of the sources.")] = "sources",
    question: Annotated[str, typer.Option(help="Column of the question.")] = "question",
    answer: Annotated[
        str,
        typer.Option(help="Column of the answer; the model generates those that are missing."),
    ] = "answer",
    gold: Annotated[
        str, typer.Option(help="Column of the needed sources, by number from 0.")
    ] = "gold",
    level: Annotated[
        str, typer.Option(help="Of HotpotQA, what a source is: paragraph or sentence.")
    ] = "paragraph",
    layers: Annotated[
        str,
        typer.Option(help="Layers whose attention is shown: all, last, or numbers joined by +."),
    ] = "all",
    heads: Annotated[
        str, typer.Option(help="Heads whose attention is shown: all, or numbers joined by +.")
    ] = "all",
    choose: Annotated[
        int,
        typer.Option(min=0, help="Also audit so many heads, chosen on held-out questions only."),
    ] = 0,
    held_out: Annotated[
        float, typer.Option(help="Share of the questions that heads are chosen on.")
    ] = 0.2,
    items: Annotated[
        str,
        typer.Option(
            help="What is scored and left out: sources, words (every word of them instead), or "
            "both (the sources, and the words inside them; takes longer)."
        ),
    ] = "sources",
    instruction: Annotated[
        str | None, typer.Option(help="First line of the prompt; default: our own.")
    ] = None,
    chat: Annotated[
        bool | None,
        typer.Option(
            "--chat/--no-chat",
            help="Use the tokenizer's chat template; default: if it has one.",
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Audit this many of the questions; default: all.")
    ] = None,
    audits: Annotated[
        str | None, typer.Option(help="Comma-separated names; default: all audits of citations.")
    ] = None,
    measures: Annotated[
        str | None, typer.Option(help="Comma-separated names; default: all but named_heads.")
    ] = None,
    word_measures: Annotated[
        str | None,
        typer.Option(
            help="With --items both, the measures of words; default: those of the sources that "
            "apply to words."
        ),
    ] = None,
    max_length: Annotated[
        int | None, typer.Option(help="Maximum number of tokens; default: the model's own limit.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip rows that cannot be read, and count them.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed of the sample and of all draws.")] = 0,
    device: Device = "cpu",
    dtype: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
    fail_if: FailIf = None,
    out: Annotated[Path, typer.Option(help="Folder for the results and the page.")] = Path(
        "citations"
    ),
    force: Annotated[
        bool, typer.Option("--force", help="Replace results that are already in the folder.")
    ] = False,
    workers: WorkerCount = 1,
    threads: Threads = None,
    scheduler: Scheduler = None,
    resources: Resources = None,
    parts: Parts = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Audit citations: may attention be shown as the source of an answer?

    Nothing is trained and nothing is downloaded. Prints the card and writes the results with an
    HTML page of the answers and their sources. An interrupted audit goes on where it stopped when
    the same command is given again.

    Example: `attnaudit cite my-model --data qa.jsonl --sample 100`
    """
    from attnaudit.auditing.cite_files import cite_files
    from attnaudit.data.reading.option_names import in_command
    from attnaudit.results.gate import check_conditions

    if fail_if is not None:
        check_conditions(fail_if)  # now, not after the audit
    results = cite_files(
        model_dir,
        data,
        columns={"sources": sources, "question": question, "answer": answer, "gold": gold},
        level=level,
        layers=split_numbers(layers),
        heads=split_numbers(heads),
        choose=choose,
        held_out=held_out,
        items=items,
        instruction=instruction,
        chat=chat,
        sample=sample,
        audits=split_names(audits),
        measures=split_names(measures),
        word_measures=split_names(word_measures),
        max_length=max_length,
        skip_bad=skip_bad,
        seed=seed,
        device=device,
        dtype=dtype,
        out=out,
        force=force,
        workers=workers_from(workers, threads, scheduler, resources),
        parts=parts,
        on_message=print_message,
        spell=in_command,
    )
    if count := results.about["texts"]["skipped"]["rows"]:
        typer.echo(f"{count:,} row{'s were' if count > 1 else ' was'} skipped.")
    typer.echo(str(results.card()))
    typer.echo(f"\nResults: {out}")
    typer.echo(f"Page: {out / 'report.html'}")
    if fail_if is not None:
        print_gate(results, fail_if)
