"""The heart: run measures and audits over batches, keep every number, say what could not be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from attnaudit.auditing.collector import Collector
from attnaudit.auditing.example_store import chosen_examples, illustrate
from attnaudit.auditing.other_models import check_other_models
from attnaudit.auditing.row_names import row_names
from attnaudit.auditing.selection import Choice, find_audits, find_measures
from attnaudit.audits import AUDITS
from attnaudit.audits.declaration import declaration_of, scales
from attnaudit.core import masking, progress
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError, ItemErrors, NotApplicable
from attnaudit.core.module_state import evaluating
from attnaudit.core.unwrapped_models import check_model_argument
from attnaudit.data.audit_texts import TextsRead, read_texts, texts_in_memory
from attnaudit.data.reading.memory_tables import is_table
from attnaudit.data.reading.option_names import in_python
from attnaudit.laws.validate_record import check_record
from attnaudit.measures import OF_WEIGHTS
from attnaudit.results.audit_names import resolve_audit_name
from attnaudit.results.results import Results
from attnaudit.statistics import bootstrap
from attnaudit.statistics.ties import tie_rounding


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
    illustrated: int | None = None,
    show_progress: bool = True,
) -> Results:
    """May I show this model's attention as an explanation? The usual audits and measures by default; "all", names,
    "name:option=value" or your own functions.

    data: batches; or, for a model that reads texts (from_huggingface): a list of texts or pairs of texts, with labels if there are any;
    a pandas DataFrame, a Hugging Face Dataset, a dict of columns, a list of dicts, or the Path of a data file. text, label and pair
    name columns of a table; inferred from their names if omitted.
    class_names and words (the vocabulary, by token number) are only for showing. illustrated: how many examples are kept whole for the
    page; by default all, up to 200,000 tokens. other_models: further trainings of the same model, to
    see whether its attention is stable. All models are left as found.
    """
    check_model_argument(model)
    batches = [
        batch
        for batch in _as_batches(model, data, labels, text=text, label=label, pair=pair)
        if len(batch)
    ]
    if not batches:
        raise InputError("There is nothing to audit: the data holds no example.")
    chosen_audits, chosen_measures = find_audits(audits), find_measures(measures)
    class_names = getattr(model, "class_names", None) if class_names is None else class_names
    if other_models:
        chosen_audits["stability"] = partial(AUDITS["stability"], other_models=tuple(other_models))
    _check_names(batches)
    show = chosen_examples(batches, illustrated, seed)
    furthest = _options_of(chosen_audits.get(resolve_audit_name("furthest", chosen_audits) or ""))
    found = Collector()
    with evaluating(model, *other_models, device=device):
        check_other_models(
            model, other_models, batches[0] if device is None else batches[0].to(device)
        )
        chosen_audits = _told_mean_length(chosen_audits, model, batches, device)
        with progress.bar("Auditing", len(batches), show=show_progress) as advance:
            for batch in batches:
                record = _read(model, batch, device)
                names = _class_names(class_names, record.logits.shape[1])
                found.start(record, row_names(model, record))
                scores = _scores(found, chosen_measures, model, record, seed)
                _judge(found, chosen_audits, model, record, scores, seed)
                found.drawn.append(
                    illustrate(model, record, scores, seed, show, words, furthest=furthest)
                )
                advance(f"{len(batch)} examples")
    found.table.judge_families()
    declarations = {name: declaration_of(function) for name, function in chosen_audits.items()}
    about = {
        "seed": seed,
        "classes": names,
        "audits": list(chosen_audits),
        "measures": list(chosen_measures),
        **found.about(),
        "illustrated": len(show),
        "majority": _majority(batches),
        "accuracy": _accuracy(found.table.examples(), seed),
        "model": dict(getattr(model, "about", {})),
        "truncated": sum(
            int(cut.sum()) for b in batches if (cut := getattr(b, "truncated", None)) is not None
        ),
        "scales": scales(declarations),
    }
    return Results.of(found.table, found.drawn, about, declarations)


def _check_names(batches: list[Batch]) -> None:
    ids = [name for batch in batches for name in batch.example_id]
    if len(set(ids)) < len(ids):
        raise InputError(
            "Every example needs an example_id of its own: random draws and the results hang on it."
        )


def _read(model: AttentionModel, batch: Batch, device: torch.device | str | None) -> Record:
    with torch.no_grad():
        record = model.read(batch if device is None else batch.to(device))
    check_record(record)
    return record


def _scores(
    found: Collector,
    measures: dict[str, Callable[..., Any]],
    model: AttentionModel,
    record: Record,
    seed: int,
) -> dict[str, Tensor]:
    scores: dict[str, Tensor] = {}
    for name, measure in measures.items():
        try:
            scores[name] = _score(measure, model, record, seed, name)
            found.scored.add(name)
        except NotApplicable as reason:
            found.reasons["measure", name] = str(reason)
    return scores


def _judge(
    found: Collector,
    audits: dict[str, Callable[..., Any]],
    model: AttentionModel,
    record: Record,
    scores: dict[str, Tensor],
    seed: int,
) -> None:
    for name, function in audits.items():
        try:
            with torch.no_grad():
                found.table.add(name, function(model, record, scores, seed))
        except NotApplicable as reason:
            found.reasons["audit", name] = str(reason)


def _as_batches(
    model: AttentionModel, data: Any, labels: Sequence[Any] | None, **columns: str | None
) -> list[Batch]:
    """Batches as they are; texts and tables by the model's own `batches`, where it has one."""
    listed = _listed(data)
    if isinstance(listed, list) and all(isinstance(each, Batch) for each in listed):
        _check_no_columns(columns)
        if labels is not None:
            raise InputError("labels go with texts. Batches hold their own: Batch(labels=…).")
        return listed
    own = getattr(model, "batches", None)
    if own is None:
        first = listed[0] if isinstance(listed, list) else listed
        raise InputError(
            f"{type(model).__name__} reads batches, not texts; got {type(first).__name__}. Texts go with from_huggingface."
        )
    read = _read_table(listed, columns)
    if read is None:
        _check_no_columns(columns)
        return own(listed, None if labels is None else list(labels))
    if labels is not None and columns["label"] is None and read.labelled:
        raise InputError(
            "Labels were given twice: as labels= and as a column of the data. Leave labels= out, or write label=''."
        )
    if labels is not None and columns["label"]:
        raise InputError("Labels were given twice: as labels= and as label=. Leave one out.")
    known = read.labels(getattr(model, "class_names", None)) if labels is None else list(labels)
    try:
        return own([each.text for each in read.texts], known)
    except ItemErrors as error:
        index, problem = next(iter(error.problems.items()))
        raise InputError(f"{read.texts[index].where}: {problem}") from error


