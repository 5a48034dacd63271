"""Where is the attention that the logits hang on? Found by trying the model on the first batch it reads, and refused in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.hooked.custom_model_template import Refused
from attnaudit.models.hooked.passes import Pass, Wiring, run
from attnaudit.models.hooked.weights import ROWS

Rule = str | int | Callable[[Batch], Tensor]
RULES = ("first", "last", "all")
_VERBS = {"multihead": "has", "returned": "returns", "inside": "computes by a softmax inside"}


@dataclass(frozen=True, eq=False)
class Site:
    how: str  # the attention is "multihead", "returned" or met "inside"
    positions: bool  # the R of (B,R,N) are query positions, not heads
    follows: bool  # there are as many query positions as items
    rule: Rule  # the query position
    certain: bool  # the batch was long enough to tell


def find_site(wiring: Wiring, batch: Batch) -> Site:
    """Try the ways to reach the attention, the plainest first; where none serves, every reason is told."""
    if isinstance(wiring.attention, nn.MultiheadAttention):
        return _tried(wiring, batch, "multihead")
    try:
        return _tried(wiring, batch, "returned")
    except Refused as plain:
        if wiring.member is not None:  # the user has said that it is returned
            raise
        try:
            return _tried(wiring, batch, "inside")
        except Refused as hidden:
            raise Refused(f"{plain.reason} {hidden.reason}{_nearby(wiring)}") from hidden


def _nearby(wiring: Wiring) -> str:
    for name, module in wiring.attention.named_modules(prefix=wiring.alpha):
        if isinstance(module, nn.MultiheadAttention):
            return f" It holds an nn.MultiheadAttention: point alpha= at {name!r}."
    return ""


def _tried(wiring: Wiring, batch: Batch, how: str) -> Site:
    with differentiating():
        first = run(wiring, batch, how=how)
        shape = first.found.weights.shape
        follows, certain = _goes_with_length(wiring, batch, how, shape)
        positions = first.found.layout == ROWS and (follows or wiring.query != "auto")
        words = first.embeddings.detach().clone().requires_grad_()
        plain = run(wiring, batch, how=how, positions=positions, embeddings=words)
        _not_used_before(wiring, plain)
        leaf = plain.found.weights.detach().requires_grad_()
        everywhere = torch.ones(leaf.shape[0], leaf.shape[2], dtype=torch.bool, device=leaf.device)
        again = run(
            wiring,
            batch,
            how=how,
            positions=positions,
            embeddings=words,
            change=lambda _: (leaf, everywhere),
        )
        _returns(again.logits, plain.logits, wiring)
        moved = _moves(wiring, how, again.logits, leaf)
    rule = wiring.query if wiring.query != "auto" else _rule(moved, batch, wiring.before, follows)
    site = Site(how, positions, follows, rule, certain)
    _hangs_on_rule(site, wiring, batch, moved)
    return site


def _goes_with_length(
    wiring: Wiring, batch: Batch, how: str, shape: torch.Size
) -> tuple[bool, bool]:
    """Are there as many rows as tokens because they are tokens? They are if a shorter text has fewer."""
    heads, queries, items = shape[1:]
    if batch.tokens.shape[1] < 2:
        return queries == items, False
    last = (
        torch.arange(batch.tokens.shape[1], device=batch.mask.device) == _last(batch.mask)[:, None]
    )
    shorter = batch.without(last & (batch.mask.sum(-1) > 1)[:, None])
    if shorter.tokens.shape[1] == batch.tokens.shape[1]:
        return queries == items, False
    other = run(wiring, shorter, how=how).found.weights.shape
    return other[1:3] != (heads, queries), True


def _not_used_before(wiring: Wiring, plain: Pass) -> None:
    """Is there another way from the weights to the logits, through something else that the module returned?"""
    source, logits = plain.found.source, _weighted(plain.logits)
    for part in plain.found.beside:
        if source is not None and _hangs(logits, part) and _hangs(part.sum(), source):
            raise Refused(
                f"The module {wiring.alpha!r} returns weights together with something it has already computed from them, and the logits "
                "hang on that too. Other weights in the result would come too late. Point alpha= at the module that computes the "
                "weights alone, often the softmax."
            )


def _hangs(value: Tensor, on: Tensor) -> bool:
    if not (value.requires_grad and on.requires_grad):
        return False
    return torch.autograd.grad(value, on, retain_graph=True, allow_unused=True)[0] is not None


def _weighted(logits: Tensor) -> Tensor:
    """So that classes cannot cancel."""
    return (logits * torch.arange(1, logits.shape[1] + 1, device=logits.device)).sum()


def _returns(again: Tensor, plain: Tensor, wiring: Wiring) -> None:
    error = (again - plain).abs().max().item()
    if not error <= tolerance_of(plain):
        raise Refused(
            f"Putting the weights of {wiring.alpha!r} back as they were changes the logits by {error:.1e}: they are not what the "
            "model uses, or the model is not deterministic."
        )


def _moves(wiring: Wiring, how: str, logits: Tensor, leaf: Tensor) -> Tensor:
    """(B,Q) bool: the logits hang on the attention of the audited heads at this position."""
    heads = leaf.shape[1]
    wanted = range(heads) if wiring.heads is None else wiring.heads
    if any(not 0 <= head < heads for head in wanted):
        raise InputError(
            f"There is no head {max(wanted)}: {wiring.alpha!r} has {heads}, counted from 0."
        )
    grad = None
    if logits.requires_grad:
        grad = torch.autograd.grad(_weighted(logits), leaf, allow_unused=True)[0]
    if grad is None or not grad.any():
        raise Refused(
            f"Other weights in the place of those that {wiring.alpha!r} {_VERBS[how]} do not change the logits: they are for looking only, or "
            "the graph is cut after them (detach, no_grad). Point alpha= at the module that computes the weights which are multiplied with "
            "the values, often the softmax."
        )
    return (grad != 0).any(-1)[:, list(wanted)].any(1)


def _rule(moved: Tensor, batch: Batch, before: int, follows: bool) -> Rule:
    """The first or the last position where just that one matters, else all."""
    for rule in ("first", "last"):
        at = positions_of(rule, batch, moved.shape[1], before, follows)
        if not (moved & ~torch.zeros_like(moved).scatter(1, at, True)).any():
            return rule
    return "all"


def _hangs_on_rule(site: Site, wiring: Wiring, batch: Batch, moved: Tensor) -> None:
    at = positions_of(site.rule, batch, moved.shape[1], wiring.before, site.follows)
    if not moved.gather(1, at).any():
        where = moved.any(0).nonzero()[:5, 0].tolist()
        raise InputError(
            f"The logits do not hang on the attention at query={wiring.query!r}, but on that at position {', '.join(map(str, where))}. "
            "Leave query out to have the position found."
        )


def positions_of(rule: Any, batch: Batch, queries: int, before: int, follows: bool) -> Tensor:
    """(B,P) query positions: one an example, or all of them. A text that is too short for the position named is read at its last."""
    if rule == "all" or queries == 1:
        return torch.arange(queries, device=batch.mask.device).expand(len(batch), queries)
    last = (
        _last(batch.mask) + before if follows else torch.full_like(_last(batch.mask), queries - 1)
    )
    if rule == "last":
        at = last
    elif rule == "first":
        at = torch.zeros_like(last)
    elif isinstance(rule, int):
        at = (
            torch.minimum(last, torch.full_like(last, rule))
            if rule >= 0
            else (last + 1 + rule).clamp_min(0)
        )
    else:
        at = rule(batch)
        if (
            not isinstance(at, Tensor)
            or at.shape != last.shape
            or bool(((at < 0) | (at >= queries)).any())
        ):
            raise InputError(
                f"query= must give one position from 0 to {queries - 1} for each example, a tensor of shape ({len(batch)},)."
            )
    return at[:, None]


def items_of(wiring: Wiring, batch: Batch) -> tuple[Tensor, Tensor]:
    """(B,N) bool twice: what may be attended, and what counts. Items that the model puts before the text do not count."""
    own = torch.ones(len(batch), wiring.before, dtype=torch.bool, device=batch.mask.device)
    may = torch.cat([own, batch.mask], 1) if wiring.mask is None else wiring.mask(batch)
    if may.shape != (len(batch), wiring.before + batch.tokens.shape[1]) or may.dtype != torch.bool:
        raise InputError(
            f"mask= must give a bool tensor of shape (B,N) = {(len(batch), wiring.before + batch.tokens.shape[1])}, True where an item "
            f"may be attended; got {tuple(may.shape)}, {may.dtype}."
        )
    return may, may & torch.cat([~own, batch.mask], 1)


def real_rows(site: Site, wiring: Wiring, batch: Batch, at: Tensor) -> Tensor:
    """(B,P) bool: the query position holds something real."""
    if not site.follows:
        return torch.ones_like(at, dtype=torch.bool)
    own = torch.ones(len(batch), wiring.before, dtype=torch.bool, device=batch.mask.device)
    return torch.cat([own, batch.mask], 1).gather(1, at)


def _last(mask: Tensor) -> Tensor:
    place = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    return masking.fill(place, mask, -1).amax(-1).clamp_min(0)
