"""The laws every model must keep, checked one by one; laws/report.py puts the outcome in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from attnaudit.core.autograd import differentiating
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError
from attnaudit.core.item_deletion import leave_out_by_reading
from attnaudit.core.module_state import modules_of
from attnaudit.core.simplex import random_alpha
from attnaudit.core.tolerance import tolerance_of
from attnaudit.laws.report import Law, LawReport

# How a model can fail on input it does not expect.
_FAILURES = (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError)


def check_model(model: AttentionModel, batch: Batch, *, seed: int = 0) -> LawReport:
    """Check every law on a batch.

    Parameters
    ----------
    model : AttentionModel
    batch : Batch
        Several examples of different lengths.
    seed : int
        For the random attention that some laws need.

    Returns
    -------
    LawReport

    Examples
    --------
    >>> from attnaudit.models.glass import Glass, glass_batch
    >>> report = check_model(Glass("oracle"), glass_batch(6))
    >>> report.kept
    True
    """
    before = _fingerprint(model)
    try:
        record = model.read(batch)
    except InputError:
        raise  # its message is for the user
    except _FAILURES as failure:
        hint = f"{_raised(failure)}; try it on a batch of its own texts"
        return LawReport((Law("0 reading: the model reads the batch", math.inf, 0.0, hint=hint),))
    checks: dict[str, Callable[[], list[Law]]] = {
        "finite": lambda: [_finite(record)],
        "1 round trip": lambda: [_round_trip(model, record, seed)],
        "2 simplex": lambda: [_simplex(record)],
        "3 differentiable": lambda: _differentiable(model, batch),
        "5 padding": lambda: _padding(model, batch, record),
        "6 determinism": lambda: [_deterministic(model, batch, record)],
    }
    readout = record.readout
    if readout is not None:
        checks["7 readout"] = lambda: [_readout(model, record, readout, seed)]
    if hasattr(model, "leave_out"):
        checks["8 leave_out"] = lambda: [_leave_out(model, record)]
    checks["4 purity"] = lambda: [_pure(model, batch, record, before)]
    return LawReport(tuple(law for name, check in checks.items() for law in _attempt(name, check)))


def _attempt(name: str, check: Callable[[], list[Law]]) -> list[Law]:
    """A model that raises has broken the law being checked; the others are still checked."""
    try:
        return check()
    except _FAILURES as failure:
        return [Law(name, math.inf, 0.0, hint=_raised(failure))]


def _raised(failure: Exception) -> str:
    return f"the model raised {type(failure).__name__}: {failure}"


def _difference(a: Tensor, b: Tensor) -> float:
    """The largest absolute difference."""
    return (a - b).abs().max().item() if a.numel() else 0.0


def _largest(*errors: float) -> float:
    """The largest, or NaN if any is NaN, which Python's max may ignore."""
    return math.nan if any(math.isnan(error) for error in errors) else max(errors)


def _finite(record: Record) -> Law:
    real = record.alpha[record.mask]
    bad = (~torch.isfinite(real)).sum() + (~torch.isfinite(record.logits)).sum()
    return Law(
        "finite: no NaN in attention or logits",
        float(bad),
        0.0,
        hint="an empty row or an overflow in the model",
    )


def _round_trip(model: AttentionModel, record: Record, seed: int) -> Law:
    back = model.decode(record, record.alpha)
    several = torch.stack(
        [record.alpha, *random_alpha(record.mask, seed, record.alpha.dtype, 2).unbind(1)], 1
    )
    many = model.decode(record, several)
    error = _largest(
        _difference(back, record.logits),
        _difference(many[:, 0], record.logits),
        _difference(many[:, 1], model.decode(record, several[:, 1])),
    )
    return Law(
        "1 round trip: decode(record, record.alpha) gives record.logits, one or several at a time",
        error,
        tolerance_of(record.logits),
        control=_difference(many[:, 1], record.logits),
        hint="decode does not continue from the same place that read recorded, "
        "or several alternatives are mixed up",
    )


def _simplex(record: Record) -> Law:
    has_items = record.mask.any(-1)
    off_simplex = (record.alpha.sum(-1) - 1).abs().masked_fill(~has_items, 0.0).max().item()
    negative = (-record.alpha).clamp_min(0).max().item()
    outside = record.alpha.masked_fill(record.mask, 0.0).abs().max().item()
    stray = (record.content & ~record.mask.any(1)).sum().item()
    return Law(
        "2 simplex: rows are non-negative, sum to 1 and are 0 outside the mask",
        _largest(off_simplex, negative, outside, float(stray)),
        tolerance_of(record.alpha),
        hint="padding is attended, or what is returned is scores rather than weights",
    )


def _differentiable(model: AttentionModel, batch: Batch) -> list[Law]:
    laws, grads = [], _gradients(model, batch)
    for name, grad in zip(("alpha", "embeddings"), grads, strict=True):
        missing = grad is None or not bool(torch.isfinite(grad).all())
        laws.append(
            Law(
                f"3 differentiable in {name}",
                float(missing),
                0.0,
                control=0.0 if grad is None else grad.abs().max().item(),
                hint="the graph is cut: detach, no_grad or inference_mode, "
                "or embeddings= is not used",
            )
        )
    return laws