def _read_table(data: Any, columns: Mapping[str, str | None]) -> TextsRead | None:
    text, label, pair = columns["text"], columns["label"], columns["pair"]
    if isinstance(data, Path):
        return read_texts(data, text=text, label=label, pair=pair, spell=in_python)
    return texts_in_memory(data, text=text, label=label, pair=pair)


def _listed(data: Any) -> Any:
    """A list of whatever is to be read one by one; tables, paths and single texts as they are."""
    if isinstance(data, Batch):
        return [data]
    if isinstance(data, (str, Path, Mapping)) or is_table(data):
        return data
    try:
        return list(data)
    except TypeError:
        raise InputError(
            f"Expected batches, texts or a table with a column of texts, got {type(data).__name__}."
        ) from None


def _check_no_columns(columns: Mapping[str, str | None]) -> None:
    for name, value in columns.items():
        if value is not None:
            raise InputError(
                f"{name}={value!r} names a column, but the data has none. It goes with a DataFrame, a Dataset or a file."
            )


def _options_of(function: Callable[..., Any] | None) -> dict[str, Any] | None:
    """The options an audit was chosen with; None where it was not chosen."""
    if function is None:
        return None
    return dict(function.keywords) if isinstance(function, partial) else {}


def _majority(batches: list[Batch]) -> float | None:
    """Share of the most frequent label: what always the same answer would score. None without labels."""
    known = [batch.labels.cpu() for batch in batches if batch.labels is not None]
    if len(known) < len(batches):
        return None
    labels = torch.cat(known)
    return float(labels.bincount().max() / len(labels))


