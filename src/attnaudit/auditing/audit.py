"""Run measures and audits over batches and collect the results."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from attnaudit.auditing.battery import Battery, read
from attnaudit.auditing.data_argument import as_batches
from attnaudit.auditing.example_store import choose_examples
from attnaudit.auditing.explanations import (
    ExplanationChoice,
    check_explanations,
    find_explanations,
    with_explanations,
    with_given_scores,
)
from attnaudit.auditing.jobs.job import finish
from attnaudit.auditing.jobs.leftovers import remove_leftovers
from attnaudit.auditing.jobs.run_job import BatchSource, opened, parts_folder, run_job
from attnaudit.auditing.jobs.shard_bounds import TOKENS_PER_SHARD
from attnaudit.auditing.jobs.shards import MemoryShards, index_batches
from attnaudit.auditing.other_models import check_other_models
from attnaudit.auditing.padding import check_padding
from attnaudit.auditing.selection import Choice, find_audits, find_measures
from attnaudit.auditing.summarised import check_class_names, summarised
from attnaudit.audits import AUDITS
from attnaudit.audits.data_options import bind_data_options, compute_data_options
from attnaudit.core import progress
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.module_state import evaluating
from attnaudit.core.output_folders import check_folder
from attnaudit.core.unwrapped_models import check_model_argument
from attnaudit.results.results import Results
from attnaudit.results.store import load_results, save_results


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
    explanations: ExplanationChoice = None,
    seed: int = 0,
    device: torch.device | str | None = None,
    class_names: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    other_models: Sequence[AttentionModel] = (),
    keep_examples: int | None = None,
    out: str | Path | None = None,
    force: bool = False,
    tokens_per_shard: int | None = None,
    show_progress: bool = True,
    illustrated: int | None = None,
) -> Results:
    """Audit a model's attention: may it be shown as an explanation?

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
    explanations : "all", names, functions or {name: scores}, optional
        Explanations to compare by the tests that judge attention; see `Results.explanations`.
        "all" stands for `attnaudit.measures.EXPLANATIONS`; lime and shap can be added. Scores may
        be those of any tool: a .jsonl file, a SHAP Explanation, a tensor, a list per text.
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
    out : str or Path, optional
        A new folder for the results. The audit is then done in shards, whose values are kept in
        OUT.parts until it is finished: called again with the same arguments, it resumes.
    force : bool, default False
        Replace results that are in the folder already.
    tokens_per_shard : int, optional
        Size of a part, in tokens; values depend on it by rounding only.
    show_progress : bool, default True
        Show a progress bar.
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
    find_audits(audits)
    find_measures(measures)
    check_explanations(explanations)
    if out is not None:
        remove_leftovers(Path(out))
        check_folder(Path(out), replace=force)
    read_data = as_batches(model, data, labels, text=text, label=label, pair=pair)
    batches = read_data.batches
    compared = find_explanations(with_given_scores(explanations, read_data.ids, read_data.texts))
    chosen_audits, chosen_measures = with_explanations(
        find_audits(audits), find_measures(measures), compared
    )
    if other_models:
        chosen_audits["stability"] = partial(AUDITS["stability"], other_models=tuple(other_models))
    battery = Battery(
        model,
        chosen_audits,
        chosen_measures,
        seed=seed,
        words=words,
        device=device,
        other_models=tuple(other_models),
        explanations=tuple(compared),
    )
    source = BatchSource(MemoryShards(batches, tokens_per_shard or TOKENS_PER_SHARD))
    chosen: dict[str, Any] = {"keep_examples": keep_examples, "class_names": class_names}
    if out is None:
        return _in_memory(battery, batches, show_progress=show_progress, **chosen)
    with opened(parts_folder(Path(out))) as store, TemporaryDirectory() as scratch:
        results = run_job(
            store,
            battery,
            source,
            Path(scratch),
            identity={"kind": "audit"},
            show_progress=show_progress,
            **chosen,
        )
        save_results(results, Path(out), force=force, was_free=True)
        finish(store)
    return load_results(out)


def _in_memory(
    battery: Battery,
    batches: Sequence[Batch],
    *,
    class_names: Sequence[str] | None,
    keep_examples: int | None,
    show_progress: bool,
) -> Results:
    """Audit batches without storing anything."""
    model, device = battery.model, battery.device
    index = index_batches(batches)
    with evaluating(model, *battery.other_models, device=device):
        first = batches[0] if device is None else batches[0].to(device)
        check_other_models(model, battery.other_models, first)
        names = getattr(model, "class_names", None) if class_names is None else class_names
        check_class_names(names, read(model, first, device).logits.shape[1])
        check_padding(battery, batches)
        options = compute_data_options(
            battery.audits, lambda: (read(model, batch, device) for batch in batches)
        )
    kept = choose_examples(index.ids, index.labels, index.tokens, keep_examples, battery.seed)
    audits = bind_data_options(battery.audits, options)
    battery = replace(battery, audits=audits, kept=kept)
    with progress.bar("Auditing", len(index.ids), show=show_progress) as advance:
        collector = battery.run(batches, lambda count: advance(f"{count} examples", count))
    columns = collector.table.columns()
    return summarised(battery, columns, collector.examples, collector.facts, class_names)
