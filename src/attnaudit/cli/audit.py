"""`attnaudit audit`: a saved Hugging Face classifier and texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attnaudit.cli.audit_output import print_message, print_results
from attnaudit.cli.options import (
    Audits,
    Device,
    FailIf,
    Junit,
    Measures,
    Parts,
    Quiet,
    Resources,
    Scheduler,
    Summary,
    Threads,
    Verbose,
    WorkerCount,
    split_labels,
    split_names,
    split_numbers,
    split_scores,
    split_verbalisers,
    workers_from,
)
from attnaudit.cli.runs import print_gate
from attnaudit.core.errors import OutputError


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    app.command()(audit)


def audit(
    model_dir: Annotated[
        Path,
        typer.Argument(
            help="Folder with config.json, model.safetensors and the tokenizer, as "
            "save_pretrained writes it."
        ),
    ],
    data: Annotated[
        list[str],
        typer.Option(
            help="csv, tsv, jsonl, json or parquet file, one text per row; a folder of .txt files; "
            "a folder written by datasets.save_to_disk, or FOLDER:SPLIT; - for standard input. May "
            "be repeated."
        ),
    ],
    split: Annotated[
        str | None, typer.Option(help="Which split of a folder with several, such as test.")
    ] = None,
    text_column: Annotated[
        str | None,
        typer.Option(
            help="Column of the texts. Inferred from its name if omitted: text, review, sentence, …"
        ),
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            help="Column of the labels, which are names or numbers of the model's classes. "
            "Optional; without labels there is no accuracy."
        ),
    ] = None,
    pair_column: Annotated[
        str | None,
        typer.Option(
            help="Column of the second text, for models that read pairs. Inferred for premise "
            "and hypothesis, sentence1 and sentence2, …"
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="Classes for the file's labels, by name or number: pos=positive,neg=0."),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="Of a csv file: one character, or tab. Inferred if omitted."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            help="Of a text file, for example cp1252; default: UTF-8, or by its byte order mark."
        ),
    ] = None,
    layers: Annotated[
        str,
        typer.Option(help="Layers to audit: last, all, or numbers joined by + (0 is the lowest)."),
    ] = "last",
    heads: Annotated[
        str, typer.Option(help="Attention heads to audit: all, or numbers joined by +.")
    ] = "all",
    leave_out: Annotated[
        str, typer.Option(help="How a word is left out: delete, mask or pad.")
    ] = "delete",
    task: Annotated[
        str,
        typer.Option(help="classification, or lm: the choice of a language model among words."),
    ] = "classification",
    verbalisers: Annotated[
        str | None,
        typer.Option(
            help="With --task lm, the words to choose from: good,bad or positive=good,negative=bad."
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, help="Audit this many of the texts, with the labels in proportion; default: all."
        ),
    ] = None,
    audits: Audits = None,
    measures: Measures = None,
    explanations: Annotated[
        str | None,
        typer.Option(
            help="Compare explanations by the tests that judge attention: all, or comma-separated "
            "names of measures; all,lime,shap adds two slow ones."
        ),
    ] = None,
    scores: Annotated[
        list[str] | None,
        typer.Option(
            help="Scores of another explanation, to be compared too: a .jsonl file with tokens and "
            "scores, one line per row of the data, or NAME=FILE; may be repeated."
        ),
    ] = None,
    scores_column: Annotated[
        list[str] | None,
        typer.Option(help="Column of the data that holds such scores; may be repeated."),
    ] = None,
    other_models: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder of another training of the same model, to see whether the attention is "
            "stable; may be repeated."
        ),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of tokens; longer texts are cut and counted. Default: the "
            "model's own limit."
        ),
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip rows that cannot be read, and count them.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed of the sample and of all draws.")] = 0,
    device: Device = "cpu",
    dtype: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
    fail_if: FailIf = None,
    junit: Junit = None,
    summary: Summary = None,
    out: Annotated[Path, typer.Option(help="Folder for the results and the report.")] = Path(
        "audit"
    ),
    workers: WorkerCount = 1,
    threads: Threads = None,
    scheduler: Scheduler = None,
    resources: Resources = None,
    parts: Parts = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace results that are already in the folder.")
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Audit your own model: may its attention be shown as an explanation?

    Nothing is trained and nothing is downloaded. Prints the card and writes the results with an
    HTML report. Questions that need retraining are marked on the card. An interrupted audit goes
    on where it stopped when the same command is given again.

    Example: `attnaudit audit my-model --data reviews.csv --sample 200`, or, for a language model,
    `attnaudit audit gpt2 --data reviews.csv --task lm --verbalisers good,bad`
    """
    from attnaudit.auditing.audit_files import audit_files
    from attnaudit.core.output_files import check_file
    from attnaudit.data.reading.option_names import in_command
    from attnaudit.results.gate import check_conditions

    if fail_if is not None:
        check_conditions(fail_if)  # now, not after the audit
    if junit is not None:
        check_file(junit, kind="JUnit file")
    paths = {
        "model": str(model_dir),
        "data": data,
        "scores": scores or [],
        "other_models": [str(folder) for folder in other_models or ()],
        "out": str(out),
    }
    try:
        results = audit_files(
            model_dir,
            data,
            split=split,
            text=text_column,
            label=label_column,
            pair=pair_column,
            labels=split_labels(labels),
            delimiter=delimiter,
            encoding=encoding,
            layers=split_numbers(layers),
            heads=split_numbers(heads),
            leave_out=leave_out,
            task=task,
            verbalisers=split_verbalisers(verbalisers),
            sample=sample,
            audits=split_names(audits),
            measures=split_names(measures),
            explanations=split_names(explanations),
            scores=split_scores(scores or []),
            scores_columns=scores_column or (),
            other_models=other_models or (),
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
    except OutputError as error:
        if error.results is not None:
            print_results(error.results, paths)  # type: ignore[arg-type]  # Results
        raise
    print_results(results, paths)
    typer.echo(f"\nResults: {out}")
    typer.echo(f"Report: {out / 'report.html'}")
    if fail_if is not None:
        print_gate(results, fail_if, junit, summary)
