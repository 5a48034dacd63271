"""Audit a saved Hugging Face classifier on a file of texts: load, read, check, audit, save."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from attnaudit.auditing.command_options import command_options
from attnaudit.auditing.compared_battery import with_compared
from attnaudit.auditing.explanations import (
    ExplanationChoice,
    find_explanations,
    join_explanations,
)
from attnaudit.auditing.given_explanation import read_scores_of
from attnaudit.auditing.jobs.job import finish
from attnaudit.auditing.jobs.leftovers import remove_leftovers
from attnaudit.auditing.jobs.run_job import ExampleSource, opened, parts_folder, run_job
from attnaudit.auditing.jobs.text_examples import (
    TEXTS,
    TOKENS_PER_SHARD,
    OwnExamples,
    batches_by,
)
from attnaudit.auditing.jobs.text_worker import SavedModels
from attnaudit.auditing.other_models import check_other_models
from attnaudit.auditing.report_file import check_report, write_report
from attnaudit.auditing.selection import Choice, find_audits, find_measures
from attnaudit.auditing.time_estimate import estimate_time
from attnaudit.core.devices import check_device
from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.output_files import check_file
from attnaudit.core.output_folders import check_folder
from attnaudit.core.tasks import Workers, as_workers
from attnaudit.data.reading.option_names import Spelling, in_python
from attnaudit.data.text_sources import read_sources, source_name
from attnaudit.data.text_spool import TextSpool
from attnaudit.models.huggingface.decision import Verbalisers
from attnaudit.models.huggingface.own_batches import sample_texts, with_class_names
from attnaudit.results.results import Results
from attnaudit.results.run_log import recording
from attnaudit.results.store import load_results, save_results, versions


def audit_files(
    model_dir: str | Path,
    data: str | Path | Sequence[str | Path],
    *,
    split: str | None = None,
    text: str | None = None,
    label: str | None = None,
    pair: str | None = None,
    labels: Mapping[str, str] | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    layers: str | Sequence[int] = "last",
    heads: str | Sequence[int] = "all",
    leave_out: str = "delete",
    task: str = "classification",
    verbalisers: Verbalisers | None = None,
    sample: int | None = None,
    audits: Sequence[Choice] | None = None,
    measures: Sequence[Choice] | None = None,
    explanations: ExplanationChoice = None,
    scores: Mapping[str, str | Path] | None = None,
    scores_columns: Sequence[str] = (),
    other_models: Iterable[str | Path] = (),
    max_length: int | None = None,
    skip_bad: bool = False,
    seed: int = 0,
    device: str = "cpu",
    dtype: str = "float32",
    out: str | Path | None = None,
    force: bool = False,
    workers: Workers | int = 1,
    parts: str | None = None,
    tokens_per_shard: int | None = None,
    on_message: Callable[[str], None] | None = None,
    spell: Spelling = in_python,
) -> Results:
    """Audit a saved classifier on a file of texts, and save the results with a report.

    Does what `attnaudit audit` does. Nothing is trained and nothing is downloaded. An interrupted
    audit goes on where it stopped when it is called again with the same arguments.

    Parameters
    ----------
    model_dir : folder with config.json, model.safetensors and the tokenizer.
    data : csv, tsv, jsonl, json or parquet file, one text per row; a folder of text files; a folder
        that `datasets.save_to_disk` wrote; "-" for standard input; or several of these.
    split : of a folder with several splits.
    text, label, pair : columns of the text, its label and a second text; inferred from the column
        names if omitted.
    labels : class names or numbers for the labels of the file, such as {"pos": "positive"}.
    delimiter, encoding : of a csv or text file; inferred if omitted.
    layers, heads : "last", "all" or numbers from 0.
    leave_out : how a word is left out: "delete", "mask" or "pad".
    task : "classification", or "lm" for a language model that chooses among `verbalisers`.
    verbalisers : the words that a language model chooses from, or label -> word.
    sample : number of texts to audit, stratified by label; None for all.
    audits, measures : names or functions; None for the defaults.
    explanations : explanations to compare by the tests that judge attention, as for `audit`.
    scores : files with the scores of other explanations, by name; one line per row of the data.
    scores_columns : columns of the data that hold such scores.
    other_models : folders of other trainings of the same model, for the question of stability.
    max_length : maximum number of tokens; None for the limit of the model.
    skip_bad : skip rows that cannot be read, and count them.
    device, dtype : "cpu" or "cuda"; "float32" or "bfloat16".
    out : folder for the results and report.html; None to save nothing.
    force : replace results that are in the folder already.
    workers : how many processes share the work, or `Workers` for more choices, such as a cluster.
    parts : where the parts of the unfinished audit are kept, by default OUT.parts: a folder that
        all workers can write to, or an address that fsspec knows, such as s3://bucket/job.
    tokens_per_shard : size of a part, in tokens; values depend on it by rounding only.
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
    model_dir, folders = Path(model_dir), [Path(folder) for folder in other_models]
    places = [str(place) for place in ([data] if isinstance(data, str | Path) else data)]

    def say(message: str | None) -> None:
        if message is not None and on_message is not None:
            on_message(message)

    call = command_options(audit_files, locals())
    check_device(device)
    if task == "lm" and verbalisers is None:
        raise InputError(
            "A language model is audited as a choice among words: give two or more, for example "
            f"{spell('verbalisers', 'good,bad')}."
        )
    find_audits(audits)
    find_measures(measures)
    find_explanations(explanations)
    if out is not None:
        if not force:
            check_report(Path(out))
        remove_leftovers(Path(out))
        check_folder(Path(out), replace=force, protected=[model_dir, *map(Path, places), *folders])
        check_file(Path(out) / "report.html")
    options: dict[str, Any] = {
        "task": task,
        "verbalisers": verbalisers,
        "layers": layers,
        "heads": heads,
        "leave_out": leave_out,
        "max_length": max_length,
        "device": device,
        "dtype": dtype,
    }
    paths = [str(model_dir), *map(str, folders)]
    models = SavedModels(paths, options, audits, measures, seed, explanations)
    workers = as_workers(workers)
    is_given = bool(scores or scores_columns)
    if not workers.in_this_process:
        models.check_names()
        if is_given:
            raise InputError(
                "Scores from a file or a column are compared in one process. Leave --workers and "
                "--scheduler out."
            )
    with recording() as log:
        log.phase("loading the model")
        battery = models.load()
        model: Any = battery.model
        log.phase("reading the texts")
        columns: dict[str, Any] = {"text": text, "label": label, "pair": pair}
        texts, bad, summary, _ = read_sources(
            places,
            split=split,
            **columns,
            delimiter=delimiter,
            encoding=encoding,
            skip_bad=skip_bad,
            spell=spell,
            scores=scores_columns,
            spool=TextSpool(),
        )
        rows = len(texts) + bad.count
        say(summary)
        names = model.class_names or []
        texts = with_class_names(texts, names, labels)
        pool, chosen, tokens = sample_texts(model, texts, sample, seed, bad)
        if is_given:
            given = read_scores_of(chosen, rows, scores or {}, scores_columns)
            battery = with_compared(battery, join_explanations(explanations, given))
        size = tokens_per_shard or TOKENS_PER_SHARD
        examples = OwnExamples(chosen, tokens, names)
        source = ExampleSource(examples, TEXTS, batches_by(model), size)
        check_other_models(model, battery.other_models, source.to_batches(source.examples[:1])[0])
        if on_message is not None:
            log.phase("estimating the time")
            say(estimate_time(battery, examples, source.to_batches, tokens))
        log.phase("audit")
        about = {
            "file": ", ".join(source_name(place) for place in places),
            "model": model_dir.resolve().name,
            "read": len(pool),
            "audited": len(chosen),
            "skipped": bad.note(),
            "labelled": texts[0].label is not None,
            "call": call,
        }
        with opened(_parts(out, parts), workers) as store, TemporaryDirectory() as scratch:
            results = run_job(
                store,
                battery,
                source,
                Path(scratch),
                identity={"kind": "audit of files", "options": options},
                workers=workers,
                task=lambda job, shard: models.task(store.address, job, shard),
            )
            results.about["texts"] = about
            if out is None:
                return replace(results, columns=results.columns.in_memory())
            log.phase("writing")
            choices = {**options, "sample": sample, "seed": seed}
            threads = torch.get_num_threads()
            log_text = log.text(
                f"{about['model']} on {about['file']}", choices, versions(), threads
            )
            try:
                save_results(results, Path(out), force=force, was_free=True, log=log_text)
            except OutputError as error:
                error.results = replace(results, columns=results.columns.in_memory())
                raise
            finish(store)
    results = load_results(out)
    write_report(results, Path(out))
    return results


def _parts(out: str | Path | None, parts: str | None) -> str | Path | None:
    """Where parts are kept: as asked, or next to the results; None for a temporary folder."""
    return parts or (None if out is None else parts_folder(Path(out)))