def _gradients(model: AttentionModel, batch: Batch) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of the logits in alpha and in the embeddings; None if there is no graph."""
    try:
        with differentiating():
            return _graph(model, batch)
    except RuntimeError:  # there is no graph, or a tensor was made in inference mode
        return None, None


def _graph(model: AttentionModel, batch: Batch) -> tuple[Tensor | None, Tensor | None]:
    embeddings = model.read(batch).embeddings.detach().clone().requires_grad_()
    record = model.read(batch, embeddings)
    alpha = record.alpha.detach().clone().requires_grad_()
    logits = model.decode(record, alpha)
    # Weighted so that classes cannot cancel.
    weighted = (logits * torch.arange(1, logits.shape[1] + 1, device=logits.device)).sum()
    gradients = torch.autograd.grad(weighted, [alpha, embeddings], allow_unused=True)
    return gradients[0], gradients[1]


def _padding(model: AttentionModel, batch: Batch, record: Record) -> list[Law]:
    """Compare each example alone with itself in a batch whose padding has other tokens."""
    in_batch = model.read(_dirty(batch))
    logits = _difference(in_batch.logits, record.logits)
    same_shape = in_batch.alpha.shape == record.alpha.shape
    weights = _difference(in_batch.alpha, record.alpha) if same_shape else math.inf
    nothing = torch.zeros_like(batch.mask[:1])
    for index in range(min(len(batch), 8)):
        alone = model.read(batch.rows(torch.tensor([index])).without(nothing))
        logits = _largest(logits, _difference(alone.logits[0], record.logits[index]))
        same = record.alpha[index, : alone.alpha.shape[1], : alone.alpha.shape[2]]
        fits = same.shape == alone.alpha.shape[1:]
        weights = _largest(weights, _difference(alone.alpha[0], same) if fits else math.inf)
    others = _difference(record.logits, record.logits.roll(1, 0))
    hint = (
        "the padding mask does not reach the encoder or the attention, "
        "or a layer mixes examples (batch norm)"
    )
    return [
        Law(
            "5 padding and batch independence of logits",
            logits,
            tolerance_of(record.logits),
            others,
            hint,
        ),
        Law(
            "5 padding and batch independence of alpha",
            weights,
            tolerance_of(record.alpha),
            hint=hint,
        ),
    ]


def _dirty(batch: Batch) -> Batch:
    """The same texts with other tokens in the padding, also of the query."""
    other = batch.tokens.max()
    query = batch.query
    if query is not None and batch.query_mask is not None:
        query = query.where(batch.query_mask, other)
    return replace(batch, tokens=batch.tokens.where(batch.mask, other), query=query)


def _deterministic(model: AttentionModel, batch: Batch, record: Record) -> Law:
    again = model.read(batch)
    error = _largest(
        _difference(again.logits, record.logits), _difference(again.alpha, record.alpha)
    )
    return Law(
        "6 determinism: reading twice gives the same",
        error,
        0.0,
        hint="dropout or sampling is on: call eval()",
    )


def _readout(model: AttentionModel, record: Record, readout: Tensor, seed: int) -> Law:
    attends = record.mask.any(-1).all(-1)  # an example with an empty row has no attention
    other = random_alpha(record.mask, seed, record.alpha.dtype)
    expected = (other[:, :, 0] @ readout)[attends]
    return Law(
        "7 readout: decode(record, a) equals a @ readout for any a on the simplex",
        _difference(model.decode(record, other)[attends], expected),
        tolerance_of(expected),
        control=_difference(expected[:, 0], expected[:, 1]),
        hint="the output is not linear in the attended items; leave readout=None",
    )


def _leave_out(model: AttentionModel, record: Record) -> Law:
    fast: Callable[[Record], Tensor] = model.leave_out  # type: ignore[attr-defined]
    plain = leave_out_by_reading(model, record)
    answered = torch.isfinite(plain)
    return Law(
        "8 leave_out equals reading again without the item",
        _difference(fast(record)[answered], plain[answered]),
        tolerance_of(plain[answered]),
        control=_difference(plain[answered], record.logits[:, None].expand_as(plain)[answered]),
        hint="leave_out must delete the token and close the gap, not blank it",
    )


def _pure(model: AttentionModel, batch: Batch, record: Record, before: tuple[object, ...]) -> Law:
    failed = False
    try:
        model.decode(record, record.alpha[..., :0])
    except _FAILURES:
        failed = True
    changed = _fingerprint(model) != before
    drift = _difference(model.read(batch).logits, record.logits)
    return Law(
        "4 purity: mode, hooks, gradients and parameters are as found, also after an exception",
        float(changed) + drift,
        0.0,
        control=float(failed),
        hint="a hook, a mode or an attention implementation is not restored; use try/finally",
    )


def _fingerprint(model: object) -> tuple[object, ...]:
    """Mode, hooks, gradients, parameters and buffers of every module the model holds."""
    seen: list[object] = []
    for module in modules_of(model):
        hooks = (
            len(module._forward_hooks),
            len(module._forward_pre_hooks),
            len(module._backward_hooks),
        )
        seen.append(
            (
                module.training,
                hooks,
                getattr(getattr(module, "config", None), "_attn_implementation", None),
            )
        )
        for parameter in module.parameters(recurse=False):
            seen.append((parameter.requires_grad, parameter.grad is None, parameter._version))
        seen += [buffer._version for buffer in module.buffers(recurse=False)]
    return tuple(seen)
