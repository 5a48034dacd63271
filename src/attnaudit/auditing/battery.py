"""The measures and audits of one audit, ready to run on any batch of its examples."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from attnaudit.auditing.collector import Collector
from attnaudit.auditing.example_store import example_rows, furthest_options
from attnaudit.auditing.row_names import row_names
from attnaudit.auditing.word_level import add_words
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.module_state import evaluating
from attnaudit.laws.validate_record import check_record
from attnaudit.measures.rounding import tie_equal_scores
from attnaudit.measures.shared_pass import passes_shared
from attnaudit.results.questions import EXPLANATION


@dataclass(frozen=True)
class Battery:
    """A model with the measures and audits to run on it.

    Parameters
    ----------
    model : the audited model.
    audits, measures : functions by name, with their options bound, those that depend on all the
        data included.
    seed : of all random draws.
    kept : ids of the examples that are kept whole for the report.
    words : the vocabulary, by token id, for display.
    device : where to run; None leaves the model and the batches where they are.
    other_models : other trainings that the audits read too; only put into evaluation mode here.
    card : which questions the results answer: those on an "explanation", or on a "citation".
    explanations : those of the measures that are compared as explanations; they are timed.
    word_level : what to run with words as items after all the rest, if sources and their words
        are audited; its audits have names of their own.
    suffix : added to the names of measures where one does not apply, to tell levels apart.
    """

    model: AttentionModel
    audits: Mapping[str, Callable[..., Any]]
    measures: Mapping[str, Callable[..., Any]]
    seed: int = 0
    kept: frozenset[str] = frozenset()
    words: Sequence[str] | None = None
    device: torch.device | str | None = None
    other_models: Sequence[AttentionModel] = ()
    card: str = EXPLANATION
    explanations: Sequence[str] = ()
    word_level: Battery | None = None
    suffix: str = ""

    def run(
        self, batches: Iterable[Batch], advance: Callable[[int], None] | None = None
    ) -> Collector:
        """Everything that is kept of these batches.

        Parameters
        ----------
        batches : with examples of the audit.
        advance : called after every batch with the number of its examples.
        """
        collector = Collector()
        furthest = furthest_options(self.audits)
        with evaluating(self.model, *self.other_models, device=self.device):
            for batch in batches:
                started = time.perf_counter()
                record = read(self.model, batch, self.device)
                if self.explanations:
                    _finish(record.logits)
                    collector.facts.add_seconds("read", started)
                collector.start(record, row_names(self.model, record))
                with passes_shared():
                    scores = self._run_measures(collector, record)
                self._run_audits(collector, record, scores)
                rows = example_rows(
                    self.model,
                    record,
                    scores,
                    self.seed,
                    self.kept,
                    self.words,
                    furthest=furthest,
                )
                if self.word_level is not None:
                    self._run_words(self.word_level, collector, record, rows)
                collector.examples += rows
                if advance is not None:
                    advance(len(batch))
        return collector

    def _run_words(
        self, words: Battery, collector: Collector, record: Record, rows: list[dict[str, Any]]
    ) -> None:
        """Run the battery of words on the same batch, and add its scores to the kept rows."""
        started = time.perf_counter()
        reader: Any = self.model
        of_words = reader.word_record(record)
        check_record(of_words)
        with passes_shared():
            scores = words._run_measures(collector, of_words)
        words._run_audits(collector, of_words, scores)
        add_words(rows, words.model, of_words, scores)
        collector.facts.add_seconds("words", started)

    def _run_measures(self, collector: Collector, record: Record) -> dict[str, Tensor]:
        scores: dict[str, Tensor] = {}
        for name, measure in self.measures.items():
            started = time.perf_counter()
            try:
                score = measure(self.model, record, self.seed)
            except NotApplicable as reason:
                collector.facts.reasons["measure"][name + self.suffix] = str(reason)
                continue
            _check_score(name, score, record)
            if name in self.explanations:
                _finish(score)
                collector.facts.add_seconds(name, started)
            scores[name] = tie_equal_scores(measure, score.detach(), record)
            collector.facts.computed_measures.add(name + self.suffix)
        return scores

    def _run_audits(self, collector: Collector, record: Record, scores: dict[str, Tensor]) -> None:
        for name, function in self.audits.items():
            try:
                with torch.no_grad():
                    values = function(self.model, record, scores, self.seed)
            except NotApplicable as reason:
                collector.facts.reasons["audit"][name] = str(reason)
                continue
            collector.table.add(name, values)
            if values:
                collector.facts.computed_audits.add(name)


def read(model: AttentionModel, batch: Batch, device: torch.device | str | None = None) -> Record:
    """The checked record of a batch, on `device` if given."""
    with torch.no_grad():
        record = model.read(batch if device is None else batch.to(device))
    check_record(record)
    return record


def _finish(values: Tensor) -> None:
    """Wait until the values are computed: a GPU works on after a call has returned."""
    if values.device.type == "cuda":
        torch.cuda.synchronize(values.device)


def _check_score(name: str, score: Any, record: Record) -> None:
    if not isinstance(score, Tensor):
        raise InputError(
            f"The measure {name!r} must return a tensor, got {type(score).__name__}. "
            "Wrap it: torch.as_tensor(scores)."
        )
    per_item, per_row = record.content.shape, record.alpha.shape
    if score.shape not in (per_item, per_row):
        raise InputError(
            f"The measure {name!r} must return scores of shape (B,N) = {tuple(per_item)} or "
            f"(B,R,N) = {tuple(per_row)}, got {tuple(score.shape)}."
        )
