"""`attnaudit audit`: a saved Hugging Face classifier and a file of texts, from the folder to the card and the page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnaudit.core.errors import InputError

if TYPE_CHECKING:
    from attnaudit.data.reading.row_errors import BadRows
    from attnaudit.results.results import Results

_TRIED = 4  # texts by which the time is estimated


def register(app: typer.Typer) -> None:
    app.command("audit")(audit_model)


def audit_model(
    model_dir: Annotated[Path, typer.Argument(help="Folder with config.json, model.safetensors and the tokenizer, as save_pretrained writes it.")],
    data: Annotated[Path, typer.Option(help="csv, tsv, jsonl, json or parquet file, one text per row.")],
    text_column: Annotated[str | None, typer.Option(help="Column of the texts. Inferred from its name if omitted: text, review, sentence, …")] = None,
    label_column: Annotated[str | None, typer.Option(help="Column of the labels, by name or number of the model's classes. Optional; without labels there is no accuracy.")] = None,
    pair_column: Annotated[str | None, typer.Option(help="Column of the second text, for models that read pairs. Inferred for premise and hypothesis, sentence1 and sentence2, …")] = None,
    labels: Annotated[str | None, typer.Option(help="Class names for the file's labels: pos=positive,neg=negative.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="Of a csv file: one character, or tab. Inferred if omitted.")] = None,
    encoding: Annotated[str | None, typer.Option(help="Of a text file, for example cp1252; default: UTF-8, or by its byte order mark.")] = None,
    layers: Annotated[str, typer.Option(help="Layers to audit: last, all, or numbers joined by + (0 is the lowest).")] = "last",
    heads: Annotated[str, typer.Option(help="Attention heads to audit: all, or numbers joined by +.")] = "all",
    leave_out: Annotated[str, typer.Option(help="How a word is left out: delete, mask or pad.")] = "delete",
    sample: Annotated[int | None, typer.Option(min=1, help="Audit this many of the texts, with the labels in proportion; default: all.")] = None,
    audits: Annotated[str | None, typer.Option(help="Comma-separated names, or all; default: the usual ones. See `attnaudit list`.")] = None,
    measures: Annotated[str | None, typer.Option(help="Comma-separated names, or all; default: the usual ones. See `attnaudit list`.")] = None,
    other_models: Annotated[list[Path] | None, typer.Option(help="Folder of another training of the same model, to see whether the attention is stable; may be repeated.")] = None,
    max_length: Annotated[int | None, typer.Option(help="Maximum number of tokens; longer texts are cut and counted. Default: the model's own limit.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Skip rows that cannot be read, and count them.")] = False,
    seed: Annotated[int, typer.Option(help="Random seed of the sample and of all draws.")] = 0,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    dtype: Annotated[str, typer.Option(help="float32 or bfloat16.")] = "float32",
    fail_if: Annotated[str | None, typer.Option(help='Exit with code 3 if any of these conditions holds: "matters=no; points!=yes".')] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results and the page.")] = Path("audit"),
    force: Annotated[bool, typer.Option("--force", help="Replace results that are already in the folder.")] = False,
) -> None:  # fmt: skip
    """Audit your own model: may its attention be shown as an explanation? Nothing is trained and nothing is downloaded.

    Prints the card and writes the results with an HTML report. Questions that need retraining are marked on the card.
    """
    from attnaudit.auditing.audit import audit
    from attnaudit.auditing.other_models import check_other_models
    from attnaudit.auditing.selection import find_audits, find_measures
    from attnaudit.cli.choices import gate, split, write_report
    from attnaudit.core.output_files import check_file
    from attnaudit.core.output_folders import check_folder
    from attnaudit.data.audit_texts import read_texts
    from attnaudit.models.huggingface import from_huggingface
    from attnaudit.models.huggingface.own_batches import sampled_batches, with_class_names
    from attnaudit.results.gate import check_conditions
    from attnaudit.training.runner import check_device

    if fail_if is not None:
        check_conditions(fail_if)
    check_device(device)
    wanted: dict[str, Any] = {
        "audits": split(audits) if audits else None,
        "measures": split(measures) if measures else None,
    }
    find_audits(wanted["audits"])
    find_measures(wanted["measures"])
    check_folder(out, replace=force, protected=[model_dir, data, *(other_models or ())])
    check_file(out / "report.html")
    mapping = None if labels is None else renamings(labels)
    read, bad, summary, _ = read_texts(
        data,
        text=text_column,
        label=label_column,
        pair=pair_column,
        delimiter=delimiter,
        encoding=encoding,
        skip_bad=skip_bad,
    )
    typer.echo(summary, err=True)
    how: dict[str, Any] = {
        "layers": numbers(layers),
        "heads": numbers(heads),
        "leave_out": leave_out,
        "max_length": max_length,
        "device": device,
        "dtype": dtype,
    }
    model = from_huggingface(model_dir, task="classification", **how)
    others = [from_huggingface(each, task="classification", **how) for each in other_models or ()]
    read = with_class_names(read, model.class_names or [], mapping)
    read, chosen, batches = sampled_batches(model, read, sample, seed, bad)
    check_other_models(model, others, batches[0])
    _estimate(model, batches, wanted, seed)
    results = audit(model, batches, seed=seed, other_models=others, **wanted)
    results.about["texts"] = {
        "file": data.name,
        "model": model_dir.resolve().name,
        "read": len(read),
        "audited": len(chosen),
        "skipped": bad.note(),
        "labelled": read[0].label is not None,
    }
    _tell(results, len(read), len(chosen), bad)
    results.save(out, force=force)
    typer.echo(f"\nResults: {out}")
    write_report(results, out)
    if fail_if is not None:
        gate(results, fail_if)


def numbers(text: str) -> str | list[int]:
    """ "0+3" -> [0, 3]; a word such as "all" stays."""
    parts = text.split("+")
    if all(part.lstrip("-").isdigit() for part in parts):
        return [int(part) for part in parts]
    return text


def renamings(text: str) -> dict[str, str]:
    """ "pos=positive,neg=negative" -> {"pos": "positive", "neg": "negative"}."""
    pairs = [part.partition("=") for part in text.split(",")]
    found = {theirs.strip(): name.strip() for theirs, _, name in pairs}
    if not all(theirs and name for theirs, name in found.items()) or len(found) < len(pairs):
        raise InputError(
            f"--labels must be label=CLASS, separated by commas and each label once, got {text!r}. "
            "Write for example --labels pos=positive,neg=negative."
        )
    return found


def _estimate(model: Any, batches: list[Any], wanted: dict[str, Any], seed: int) -> None:
    """How long it will take, by a few texts of middling length; said only where it is worth saying."""
    import torch

    from attnaudit.auditing.audit import audit

    count = sum(len(batch) for batch in batches)
    if count < 16 * _TRIED:
        return
    middle = batches[len(batches) // 2]
    few, fewer = min(3 * _TRIED, len(middle)), min(_TRIED, len(middle) - 1)
    if fewer < 1:
        return

    def seconds_of(texts: int) -> float:
        started = time.monotonic()
        part = middle.rows(torch.arange(texts))
        audit(model, part, seed=seed, keep_examples=0, show_progress=False, **wanted)
        return time.monotonic() - started

    seconds_of(fewer)  # the first time is slow: libraries are still being loaded
    # What one more text costs: what is done once, whatever their number, does not count.
    each = max(seconds_of(few) - seconds_of(fewer), 0) / (few - fewer)
    seconds = each * count
    told = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
    typer.echo(f"About {told} for {count} texts.\n", err=True)


def _tell(results: Results, read: int, audited: int, bad: BadRows) -> None:
    told = results.about["model"]
    rows = results.about["rows"]
    typer.echo(
        f"{told['model']}, layer {', '.join(map(str, told['layers']))}, {rows} row{'s' if rows > 1 else ''} of attention; {audited} texts."
    )
    if bad.count:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in bad.reasons.items())
        typer.echo(f"{bad.count:,} row{'s were' if bad.count > 1 else ' was'} skipped: {reasons}.")
    if audited < read:
        typer.echo(f"{audited} of {read} texts were audited, with the labels in proportion.")
    if cut := results.about.get("truncated"):
        typer.echo(
            f"{cut} text{'s were' if cut > 1 else ' was'} longer than the model reads and cut."
        )
    typer.echo(str(results.card()))
