"""Examples kept whole for heatmaps: words, attention, furthest attention, scores and readout."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch

from attnaudit.auditing.stored_moves import examples_with_moves, stored_moves
from attnaudit.auditing.word_level import source_of_items
from attnaudit.audits.furthest import alternative
from attnaudit.audits.heatmap import weight_on_marks
from attnaudit.core.contract import AttentionModel, Record
from attnaudit.data.citations import CitationBatch
from attnaudit.data.sampling import sampled
from attnaudit.measures.citations.attention import shuffled_order
from attnaudit.results.audit_names import resolve_audit_name

MOST_TOKENS = 200_000  # kept in all, unless the number of examples is given


class _Labelled(NamedTuple):
    example_id: str
    label: int


def choose_examples(
    ids: Sequence[str], labels: Sequence[int], tokens: int, count: int | None, seed: int
) -> frozenset[str]:
    """The ids of a random sample of examples, stratified by label, whatever their order.

    Parameters
    ----------
    ids, labels : one per example; -1 for an example without a label.
    tokens : of all examples together.
    count : int or None
        None keeps all examples, or as large a share of them as has `MOST_TOKENS` tokens.
    seed : int

    Examples
    --------
    >>> len(choose_examples([f"test/{n}" for n in range(40)], [0, 1] * 20, 800, 10, seed=0))
    10
    """
    if count is None:
        count = len(ids) * min(MOST_TOKENS, tokens) // max(tokens, 1)
    if not count:
        return frozenset()
    if count >= len(ids):
        return frozenset(ids)
    examples = sorted(map(_Labelled, ids, labels))
    return frozenset(example.example_id for example in sampled(examples, count, seed))


def furthest_options(audits: Mapping[str, Callable[..., Any]]) -> dict[str, Any] | None:
    """The options of the audit `furthest` among the chosen ones; None if it was not chosen."""
    name = resolve_audit_name("furthest", audits)
    if name is None or name not in audits:
        return None
    chosen = audits[name]
    return dict(chosen.keywords) if isinstance(chosen, partial) else {}


def example_rows(
    model: AttentionModel,
    record: Record,
    scores: dict[str, torch.Tensor],
    seed: int,
    chosen: frozenset[str],
    words: Sequence[str] | None,
    *,
    furthest: dict[str, Any] | None,
) -> list[dict[str, Any]]:
    """One row of the example table per chosen example of the batch.

    Lists per item hold the items that count, in order. furthest: the options of that audit, whose
    attention is stored; if it was not run the row has None, and NaN for the numbers.
    """
    indices = [index for index, name in enumerate(record.batch.example_id) if name in chosen]
    if not indices:
        return []
    other, jsd, upper, exact = _furthest_attention(model, record, seed, indices, furthest)
    item_texts = _item_texts(model, record, words)
    on_marks = weight_on_marks(record)
    # A model that answers from sources has a page of its own, without a playground.
    answers = hasattr(model, "answer_attention")
    with_moves = frozenset() if answers else examples_with_moves(chosen)
    rows = []
    for place, index in enumerate(indices):
        counted = record.content[index]
        label = -1 if record.batch.labels is None else int(record.batch.labels[index])
        readout = None
        if record.readout is not None:
            readout = record.readout[index, counted].double().flatten().tolist()
        rows.append(
            {
                "example_id": record.batch.example_id[index],
                "label": label,
                "predicted": int(record.predicted[index]),
                "probs": record.probs[index].double().tolist(),
                "tokens": item_texts(index),
                "query": _query(record, index, words),
                "evidence": _evidence(record, index),
                "attention": record.alpha[index][:, counted].double().flatten().tolist(),
                "pair": _pair(record, index),
                # (R,) weight on what does not count, such as [CLS] and [SEP]
                "weight_on_marks": on_marks[index].tolist(),
                "furthest": None
                if other is None
                else other[place][:, counted].double().flatten().tolist(),
                "furthest_jsd": float(jsd[place]),
                "furthest_upper": float(upper[place]),
                "furthest_exact": bool(exact[place]),
                "readout": readout,  # items × classes, row by row
                "scores": [
                    {
                        "measure": name,
                        "values": score[index][..., counted].double().flatten().tolist(),
                    }
                    for name, score in scores.items()
                    if name not in ("attention", "random")
                ],
                "moves": stored_moves(
                    model, record, index, seed, None if other is None else other[place]
                )
                if record.batch.example_id[index] in with_moves
                else None,
                **_answer(model, record, index, seed if "attention_shuffled" in scores else None),
            }
        )
    return rows


def _answer(model: AttentionModel, record: Record, index: int, seed: int | None) -> dict[str, Any]:
    """For a model that answers from sources: the answer's tokens, and their attention to each.

    seed: of the other order of the sources; None if there was none.
    """
    method = getattr(model, "answer_attention", None)
    if method is None:
        return {}
    tokens, weights = method(record, index)
    counted = record.content[index]
    return {
        "answer": tokens,
        "answer_attention": weights[:, counted].double().flatten().tolist(),
        "shuffled_order": None
        if seed is None
        else [source for source in shuffled_order(record, seed)[index].tolist() if source >= 0],
        "source_of_word": _source_of_word(record, index),
    }


def _source_of_word(record: Record, index: int) -> list[int] | None:
    """The number of the source of each counted word; None if sources are items."""
    batch = record.batch
    if not isinstance(batch, CitationBatch) or batch.source is None:
        return None
    sources = source_of_items(record, index)
    return None if len(set(sources)) == len(sources) else sources


def _furthest_attention(
    model: AttentionModel,
    record: Record,
    seed: int,
    indices: list[int],
    furthest: dict[str, Any] | None,
) -> tuple[torch.Tensor | None, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The answer of the audit `furthest` for some examples; None if it was not run."""
    if furthest is None:
        nan = torch.full((len(indices),), torch.nan)
        return None, nan, nan, torch.zeros_like(nan, dtype=torch.bool)
    with torch.no_grad():
        alpha, jsd, upper, exact = alternative(model, record, seed, **furthest)
    return alpha[indices], jsd[indices], upper[indices], exact[indices]


