"""The part of an audit that the card reads: what it does not read is neither run nor summarised.

The card is that of `attnaudit.audit` with the same audits; tests/calibration compares the two. Most
of the time of an audit of small models on many texts is the bootstrap of its summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attnaudit.auditing.battery import Battery, read
from attnaudit.auditing.selection import find_audits, find_measures
from attnaudit.auditing.summarised import summarised
from attnaudit.audits import DEFAULT_AUDITS
from attnaudit.audits.data_options import bind_data_options, compute_data_options
from attnaudit.audits.declaration import Declaration, declaration_of
from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.module_state import evaluating
from attnaudit.results.results import Results
from attnaudit.results.rules.meanings import MEANINGS
from attnaudit.results.value_columns import Key, ValueColumns

CARD_MEASURES = ("attention", "gradient", "leave_one_out", "random")
NOT_ON_CARD = ("dispersion", "epsilon_curve", "erasure", "random_attention", "top_k_agreement")
CARD_AUDITS = tuple(name for name in DEFAULT_AUDITS if name not in NOT_ON_CARD)
# Read by rules without being shown.
_UNSHOWN = ("top_words/searched_exactly", "uniform_attention/correct")


def card_audit(model: AttentionModel, batches: Sequence[Batch]) -> Results:
    """Audit a model for its card.

    Parameters
    ----------
    model : AttentionModel
    batches : of texts.

    Returns
    -------
    Results
        With the numbers of the card and those they are compared with, and no examples.
    """
    battery = Battery(model, find_audits(CARD_AUDITS), find_measures(CARD_MEASURES))
    with evaluating(model):
        options = compute_data_options(
            battery.audits, lambda: (read(model, batch) for batch in batches)
        )
    battery = replace(battery, audits=bind_data_options(battery.audits, options))
    collected = battery.run(batches)
    columns = collected.table.columns()
    declarations = {name: declaration_of(audit) for name, audit in battery.audits.items()}
    keys = keys_on_card(columns.keys, declarations)
    chosen = ValueColumns.from_matrix(columns.examples, keys, columns.matrix(keys))
    return summarised(battery, chosen, [], collected.facts, None)


def keys_on_card(keys: Sequence[Key], declarations: dict[str, Declaration]) -> list[Key]:
    """The columns that the card reads, and their floors and ceilings."""
    names = {*MEANINGS, *_UNSHOWN}
    wanted: set[tuple[str, str, str]] = set()
    for audit, measure, metric, _ in keys:
        if f"{audit}/{metric}" + (f"@{measure}" if measure else "") not in names:
            continue
        wanted.add((audit, measure, metric))
        declared = declarations[audit].metrics.get(metric)
        for bound in () if declared is None else (declared.floor, declared.ceiling):
            if isinstance(bound, str):
                name, _, of = bound.partition("@")
                wanted.add((audit, of, name))
    return [key for key in keys if key[:3] in wanted]
