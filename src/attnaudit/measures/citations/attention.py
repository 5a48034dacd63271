"""Attention from the answer to the sources, in the forms in which it is shown as a citation."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor

from attnaudit.core.contract import AttentionModel, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.option_limits import ParsedBy, limits
from attnaudit.core.randomness import derive
from attnaudit.measures.rounding import of_each_score, rounding_error


@rounding_error(of_each_score)
def attention(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Weight on each source (B,N), averaged over all rows (layers × heads)."""
    return _on_sources(record.alpha.detach().mean(1), record)


@rounding_error(of_each_score)
def attention_renormalised(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """The same with every head's weights divided by its weight on all sources (B,N).

    Heads that mostly attend to the first token, where attention sinks, then count as much as
    others.
    """
    weights = record.alpha.detach() * record.content[:, None]
    total = weights.sum(-1, keepdim=True)
    shares = weights / total.where(total > 0, 1.0)
    rows = (total > 0).sum(1).clamp_min(1)
    return _on_sources(shares.sum(1) / rows, record)


def calibrated_attention(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Attention minus attention under an empty question (B,N); may be negative."""
    without = _method(model, "without_question")
    with torch.no_grad():
        empty = without(record)
    return attention(model, record, seed) - _on_sources(empty.alpha.mean(1), record)


@rounding_error(of_each_score)
def attention_shuffled(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Attention when the sources stand in another order, in which none keeps its place (B,N).

    The weight is given back to the source it was on. NaN for an example of one source.
    """
    reordered = _method(model, "reordered")
    order = shuffled_order(record, seed)
    with torch.no_grad():
        other = reordered(record, order)
    weights = other.alpha.mean(1)
    first = int(record.content.float().argmax(-1).min())  # the item of the first source
    back = torch.full_like(record.alpha[:, 0], torch.nan)
    for index, row in enumerate(order.tolist()):
        for place, source in enumerate(row):
            if source >= 0 and len(row) > 1:
                back[index, first + source] = weights[index, first + place]
    back[record.length < 2] = torch.nan
    return back


def shuffled_order(record: Record, seed: int) -> Tensor:
    """A random order of the sources in which none keeps its place (B,S); -1 after the last.

    order[i] is the source at place i. It depends on (seed, example id) only.
    """
    lengths = record.length.tolist()
    rows = []
    for name, count in zip(record.batch.example_id, lengths, strict=True):
        draw = random.Random(derive(seed, "source order", name))
        order = list(range(count))
        while count > 1 and any(place == source for place, source in enumerate(order)):
            draw.shuffle(order)
        rows.append(order + [-1] * (max(lengths) - count))
    return torch.tensor(rows)


@rounding_error(of_each_score)
def rollout(model: AttentionModel, record: Record, seed: int) -> Tensor:
    """Attention traced through all layers down to the sources (B,N) (Abnar & Zuidema 2020)."""
    with torch.no_grad():
        return _on_sources(_method(model, "rollout")(record), record)


def parse_heads(text: Any) -> list[str]:
    """The heads in "0.3+11.2", as layer.head."""
    parts = str(text).split("+")
    if not all(
        layer.isdigit() and head.isdigit() for layer, _, head in (p.partition(".") for p in parts)
    ):
        raise InputError(f"heads must be layer.head joined by +, such as 0.3+11.2; got {text!r}.")
    return parts


@rounding_error(of_each_score)
@limits(heads=ParsedBy(parse_heads))
def named_heads(model: AttentionModel, record: Record, seed: int, *, heads: str = "0.0") -> Tensor:
    """Weight on each source (B,N), averaged over some heads, such as "0.3+11.2"."""
    rows: list[str] = getattr(model, "about", {}).get("rows", [])
    wanted = parse_heads(heads)
    unknown = [head for head in wanted if head not in rows]
    if unknown:
        raise NotApplicable(f"the model has no head {unknown[0]} among those that were read")
    chosen = [rows.index(head) for head in wanted]
    return _on_sources(record.alpha.detach()[:, chosen].mean(1), record)


def _on_sources(weights: Tensor, record: Record) -> Tensor:
    """Weights (B,N) with NaN for items that are not sources."""
    return weights.detach().masked_fill(~record.content, torch.nan)


def _method(model: AttentionModel, name: str) -> Any:
    method = getattr(model, name, None)
    if method is None:
        raise NotApplicable(f"the model has no {name}")
    return method
