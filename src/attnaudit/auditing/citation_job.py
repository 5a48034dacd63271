"""The audit of citations, part by part: what `cite` and `cite_files` do alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.citation_choices import citation_choices
from attnaudit.auditing.jobs.citation_examples import (
    QUESTIONS,
    TOKENS_PER_SHARD,
    SizedQuestion,
    batches_by,
    sized_questions,
)
from attnaudit.auditing.jobs.job import finish
from attnaudit.auditing.jobs.run_job import ExampleSource, opened, parts_folder, run_job
from attnaudit.auditing.selection import Choice
from attnaudit.core.contract import AttentionModel
from attnaudit.core.errors import OutputError
from attnaudit.core.progress import duration
from attnaudit.core.tasks import Task, Workers
from attnaudit.data.citations import CitationExample
from attnaudit.results.questions import CITATION
from attnaudit.results.results import Results
from attnaudit.results.store import load_results, save_results

_TIMED_FROM = 10  # answers


def citation_battery(
    model: AttentionModel,
    audits: Sequence[Choice] | None,
    measures: Sequence[Choice] | None,
    word_measures: Sequence[Choice] | None = None,
    *,
    seed: int,
    device: torch.device | str | None = None,
) -> Battery:
    """The measures and audits of citations, ready to run, of both levels if the model reads both.

    Parameters
    ----------
    model : its `words`, if it has any, is the same model with words as items.
    audits, measures, word_measures : as for `citation_choices`.
    """
    words = getattr(model, "words", None)
    chosen = citation_choices(audits, measures, word_measures, both_levels=words is not None)
    return Battery(
        model,
        chosen.audits,
        chosen.measures,
        seed=seed,
        device=device,
        card=CITATION,
        word_level=None
        if words is None
        else Battery(words, chosen.word_audits, chosen.word_measures, seed=seed, suffix=" (words)"),
    )


def run_citation_job(
    battery: Battery,
    answered: Sequence[CitationExample],
    *,
    out: str | Path | None = None,
    parts: str | None = None,
    force: bool = False,
    keep_examples: int | None = None,
    tokens_per_shard: int | None = None,
    workers: Workers = Workers(),  # noqa: B008  # frozen
    task: Callable[[str, str, int], Task] | None = None,
    texts: dict[str, Any] | None = None,
    on_message: Callable[[str], None] | None = None,
    log: Callable[[], str] | None = None,
    show_progress: bool = True,
) -> Results:
    """Audit answers part by part, and save the results if there is an `out`.

    Parameters
    ----------
    battery : from `citation_battery`.
    answered : all with an answer.
    out, force, keep_examples, tokens_per_shard : as for `cite`.
    parts : where the parts of the unfinished audit are kept; OUT.parts by default.
    workers : which processes share the work; this one by default.
    task : (address of the parts, id of the job, shard) -> what a worker does for it.
    texts : what is stored about the file the questions are from.
    on_message : called with an estimate of the time.
    log : called when the audit is finished, for the text of run.log.
    """
    model = battery.model
    questions = sized_questions(model, answered)
    source = ExampleSource(
        questions, QUESTIONS, batches_by(model), tokens_per_shard or TOKENS_PER_SHARD
    )
    if on_message is not None and (estimate := _time_estimate(battery, questions, workers)):
        on_message(estimate)
    place = parts or (None if out is None else parts_folder(Path(out)))
    with opened(place, workers) as store, TemporaryDirectory() as scratch:
        results = run_job(
            store,
            battery,
            source,
            Path(scratch),
            identity={"kind": "citations"},
            keep_examples=keep_examples,
            workers=workers,
            task=None if task is None else lambda job, shard: task(store.address, job, shard),
            show_progress=show_progress,
        )
        if texts is not None:
            results.about["texts"] = {**texts, "audited": len(answered)}
        if out is None:
            return replace(results, columns=results.columns.in_memory())
        try:
            text = None if log is None else log()
            save_results(results, Path(out), force=force, was_free=True, log=text)
        except OutputError as error:
            error.results = replace(results, columns=results.columns.in_memory())
            raise
        finish(store)
    return load_results(out)


def _time_estimate(
    battery: Battery, questions: Sequence[SizedQuestion], workers: Workers
) -> str | None:
    """One sentence, from the answer of medium length; None if there are few answers."""
    count = len(questions)
    if count < _TIMED_FROM:
        return None
    middle = sorted(questions, key=lambda question: question.tokens)[count // 2]
    batches = batches_by(battery.model)([middle])
    started = time.monotonic()
    collector = battery.run(batches)
    seconds = time.monotonic() - started
    shared = f", by {workers.count} processes" if workers.count > 1 else ""
    total = duration(seconds * count / workers.count)
    of_words = collector.facts.seconds.get("words")
    words = "" if of_words is None else f" ({of_words:.1f} s of that for the words)"
    return f"About {total} for {count} answers, {seconds:.1f} s each{words}{shared}."