def _accuracy(examples: pd.DataFrame, seed: int) -> dict[str, float | None] | None:
    """Share of right decisions with its interval, which is None for a single example. None unless all have labels."""
    if (examples["label"] < 0).any():
        return None
    right = torch.from_numpy((examples["label"] == examples["predicted"]).to_numpy(float))
    found = bootstrap(right, seed=seed)
    ends = {"mean": found.estimate, "low": found.low, "high": found.high}
    return {name: None if value.isnan() else float(value) for name, value in ends.items()}


def _told_mean_length(
    audits: dict[str, Callable[..., Any]],
    model: AttentionModel,
    batches: list[Batch],
    device: torch.device | str | None,
) -> dict[str, Callable[..., Any]]:
    """An audit that asks for `mean_length` gets ⌊mean number of items⌋ over all the data, which no single batch knows."""
    asking = [name for name, function in audits.items() if _asks_mean_length(function)]
    if not asking:
        return audits
    with torch.no_grad():
        lengths = torch.cat(
            [model.read(b if device is None else b.to(device)).length.cpu() for b in batches]
        )
    mean = int(lengths.double().mean())
    return {
        name: partial(function, mean_length=mean) if name in asking else function
        for name, function in audits.items()
    }


def _asks_mean_length(function: Callable[..., Any]) -> bool:
    """Only where it is used, k=average, and not given by the user."""
    known = signature(function).parameters
    given = function.keywords if isinstance(function, partial) else {}
    k = str(given.get("k", known["k"].default if "k" in known else "average"))
    return "mean_length" in known and "mean_length" not in given and "average" in k.split("+")


def _class_names(given: Sequence[str] | None, count: int) -> list[str]:
    if given is None:
        return [str(number) for number in range(count)]
    if len(given) != count:
        raise InputError(f"class_names has {len(given)} names, but the model has {count} classes.")
    if len(set(given)) < count or "all" in given:
        raise InputError(
            f'class_names must differ from each other and from "all", which stands for every class; got {list(given)}.'
        )
    return list(given)


def _score(
    measure: Callable[..., Tensor], model: AttentionModel, record: Record, seed: int, name: str
) -> Tensor:
    score = measure(model, record, seed)
    if not isinstance(score, Tensor):
        raise InputError(
            f"The measure {name!r} must return a tensor, got {type(score).__name__}. Wrap it: torch.as_tensor(scores)."
        )
    expected = (record.content.shape, record.alpha.shape)
    if score.shape not in expected:
        raise InputError(
            f"The measure {name!r} must return scores of shape (B,N) = {tuple(expected[0])} or (B,R,N) = {tuple(expected[1])}, "
            f"got {tuple(score.shape)}."
        )
    return _tied(score.detach(), record, of_weights=name in OF_WEIGHTS)


def _tied(score: Tensor, record: Record, *, of_weights: bool) -> Tensor:
    """Equal importance comes out a rounding apart, by item or by batch; it must rank as equal."""
    rows = score[:, None] if score.dim() == 2 else score
    mask = record.content[:, None] & (
        record.mask if score.dim() == 3 else torch.ones_like(record.mask[:, :1])
    )
    flat, real = rows.flatten(0, 1), mask.flatten(0, 1)
    if of_weights:
        # Sums and products of positive numbers: each is right relative to itself, however small it is beside the largest.
        return tie_rounding(flat, real, 0.0, relative=64 * torch.finfo(score.dtype).eps).view(
            score.shape
        )
    # The model's rounding, relative to the largest score. Measures that know more of their own rounding tie by themselves.
    largest = masking.fill(flat.abs().nan_to_num(0.0), real).amax(-1, keepdim=True)
    rounding = 8 * torch.finfo(record.logits.dtype).eps
    return tie_rounding(flat, real, rounding * largest).view(score.shape)
