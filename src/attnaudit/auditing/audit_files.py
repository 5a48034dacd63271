"""Audit a saved Hugging Face classifier on a file of texts: load, read, check, audit, save."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from attnaudit.auditing.audit import audit
from attnaudit.auditing.other_models import check_other_models
from attnaudit.auditing.report_file import write_report
from attnaudit.auditing.selection import Choice, find_audits, find_measures
from attnaudit.core.contract import Batch
from attnaudit.core.devices import check_device
from attnaudit.core.errors import OutputError
from attnaudit.core.output_files import check_file
from attnaudit.core.output_folders import check_folder
from attnaudit.data.audit_texts import read_texts
from attnaudit.data.reading.option_names import Spelling, in_python
from attnaudit.models.huggingface import from_huggingface
from attnaudit.models.huggingface.own_batches import sampled_batches, with_class_names
from attnaudit.results.results import Results
from attnaudit.results.store import save_results

_TRIAL = 4  # texts audited to estimate the time


def audit_files(
    model_dir: str | Path,
    data: str | Path,
    *,
    text: str | None = None,
    label: str | None = None,
    pair: str | None = None,
    labels: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    layers: str | Sequence[int] = "last",
    heads: str | Sequence[int] = "all",
    leave_out: str = "delete",
    sample: int | None = None,
    audits: Sequence[Choice] | None = None,
    measures: Sequence[Choice] | None = None,
    other_models: Iterable[str | Path] = (),
    max_length: int | None = None,
    skip_bad: bool = False,
    seed: int = 0,
    device: str = "cpu",
    dtype: str = "float32",
    out: str | Path | None = None,
    force: bool = False,
    on_message: Callable[[str], None] | None = None,
    spell: Spelling = in_python,
) -> Results:
    """Audit a saved classifier on a file of texts, and save the results with a report.

    Does what `attnaudit audit` does. Nothing is trained and nothing is downloaded.

    Parameters
    ----------
    model_dir : folder with config.json, model.safetensors and the tokenizer.
    data : csv, tsv, jsonl, json or parquet file, one text per row.
    text, label, pair : columns of the text, its label and a second text; inferred from the column
        names if omitted.
    labels : class names for the labels of the file, such as {"pos": "positive"}.
    delimiter, encoding : of a csv or text file; inferred if omitted.
    layers, heads : "last", "all" or numbers from 0.
    leave_out : how a word is left out: "delete", "mask" or "pad".
    sample : number of texts to audit, stratified by label; None for all.
    audits, measures : names or functions; None for the defaults.
    other_models : folders of other trainings of the same model, for the question of stability.
    max_length : maximum number of tokens; None for the limit of the model.
    skip_bad : skip rows that cannot be read, and count them.
    device, dtype : "cpu" or "cuda"; "float32" or "bfloat16".
    out : folder for the results and report.html; None to save nothing.
    force : replace results that are in the folder already.
    on_message : called with what was read from the file, and with an estimate of the time.
    spell : how error messages write options; for the command line.

    Returns
    -------
    The results. `results.about["texts"]` counts the texts read, audited and skipped.

    Examples
    --------
    >>> results = audit_files("my-model", "reviews.csv", sample=200)  # doctest: +SKIP
    >>> print(results.card())  # doctest: +SKIP
    """
    model_dir, data, folders = Path(model_dir), Path(data), [Path(each) for each in other_models]
    check_device(device)
    chosen: dict[str, Any] = {"audits": audits, "measures": measures}
    find_audits(audits)
    find_measures(measures)
    if out is not None:
        check_folder(Path(out), replace=force, protected=[model_dir, data, *folders])
        check_file(Path(out) / "report.html")
    options: dict[str, Any] = {
        "layers": layers,
        "heads": heads,
        "leave_out": leave_out,
        "max_length": max_length,
        "device": device,
        "dtype": dtype,
    }
    model, *others = (
        from_huggingface(folder, task="classification", **options)
        for folder in (model_dir, *folders)
    )
    columns = {"text": text, "label": label, "pair": pair}
    texts, bad, summary, _ = read_texts(
        data, **columns, delimiter=delimiter, encoding=encoding, skip_bad=skip_bad, spell=spell
    )
    if on_message is not None:
        on_message(summary)
    texts = with_class_names(texts, model.class_names or [], labels)
    texts, audited, batches = sampled_batches(model, texts, sample, seed, bad)
    check_other_models(model, others, batches[0])
    if on_message is not None and (estimate := _estimate(model, batches, chosen, seed)):
        on_message(estimate)
    results = audit(model, batches, seed=seed, other_models=others, **chosen)
    results.about["texts"] = {
        "file": data.name,
        "model": model_dir.resolve().name,
        "read": len(texts),
        "audited": len(audited),
        "skipped": bad.note(),
        "labelled": texts[0].label is not None,
    }
    if out is not None:
        try:
            save_results(results, Path(out), force=force, was_free=True)
        except OutputError as error:
            error.results = results
            raise
        write_report(results, Path(out))
    return results


def _estimate(model: Any, batches: list[Batch], chosen: dict[str, Any], seed: int) -> str | None:
    """How long the audit will take, from a few texts of medium length; None if it will be short."""
    count = sum(len(batch) for batch in batches)
    if count < 16 * _TRIAL:
        return None
    middle = batches[len(batches) // 2]
    more, fewer = min(3 * _TRIAL, len(middle)), min(_TRIAL, len(middle) - 1)
    if fewer < 1:
        return None

    def seconds_of(texts: int) -> float:
        started = time.monotonic()
        part = middle.rows(torch.arange(texts))
        audit(model, part, seed=seed, keep_examples=0, show_progress=False, **chosen)
        return time.monotonic() - started

    seconds_of(fewer)  # the first time is slow: libraries are still being loaded
    # The cost of one more text, without what is done once for any number of texts.
    seconds = max(seconds_of(more) - seconds_of(fewer), 0) / (more - fewer) * count
    duration = f"{seconds / 60:.0f} minutes" if seconds > 90 else f"{seconds:.0f} seconds"
    return f"About {duration} for {count} texts."
