"""Examples kept whole, for heatmaps: words, attention, the furthest equivalent attention, measures, the readout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from attnaudit.audits.furthest import alternative
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.data.sampling import sampled

MOST_TOKENS = 200_000  # kept in all, where no number of examples is asked for


class Named(NamedTuple):
    example_id: str
    label: int | None


def chosen_examples(batches: Sequence[Batch], count: int | None, seed: int) -> frozenset[str]:
    """A random sample of the examples, each label in its share, that does not depend on how they are batched; None: all of them, or as
    large a share as keeps the store small."""
    everyone = [
        Named(name, None if batch.labels is None else int(batch.labels[at]))
        for batch in batches
        for at, name in enumerate(batch.example_id)
    ]
    if count is None:
        tokens = sum(int(batch.mask.sum()) for batch in batches)
        count = len(everyone) * min(MOST_TOKENS, tokens) // max(tokens, 1)
    chosen = sampled(sorted(everyone), count, seed) if count else ()
    return frozenset(each.example_id for each in chosen)


def illustrate(
    model: AttentionModel,
    record: Record,
    scores: dict[str, torch.Tensor],
    seed: int,
    chosen: frozenset[str],
    words: Sequence[str] | None,
    *,
    furthest: dict[str, Any] | None,
) -> list[dict[str, Any]]:
    """One dict for each chosen example of the batch; per-item lists hold the items that count, in order. furthest: the options of the audit
    whose answer is drawn; if it was not run, the example has none (None, and NaN for its numbers)."""
    wanted = [at for at, name in enumerate(record.batch.example_id) if name in chosen]
    if not wanted:
        return []
    found, jsd, upper, tight = _alternatives(model, record, seed, wanted, furthest)
    tokens_of = _tokens_of_items(model, record, words)
    drawn = []
    for place, at in enumerate(wanted):
        keep = record.content[at]
        readout = (
            record.readout[at, keep].double().flatten().tolist()
            if record.readout is not None
            else None
        )
        drawn.append(
            {
                "example_id": record.batch.example_id[at],
                "label": int(record.batch.labels[at]) if record.batch.labels is not None else -1,
                "predicted": int(record.predicted[at]),
                "probs": record.probs[at].double().tolist(),
                "tokens": tokens_of(at),
                "query": _query(record, at, words),
                "evidence": _evidence(record, at),
                "attention": record.alpha[at][:, keep].double().flatten().tolist(),
                "pair": _pair(record, at),
                # (R,) weight on what is no content, such as [CLS] and [SEP]
                "weight_on_marks": record.alpha[at][:, ~keep].double().sum(-1).tolist(),
                "furthest": None
                if found is None
                else found[place][:, keep].double().flatten().tolist(),
                "furthest_jsd": float(jsd[place]),
                "furthest_upper": float(upper[place]),
                "furthest_exact": bool(tight[place]),
                "readout": readout,  # items × classes, row by row
                "scores": [
                    {"measure": name, "values": score[at][..., keep].double().flatten().tolist()}
                    for name, score in scores.items()
                    if name not in ("attention", "random")
                ],
            }
        )
    return drawn


def _alternatives(
    model: AttentionModel,
    record: Record,
    seed: int,
    wanted: list[int],
    furthest: dict[str, Any] | None,
) -> tuple[torch.Tensor | None, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The furthest equivalent attention of the wanted examples, as the audit found it; None if it was not run."""
    if furthest is None:
        none = torch.full((len(wanted),), torch.nan)
        return None, none, none, torch.zeros_like(none, dtype=torch.bool)
    with torch.no_grad():
        found, jsd, upper, tight = alternative(model, record, seed, **furthest)
    return found[wanted], jsd[wanted], upper[wanted], tight[wanted]


def _tokens_of_items(model: AttentionModel, record: Record, words: Sequence[str] | None) -> Any:
    """at -> the text of each counted item of example `at`; by the model's own `spell` where no vocabulary is given."""
    spell = getattr(model, "spell", None) if words is None else None

    def texts(at: int) -> list[str]:
        if spell is not None:
            spelled_items = spell(record, at)
            return [spelled_items[item] for item in record.content[at].nonzero()[:, 0].tolist()]
        tokens = record.batch.tokens[at].tolist()
        items = record.item_of_token[at].tolist()
        spelled: dict[int, list[str]] = {}
        for token, item in zip(tokens, items, strict=True):
            if item >= 0:
                spelled.setdefault(item, []).append(
                    words[token] if words is not None else str(token)
                )
        counted = record.content[at].nonzero()[:, 0].tolist()
        return [" ".join(spelled.get(item, [])) for item in counted]

    return texts


def _query(record: Record, at: int, words: Sequence[str] | None) -> str:
    if record.batch.query is None or record.batch.query_mask is None or words is None:
        return ""
    asked = record.batch.query[at][record.batch.query_mask[at]].tolist()
    return " ".join(words[token] for token in asked[1:-1])  # without the start and end marks


def _pair(record: Record, at: int) -> list[int] | None:
    """Of a pair of texts: 0 for each counted item of the first and 1 for each of the second."""
    pair = getattr(record.batch, "pair", None)
    if pair is None or not bool(pair[at].any()):
        return None
    inside = record.item_of_token[at] >= 0
    text = torch.zeros(record.content.shape[1], dtype=pair.dtype, device=pair.device)
    text[record.item_of_token[at][inside]] = pair[at][inside]
    return text[record.content[at]].tolist()


def _evidence(record: Record, at: int) -> list[bool] | None:
    if record.batch.evidence is None:
        return None
    known = record.item_of_token[at][record.batch.evidence[at]]
    marked = torch.zeros(record.content.shape[1], dtype=torch.bool, device=known.device)
    marked[known[known >= 0]] = True
    return marked[record.content[at]].tolist()
