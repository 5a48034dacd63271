"""The results of an audit: every value, the summary, the card, and examples to look at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.card import Card
from attnaudit.results.earlier_card import earlier_card
from attnaudit.results.lazy_parts import LazyParts
from attnaudit.results.recommendation import stored_ranking
from attnaudit.results.rows import one_line_per_metric, row_name
from attnaudit.results.rules import make_card
from attnaudit.results.value_columns import ValueColumns


@dataclass(frozen=True, eq=False)
class Results(LazyParts):
    """The results of an audit; shows its card in a notebook.

    `card()` to decide, `summary()` to report, `frame()` to analyse, `to_html()` to look.

    Attributes
    ----------
    columns : every value by column, in memory or in the file it is read from.
    summaries : means with intervals, floors and ceilings, of all groups; see `summary`.
    examples : the examples that were kept whole, with words and attention.
    about : seed, classes, audits and measures used, and other facts; docs/store.md lists them.

    Examples
    --------
    >>> import attnaudit
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> results = attnaudit.audit(Glass("shifted"), glass_batch(), show_progress=False)
    >>> results.card().verdict
    'Not as an explanation: it does not point at the words the model uses.'
    """

    columns: ValueColumns = field(repr=False)
    summaries: pd.DataFrame = field(repr=False)
    examples: pd.DataFrame = field(repr=False)
    about: dict[str, Any]

    @classmethod
    def of(
        cls,
        columns: ValueColumns,
        drawn: Iterable[dict[str, Any]],
        about: dict[str, Any],
        declarations: Mapping[str, Any],
    ) -> Results:
        """Summarise the values of an audit.

        Parameters
        ----------
        columns : the values.
        drawn : the examples to keep whole.
        about : with at least `classes` and `seed`.
        declarations : per audit, what its metrics mean.
        """
        # Imported here, so that reading stored results needs no torch.
        from attnaudit.results.column_summary import summarise_columns
        from attnaudit.results.explanation_ranking import with_ranking

        summaries = summarise_columns(columns, about["classes"], declarations, seed=about["seed"])
        examples = pd.DataFrame(sorted(drawn, key=lambda example: example["example_id"]))
        return cls(columns, summaries, examples, with_ranking(columns, summaries, about))

    @cached_property
    def values(self) -> pd.DataFrame:
        """Every value, one line each; see `frame`."""
        return self.columns.long()

    def card(self) -> Card:
        """The six questions, answered from the summary by the rules of docs/card.md.

        Results of an earlier version keep the card they were stored with, marked as such.
        """
        if "earlier_card" in self.about:
            return earlier_card(self.about["earlier_card"])
        return make_card(self.summaries, self.about)

    def frame(self) -> pd.DataFrame:
        """Every value, one line each: all of them in memory at once.

        Columns: example_id, label, predicted, length, audit, measure, metric, row, value. For very
        many examples, `columns` reads the values of one metric at a time.
        """
        return self.values

    def summary(self, group: str = "all") -> pd.DataFrame:
        """Means with intervals, floors and ceilings, one line per audit, measure, metric and row.

        Parameters
        ----------
        group : "all" examples, the name of a predicted class, or, if labels are known, "right
            decisions" or "wrong decisions".
        """
        part = self.summaries[self.summaries["group"] == group]
        return part.drop(columns="group").reset_index(drop=True)

    def mean(self, audit: str, metric: str, measure: str = "") -> float:
        """The overall mean of a metric, over rows if there are several; NaN if there is none.

        An audit without options also names the same one with options, if only that was run.
        """
        line = self.line(audit, metric, measure)
        return math.nan if line is None else float(line["mean"])

    def line(self, audit: str, metric: str, measure: str = "") -> pd.Series | None:
        """The line of the summary behind `mean`: with interval, floor, ceiling, nan_share."""
        part = self.summary()
        part = part[(part["metric"] == metric) & (part["measure"] == measure)]
        name = resolve_audit_name(audit, part["audit"].astype(str).unique())
        found = part[part["audit"] == name]
        return None if name is None else one_line_per_metric(found).iloc[0]

    def explanations(self) -> pd.DataFrame:
        """The explanations that were compared, the best first; see docs/explanations.md.

        Returns
        -------
        One line per explanation: `rank` and `tied_with`; `place`, between random words (0) and the
        best words found (1), `comprehensiveness`, `sufficiency`, `polarity`, `stability`,
        `agreement` (with leave-one-out) and `plausibility`, each with `_low` and `_high`, its 95 %
        interval; `tests` (the answer to each of the four), `passed`, `beats_random`,
        `failing_class` (a predicted class for which it points at the wrong words, or ""); `seconds`
        per text.

        Raises
        ------
        InputError
            If the audit compared none.

        Examples
        --------
        >>> import attnaudit
        >>> from attnaudit.models.glass import Glass, glass_batch
        >>> results = attnaudit.audit(
        ...     Glass("shifted"), glass_batch(40), audits=["top_words"],
        ...     explanations=["leave_one_out"], show_progress=False)
        >>> results.explanations()[["explanation", "rank"]].values.tolist()
        [['leave_one_out', 1], ['attention', 2], ['random', 2]]
        """
        return stored_ranking(self.about)

    def metrics(self) -> dict[str, float]:
        """Every number of the card, its answers and the explanations, as one flat dict.

        For experiment trackers: `mlflow.log_metrics(results.metrics())`. Answers are 1 (yes), 0.5
        (partly) or 0 (no). What is unknown is NaN, and `unknown` counts it.

        Examples
        --------
        >>> import attnaudit
        >>> from attnaudit.models.glass import Glass, glass_batch
        >>> results = attnaudit.audit(Glass("inert"), glass_batch(), show_progress=False)
        >>> results.metrics()["answer/matters"]
        0.0
        """
        from attnaudit.results.metrics import flat_metrics

        return flat_metrics(self.card(), self.about, self.about.get("explanation_ranking", ()))

    def to_model_card(self) -> str:
        """The card as a section of a Hugging Face model card, with `model-index` data."""
        from attnaudit.results.model_card import model_card_section

        return model_card_section(self.card(), self.about)

    def row_name(self, row: int) -> str:
        """The name of a row: "layer 5 head 0" as the model counts them, or else "row 5".

        For a column of names: `results.frame()["row"].map(results.row_name)`.
        """
        return row_name(self.about, row)

    def examples_needed(self, width: float) -> pd.DataFrame:
        """How many examples a 95 % interval of this width would take, per line of the summary.

        Parameters
        ----------
        width : of the whole interval, high − low.

        Returns
        -------
        The column `needed`, next to the `count` of examples there were.
        """
        from attnaudit.results.sample_sizes import examples_needed

        return examples_needed(self.summary(), width)

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write values, summary, examples and card to a new folder, complete or not at all.

        `attnaudit.results.load_results` reads it back.

        Parameters
        ----------
        folder : a new one; a folder with anything but results in it is never touched.
        force : replace results that are there already.

        Returns
        -------
        The folder.
        """
        from attnaudit.results.store import save_results

        return save_results(self, Path(folder), force=force)

    def to_html(self, path: str | Path) -> Path:
        """Write one self-contained page with card, tables and heatmaps."""
        from attnaudit.report.page import write_page

        return write_page([self], Path(path))

    def to_heatmaps(
        self,
        path: str | Path,
        *,
        explanation: str = "attention",
        examples: Sequence[str] | None = None,
    ) -> Path:
        """Write the heatmaps of one explanation, to paste elsewhere.

        Parameters
        ----------
        path : ends in .html (snippets), .jsonl (scores), .svg or .png (one text).
        explanation : a measure that was computed.
        examples : ids of the texts; by default all that were kept, the first for a picture.
        """
        from attnaudit.report.word_heatmaps import write_heatmaps

        return write_heatmaps(self, Path(path), explanation=explanation, examples=examples)

    def __repr__(self) -> str:
        count, keys = len(self.columns), len(self.columns.keys)
        return f"Results of {count} examples, {count * keys:,} values\n{self.card()}"

    def _repr_html_(self) -> str:
        from attnaudit.report.page import card_html

        return card_html(self)
