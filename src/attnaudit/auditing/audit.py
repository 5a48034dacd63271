"""Run measures and audits over batches and collect the results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from attnaudit.auditing.collector import Collector
from attnaudit.auditing.data_argument import as_batches
from attnaudit.auditing.example_store import choose_examples, example_rows, furthest_options
from attnaudit.auditing.other_models import check_other_models
from attnaudit.auditing.row_names import row_names
from attnaudit.auditing.selection import Choice, find_audits, find_measures
from attnaudit.audits import AUDITS
from attnaudit.audits.data_options import bind_data_options
from attnaudit.audits.declaration import declaration_of, scales
from attnaudit.core import progress
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.module_state import evaluating
from attnaudit.core.unwrapped_models import check_model_argument
from attnaudit.laws.validate_record import check_record
from attnaudit.measures.rounding import tie_equal_scores
from attnaudit.results.questions import RULES
from attnaudit.results.results import Results
from attnaudit.statistics import bootstrap


def audit(
    model: AttentionModel,
    data: Any,
    labels: Sequence[Any] | None = None,
    *,
    text: str | None = None,
    label: str | None = None,
    pair: str | None = None,
    audits: Sequence[Choice] | None = None,
    measures: Sequence[Choice] | None = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    class_names: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    other_models: Sequence[AttentionModel] = (),
    keep_examples: int | None = None,
    show_progress: bool = True,
    illustrated: int | None = None,
) -> Results:
    """May I show this model's attention as an explanation? Run audits and measures on a model.

    Parameters
    ----------
    model : AttentionModel
        Anything with `read` and `decode`, such as the result of `from_huggingface` or `from_hooks`.
        All models are left as they were: parameters, gradients, training mode, device.
    data : Batch, list of Batch, list of texts, table or Path
        Batches of tokens (B,T). For a model that reads texts (`from_huggingface`), also: a list of
        texts or of pairs of texts; a pandas DataFrame, a Hugging Face Dataset, a dict of columns or
        a list of dicts; the Path of a data file.
    labels : sequence, optional
        One class per text, as a name or a number. Batches and tables hold their own.
    text, label, pair : str, optional
        The columns of a table that hold the text, the label and the second text. Inferred from the
        column names if omitted; label="" for a table without labels.
    audits : sequence of str or callable, optional
        Names from `attnaudit.audits.AUDITS`, "name:option=value", or your own functions
        (model, record, scores, seed) -> {metric: (B,) or (B,R)}; "all" for every audit. By default
        `DEFAULT_AUDITS`.
    measures : sequence of str or callable, optional
        The same for `attnaudit.measures.MEASURES`; your own are functions (model, record, seed) ->
        scores (B,N) or (B,R,N), higher = more important. Attention is always among them. By default
        `DEFAULT_MEASURES`.
    seed : int, default 0
        Of all random draws, which also depend on the example ids but not on the batches.
    device : torch.device or str, optional
        Where to run; by default the models and batches stay where they are.
    class_names : sequence of str, optional
        One name per class, for display; by default those of the model, or the class numbers.
    words : sequence of str, optional
        The vocabulary, by token id, for display.
    other_models : sequence of AttentionModel, optional
        Other trainings of the same model; adds the audit `stability`.
    keep_examples : int, optional
        Number of examples kept whole for the report; by default all, up to 200,000 tokens.
    show_progress : bool, default True
    illustrated : int, optional
        Deprecated name of `keep_examples`.

    Returns
    -------
    Results
        Every number per example, with a summary (`summary()`), a card of six answers (`card()`),
        a table (`frame()`) and a report (`to_html()`). Audits that did not apply are listed with
        the reason in `about["not_applicable"]`.

    Examples
    --------
    Oracle is a synthetic reference model whose prediction really depends on its attention:

    >>> from attnaudit import audit
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> audits = ["permutation", "agreement"]
    >>> results = audit(Glass("oracle"), glass_batch(30), audits=audits, show_progress=False)
    >>> results.card()["does it matter?"].answer
    'yes'
    >>> round(results.mean("agreement", "tau", "leave_one_out"), 2)
    1.0
    """
    if illustrated is not None:
        warnings.warn(
            "audit(illustrated=…) is now keep_examples=…", DeprecationWarning, stacklevel=2
        )
        keep_examples = illustrated if keep_examples is None else keep_examples
    check_model_argument(model)
    batches = as_batches(model, data, labels, text=text, label=label, pair=pair)
    chosen_audits, chosen_measures = find_audits(audits), find_measures(measures)
    if other_models:
        chosen_audits["stability"] = partial(AUDITS["stability"], other_models=tuple(other_models))
    class_names = getattr(model, "class_names", None) if class_names is None else class_names
    kept = choose_examples(batches, keep_examples, seed)
    furthest = furthest_options(chosen_audits)
    collector = Collector()
    with evaluating(model, *other_models, device=device):
        check_other_models(model, other_models, _to(batches[0], device))
        chosen_audits = bind_data_options(
            chosen_audits, lambda: (_read(model, batch, device) for batch in batches)
        )
        with progress.bar("Auditing", len(batches), show=show_progress) as advance:
            for batch in batches:
                record = _read(model, batch, device)
                classes = _check_class_names(class_names, record.logits.shape[1])
                collector.start(record, row_names(model, record))
                scores = _run_measures(collector, chosen_measures, model, record, seed)
                _run_audits(collector, chosen_audits, model, record, scores, seed)
                collector.examples.append(
                    example_rows(model, record, scores, seed, kept, words, furthest=furthest)
                )
                advance(f"{len(batch)} examples")
    columns = collector.table.columns()
    declarations = {name: declaration_of(function) for name, function in chosen_audits.items()}
    about = {
        "rules": RULES,
        "seed": seed,
        "classes": classes,
        "audits": list(chosen_audits),
        "measures": list(chosen_measures),
        **collector.about(),
        "illustrated": len(kept),
        "majority": _majority(batches),
        "accuracy": _accuracy(columns.examples, seed),
        "model": dict(getattr(model, "about", {})),
        "truncated": sum(
            int(cut.sum()) for b in batches if (cut := getattr(b, "truncated", None)) is not None
        ),
        "scales": scales(declarations),
    }
    return Results.of(columns, chain.from_iterable(collector.examples), about, declarations)


def _to(batch: Batch, device: torch.device | str | None) -> Batch:
    return batch if device is None else batch.to(device)


def _read(model: AttentionModel, batch: Batch, device: torch.device | str | None) -> Record:
    with torch.no_grad():
        record = model.read(_to(batch, device))
    check_record(record)
    return record


def _run_measures(
    collector: Collector,
    measures: dict[str, Callable[..., Any]],
    model: AttentionModel,
    record: Record,
    seed: int,
) -> dict[str, Tensor]:
    scores: dict[str, Tensor] = {}
    for name, measure in measures.items():
        try:
            score = measure(model, record, seed)
        except NotApplicable as reason:
            collector.reasons["measure", name] = str(reason)
            continue
        _check_score(name, score, record)
        scores[name] = tie_equal_scores(measure, score.detach(), record)
        collector.computed_measures.add(name)
    return scores


def _run_audits(
    collector: Collector,
    audits: dict[str, Callable[..., Any]],
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
) -> None:
    for name, function in audits.items():
        try:
            with torch.no_grad():
                collector.table.add(name, function(model, record, scores, seed))
        except NotApplicable as reason:
            collector.reasons["audit", name] = str(reason)


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


def _check_class_names(names: Sequence[str] | None, count: int) -> list[str]:
    """One name per class; the class numbers if None."""
    if names is None:
        return [str(number) for number in range(count)]
    if len(names) != count:
        raise InputError(f"class_names has {len(names)} names, but the model has {count} classes.")
    if len(set(names)) < count or "all" in names:
        raise InputError(
            'class_names must differ from each other and from "all", which stands for every class; '
            f"got {list(names)}."
        )
    return list(names)


def _majority(batches: list[Batch]) -> float | None:
    """Accuracy of the majority-class baseline; None unless all batches have labels."""
    known = [batch.labels.cpu() for batch in batches if batch.labels is not None]
    if len(known) < len(batches):
        return None
    labels = torch.cat(known)
    return float(labels.bincount().max() / len(labels))


def _accuracy(examples: pd.DataFrame, seed: int) -> dict[str, float | None] | None:
    """Accuracy with its interval (None with fewer than 10 texts); None unless all have labels."""
    if (examples["label"] < 0).any():
        return None
    correct = torch.from_numpy((examples["label"] == examples["predicted"]).to_numpy(float))
    interval = bootstrap(correct, limits=(0.0, 1.0), seed=seed)
    ends = {"mean": interval.estimate, "low": interval.low, "high": interval.high}
    return {name: None if value.isnan() else float(value) for name, value in ends.items()}
