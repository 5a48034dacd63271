"""Find the attention that the logits depend on, by trial passes on the first batch."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.tolerance import tolerance_of
from attnaudit.models.hooked.attention_capture import ROWS
from attnaudit.models.hooked.custom_model_template import HookError
from attnaudit.models.hooked.passes import ForwardPass, HookOptions, run_pass
from attnaudit.models.hooked.positions import (
    HookSite,
    Rule,
    last_token,
    positions_of,
)
from attnaudit.models.interception import (
    class_weighted_sum,
    mark_positions,
)

_VERBS = {"multihead": "has", "returned": "returns", "softmax": "computes by a softmax inside"}


def find_site(options: HookOptions, batch: Batch) -> HookSite:
    """Try each way to reach the attention, the simplest first.

    If none works, the error gives the reason for each.
    """
    if isinstance(options.attention, nn.MultiheadAttention):
        return _try_site(options, batch, "multihead")
    try:
        return _try_site(options, batch, "returned")
    except HookError as returned:
        if options.output_index is not None:  # the user says that it is returned
            raise
        try:
            return _try_site(options, batch, "softmax")
        except HookError as inside:
            raise HookError(
                f"{returned.reason} {inside.reason}{_multihead_hint(options)}"
            ) from inside


def _multihead_hint(options: HookOptions) -> str:
    """Name the nn.MultiheadAttention inside the attention module, if there is one."""
    for name, module in options.attention.named_modules(prefix=options.alpha):
        if isinstance(module, nn.MultiheadAttention):
            return f" It holds an nn.MultiheadAttention: point alpha= at {name!r}."
    return ""


def _try_site(options: HookOptions, batch: Batch, access: str) -> HookSite:
    """Return the site reached in one way; reject it if the logits do not depend on it."""
    with differentiating():
        first = run_pass(options, batch, access=access)
        shape = first.capture.weights.shape
        positions_are_items, is_certain = _positions_are_items(options, batch, access, shape)
        rows_are_positions = first.capture.layout == ROWS and (
            positions_are_items or options.query != "auto"
        )
        words = first.embeddings.detach().clone().requires_grad_()
        plain = run_pass(
            options, batch, access=access, rows_are_positions=rows_are_positions, embeddings=words
        )
        _check_not_used_before(options, plain)
        leaf = plain.capture.weights.detach().requires_grad_()
        everywhere = torch.ones(leaf.shape[0], leaf.shape[2], dtype=torch.bool, device=leaf.device)
        again = run_pass(
            options,
            batch,
            access=access,
            rows_are_positions=rows_are_positions,
            embeddings=words,
            replace=lambda _: (leaf, everywhere),
        )
        _check_same_logits(options, again.logits, plain.logits)
        moving = _moving_positions(options, access, again.logits, leaf)
    rule = options.query
    if rule == "auto":
        rule = _find_rule(moving, batch, options.num_prefix_tokens, positions_are_items)
    site = HookSite(access, rows_are_positions, positions_are_items, rule, is_certain)
    _check_rule(site, options, batch, moving)
    return site


def _positions_are_items(
    options: HookOptions, batch: Batch, access: str, shape: torch.Size
) -> tuple[bool, bool]:
    """Return whether there is a row per token because rows are tokens, and whether that is certain.

    They are tokens if a shorter text has fewer of them.
    """
    heads, queries, items = shape[1:]
    if batch.tokens.shape[1] < 2:
        return queries == items, False
    last = mark_positions(last_token(batch)[:, None], batch.mask)
    shorter = batch.without(last & (batch.mask.sum(-1) > 1)[:, None])
    if shorter.tokens.shape[1] == batch.tokens.shape[1]:
        return queries == items, False
    other = run_pass(options, shorter, access=access).capture.weights.shape
    return other[1:3] != (heads, queries), True


def _check_not_used_before(options: HookOptions, plain: ForwardPass) -> None:
    """Reject weights that also reach the logits through another output of their module."""
    source, logits = plain.capture.source, class_weighted_sum(plain.logits)
    for part in plain.capture.other_outputs:
        if source is not None and _depends(logits, part) and _depends(part.sum(), source):
            raise HookError(
                f"The module {options.alpha!r} returns weights together with something it has "
                "already computed from them, and the logits depend on that too. Replacing the "
                "weights in its result would be too late. Point alpha= at the module that computes "
                "only the weights, often the softmax."
            )


def _depends(value: Tensor, on: Tensor) -> bool:
    """Return whether a scalar has a gradient with respect to a tensor."""
    if not (value.requires_grad and on.requires_grad):
        return False
    return torch.autograd.grad(value, on, retain_graph=True, allow_unused=True)[0] is not None


def _check_same_logits(options: HookOptions, again: Tensor, plain: Tensor) -> None:
    """Reject a model whose logits change when its own weights are put back."""
    error = (again - plain).abs().max().item()
    if not error <= tolerance_of(plain):
        raise HookError(
            f"Putting the weights of {options.alpha!r} back unchanged changes the logits by "
            f"{error:.1e}: they are not what the model uses, or the model is not deterministic."
        )


def _moving_positions(options: HookOptions, access: str, logits: Tensor, leaf: Tensor) -> Tensor:
    """Return the query positions whose attention, in the audited heads, moves the logits (B,Q)."""
    num_heads = leaf.shape[1]
    heads = range(num_heads) if options.heads is None else options.heads
    if any(not 0 <= head < num_heads for head in heads):
        raise InputError(
            f"There is no head {max(heads)}: {options.alpha!r} has {num_heads}, counted from 0."
        )
    grad = None
    if logits.requires_grad:
        grad = torch.autograd.grad(class_weighted_sum(logits), leaf, allow_unused=True)[0]
    if grad is None or not grad.any():
        raise HookError(
            f"Replacing the weights that {options.alpha!r} {_VERBS[access]} does not change the "
            "logits: they are for inspection only, or the graph is cut after them (detach, "
            "no_grad). Point alpha= at the module that computes the weights that are multiplied "
            "with the values, often the softmax."
        )
    return (grad != 0).any(-1)[:, list(heads)].any(1)


def _find_rule(
    moving: Tensor, batch: Batch, num_prefix_tokens: int, positions_are_items: bool
) -> Rule:
    """Return "first" or "last" if no other position moves the logits, else "all"."""
    for rule in ("first", "last"):
        positions = positions_of(
            rule, batch, moving.shape[1], num_prefix_tokens, positions_are_items
        )
        if not (moving & ~mark_positions(positions, moving)).any():
            return rule
    return "all"


def _check_rule(site: HookSite, options: HookOptions, batch: Batch, moving: Tensor) -> None:
    """Reject a query position that the logits do not depend on."""
    positions = positions_of(
        site.rule, batch, moving.shape[1], options.num_prefix_tokens, site.positions_are_items
    )
    if not moving.gather(1, positions).any():
        where = moving.any(0).nonzero()[:5, 0].tolist()
        raise InputError(
            f"The logits do not depend on the attention at query={options.query!r}, but on that at "
            f"position {', '.join(map(str, where))}. Omit query to have the position found."
        )