def _item_texts(
    model: AttentionModel, record: Record, words: Sequence[str] | None
) -> Callable[[int], list[str]]:
    """index -> the text of each counted item; by the model's own `spell` without a vocabulary."""
    spell = getattr(model, "spell", None) if words is None else None

    def texts(index: int) -> list[str]:
        counted = record.content[index].nonzero()[:, 0].tolist()
        if spell is not None:
            spelled_items = spell(record, index)
            return [spelled_items[item] for item in counted]
        tokens = record.batch.tokens[index].tolist()
        items = record.item_of_token[index].tolist()
        spelled: dict[int, list[str]] = {}
        for token, item in zip(tokens, items, strict=True):
            if item >= 0:
                word = str(token) if words is None else words[token]
                spelled.setdefault(item, []).append(word)
        return [" ".join(spelled.get(item, [])) for item in counted]

    return texts


def _query(record: Record, index: int, words: Sequence[str] | None) -> str:
    if asked := getattr(record.batch, "examples", None):
        return str(asked[index].question)
    if record.batch.query is None or record.batch.query_mask is None or words is None:
        return ""
    tokens = record.batch.query[index][record.batch.query_mask[index]].tolist()
    return " ".join(words[token] for token in tokens[1:-1])  # without the start and end marks


def _pair(record: Record, index: int) -> list[int] | None:
    """For a pair of texts: 0 for each counted item of the first text, 1 for each of the second."""
    pair = getattr(record.batch, "pair", None)
    if pair is None or not bool(pair[index].any()):
        return None
    in_item = record.item_of_token[index] >= 0
    text = torch.zeros(record.content.shape[1], dtype=pair.dtype, device=pair.device)
    text[record.item_of_token[index][in_item]] = pair[index][in_item]
    return text[record.content[index]].tolist()


def _evidence(record: Record, index: int) -> list[bool] | None:
    """Whether each counted item is evidence; None if the data does not say."""
    if record.batch.evidence is None:
        return None
    items = record.item_of_token[index][record.batch.evidence[index]]
    is_evidence = torch.zeros(record.content.shape[1], dtype=torch.bool, device=items.device)
    is_evidence[items[items >= 0]] = True
    return is_evidence[record.content[index]].tolist()
