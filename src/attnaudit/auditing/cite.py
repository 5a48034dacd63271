"""May I show this model's attention as the source of an answer? Audit it on questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from attnaudit.auditing.citation_answers import answered_questions
from attnaudit.auditing.citation_choices import citation_choices
from attnaudit.auditing.citation_job import citation_battery, run_citation_job
from attnaudit.auditing.jobs.leftovers import remove_leftovers
from attnaudit.auditing.selection import Choice
from attnaudit.core.contract import AttentionModel
from attnaudit.core.errors import InputError
from attnaudit.core.output_folders import check_folder
from attnaudit.data.citations import CitationExample, read_citations
from attnaudit.results.results import Results


def cite(
    model: AttentionModel,
    examples: Sequence[CitationExample] | str | Path,
    *,
    audits: Sequence[Choice] | None = None,
    measures: Sequence[Choice] | None = None,
    word_measures: Sequence[Choice] | None = None,
    choose: int = 0,
    held_out: float = 0.2,
    seed: int = 0,
    device: torch.device | str | None = None,
    keep_examples: int | None = None,
    max_new_tokens: int = 32,
    out: str | Path | None = None,
    force: bool = False,
    tokens_per_shard: int | None = None,
    show_progress: bool = True,
) -> Results:
    """May I show this model's attention as the source of an answer?

    Parameters
    ----------
    model : AttentionModel
        From ``from_huggingface(…, task="generation")``, or anything with `read`, `decode`,
        `keep_only` and `batches` for questions with sources. With ``items="both"``, sources are
        audited as ever, and the words inside them too.
    examples : list of CitationExample, or path of a file that `read_citations` reads
        Those without an answer get the model's own, by greedy decoding.
    audits, measures : sequence of str or callable, optional
        Names from `CITATION_AUDITS` and `CITATION_MEASURES`, or functions; all by default. For both
        levels, audits from `WORD_AUDITS` too.
    word_measures : sequence of str or callable, optional
        For both levels, the measures of words; by default those of the sources that apply to words.
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
    tokens_per_shard : int, optional
        Size of a part, in tokens; by default a few answers.
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
    both_levels = getattr(model, "words", None) is not None
    citation_choices(audits, measures, word_measures, both_levels=both_levels)
    if out is not None:
        remove_leftovers(Path(out))
        check_folder(Path(out), replace=force)
    if isinstance(examples, str | Path):
        examples, _ = read_citations(examples)
    answered, listed = answered_questions(
        model,
        _checked(examples),
        measures,
        choose=choose,
        held_out=held_out,
        max_new_tokens=max_new_tokens,
        seed=seed,
        show_progress=show_progress,
    )
    return run_citation_job(
        citation_battery(model, audits, listed, word_measures, seed=seed, device=device),
        answered,
        out=out,
        force=force,
        keep_examples=keep_examples,
        tokens_per_shard=tokens_per_shard,
        show_progress=show_progress,
    )


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
