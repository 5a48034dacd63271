"""May I show this model's attention as the source of an answer? Audit it on questions."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from attnaudit.auditing.battery import Battery
from attnaudit.auditing.head_choice import choose_heads, hold_out
from attnaudit.auditing.jobs.job import finish
from attnaudit.auditing.jobs.run_job import BatchSource, opened, parts_folder, run_job
from attnaudit.auditing.jobs.shards import MemoryShards
from attnaudit.auditing.selection import Choice, find_audits, find_measures
from attnaudit.audits.citations import CITATION_AUDITS, DEFAULT_CITATION_AUDITS
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError
from attnaudit.core.output_folders import check_folder
from attnaudit.data.citations import CitationExample, read_citations
from attnaudit.measures.citations import CITATION_MEASURES, DEFAULT_CITATION_MEASURES
from attnaudit.results.questions import CITATION
from attnaudit.results.results import Results
from attnaudit.results.store import load_results, save_results

TOKENS_PER_SHARD = 2**9  # a few answers: each takes dozens of passes
_TIMED_FROM = 10  # answers


def cite(
    model: AttentionModel,
    examples: Sequence[CitationExample] | str | Path,
    *,
    audits: Sequence[Choice] | None = None,
    measures: Sequence[Choice] | None = None,
    choose: int = 0,
    held_out: float = 0.2,
    seed: int = 0,
    device: torch.device | str | None = None,
    keep_examples: int | None = None,
    max_new_tokens: int = 32,
    out: str | Path | None = None,
    force: bool = False,
    tokens_per_shard: int = TOKENS_PER_SHARD,
    show_progress: bool = True,
) -> Results:
    """May I show this model's attention as the source of an answer?

    Parameters
    ----------
    model : AttentionModel
        From ``from_huggingface(…, task="generation")``, or anything with `read`, `decode`,
        `keep_only` and `batches` for questions with sources.
    examples : list of CitationExample, or path of a file that `read_citations` reads
        Those without an answer get the model's own, by greedy decoding.
    audits, measures : sequence of str or callable, optional
        Names from `CITATION_AUDITS` and `CITATION_MEASURES`, or functions; all by default.
    choose : int, default 0
        Also audit so many heads, chosen on held-out questions only.
    held_out : float, default 0.2
        Share of the questions that heads are chosen on; they are not audited.
    seed : int, default 0
        Of all random draws.
    device : torch.device or str, optional
        Where to run; by default the model stays where it is.
    keep_examples : int, optional
        Number of answers kept whole for the page; all, up to 200,000 tokens, by default.
    max_new_tokens : int, default 32
        Of a generated answer.
    out : str or Path, optional
        A new folder for the results. The audit is then done in parts, kept in OUT.parts until it is
        finished: called again with the same arguments, it goes on where it stopped.
    force : bool, default False
        Replace results that are in the folder already.
    tokens_per_shard : int
        Size of a part, in tokens.
    show_progress : bool, default True

    Returns
    -------
    Results
        With the card of citations (`card()`), every number (`frame()`) and a page (`to_html()`).

    Examples
    --------
    The copier is a synthetic reference model whose attention is the citation:

    >>> from attnaudit import cite
    >>> from attnaudit.data.citations import simulate
    >>> from attnaudit.models.planted_citations import PlantedReader
    >>> results = cite(PlantedReader("copier"), simulate(30), show_progress=False)
    >>> results.card()["does attention point at the source it uses?"].answer
    'yes'
    """
    _check_model(model)
    if out is not None:
        check_folder(Path(out), replace=force)
    if isinstance(examples, str | Path):
        examples, _ = read_citations(examples)
    return run_citations(
        model,
        _checked(examples),
        audits=audits,
        measures=measures,
        choose=choose,
        held_out=held_out,
        seed=seed,
        device=device,
        keep_examples=keep_examples,
        max_new_tokens=max_new_tokens,
        out=out,
        force=force,
        tokens_per_shard=tokens_per_shard,
        show_progress=show_progress,
    )


def run_citations(
    model: AttentionModel,
    listed: Sequence[CitationExample],
    *,
    audits: Sequence[Choice] | None = None,
    measures: Sequence[Choice] | None = None,
    choose: int = 0,
    held_out: float = 0.2,
    seed: int = 0,
    device: torch.device | str | None = None,
    keep_examples: int | None = None,
    max_new_tokens: int = 32,
    out: str | Path | None = None,
    force: bool = False,
    tokens_per_shard: int = TOKENS_PER_SHARD,
    show_progress: bool = True,
    texts: dict[str, Any] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Results:
    """`cite` after its arguments were checked.

    texts: what is stored about the file the questions are from. on_message: called with an estimate
    of the time.
    """
    chosen_audits = find_audits(audits, CITATION_AUDITS, DEFAULT_CITATION_AUDITS)
    names = list(DEFAULT_CITATION_MEASURES if measures is None else measures)
    answered = answer_missing(model, listed, max_new_tokens, show_progress=show_progress)
    if choose:
        held, answered = hold_out(answered, held_out, seed)
        heads = choose_heads(model, held, count=choose, show_progress=show_progress)
        names.append(f"named_heads:heads={heads}")
    battery = Battery(
        model,
        chosen_audits,
        find_measures(names, CITATION_MEASURES, DEFAULT_CITATION_MEASURES),
        seed=seed,
        device=device,
        card=CITATION,
    )
    batches = citation_batches(model, answered)
    if on_message is not None and (estimate := _time_estimate(battery, batches)):
        on_message(estimate)
    source = BatchSource(MemoryShards(batches, tokens_per_shard))
    place = None if out is None else parts_folder(Path(out))
    with opened(place) as store, TemporaryDirectory() as scratch:
        results = run_job(
            store,
            battery,
            source,
            Path(scratch),
            identity={"kind": "citations"},
            keep_examples=keep_examples,
            show_progress=show_progress,
        )
        if texts is not None:
            results.about["texts"] = {**texts, "audited": len(answered)}
        if out is None:
            return Results(
                results.columns.in_memory(), results.summaries, results.examples, results.about
            )
        save_results(results, Path(out), force=force, was_free=True)
        finish(store)
    return load_results(out)


def _time_estimate(battery: Battery, batches: Sequence[Batch]) -> str | None:
    """One sentence, from the answer of medium length; None if there are few answers."""
    if len(batches) < _TIMED_FROM:
        return None
    by_length = sorted(batches, key=lambda batch: int(batch.mask.sum()))
    middle = [by_length[len(batches) // 2]]
    started = time.monotonic()
    battery.run(middle)
    seconds = time.monotonic() - started
    total = seconds * len(batches)
    duration = f"{total / 60:.0f} minutes" if total > 90 else f"{total:.0f} seconds"
    return f"About {duration} for {len(batches)} answers, {seconds:.1f} s each."


def answer_missing(
    model: Any,
    examples: Sequence[CitationExample],
    max_new_tokens: int,
    *,
    show_progress: bool,
) -> list[CitationExample]:
    """The examples with an answer, generated if there was none; those without any are rejected."""
    if all(example.answer for example in examples):
        return list(examples)
    generate = getattr(model, "with_answers", None)
    if generate is None:
        first = next(example for example in examples if not example.answer)
        raise InputError(
            f"{first.where or first.example_id}: there is no answer, and this model cannot "
            "generate one."
        )
    answered = generate(examples, max_new_tokens=max_new_tokens, show_progress=show_progress)
    empty = [example for example in answered if not example.answer]
    if empty:
        raise InputError(
            f"{empty[0].where or empty[0].example_id}: the model says nothing in answer to this "
            "question. Leave the question out, or give an answer."
        )
    return list(answered)


def citation_batches(model: Any, examples: Sequence[CitationExample]) -> list[Batch]:
    """One batch per example, in their order: its sets of sources are run together."""
    return [batch for example in examples for batch in model.batches([example])]


def _check_model(model: Any) -> None:
    missing = [name for name in ("read", "keep_only", "batches") if not hasattr(model, name)]
    if missing:
        raise InputError(
            f"{type(model).__name__} has no {missing[0]}. Expected a model that answers from "
            'sources: attnaudit.from_huggingface(model, tokenizer, task="generation").'
        )


def _checked(examples: Any) -> list[CitationExample]:
    listed = list(examples)
    wrong = [each for each in listed if not isinstance(each, CitationExample)]
    if wrong or not listed:
        got = type(wrong[0]).__name__ if wrong else "none"
        raise InputError(
            f"Expected one or more CitationExample(example_id, sources, question, …), got {got}."
        )
    if len({each.example_id for each in listed}) < len(listed):
        raise InputError("Two questions have the same example_id. Give each its own.")
    return listed
