"""Law 4: the model is left as it was found."""

from __future__ import annotations

from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.module_state import modules_of
from attnaudit.laws.differences import FAILURES, difference
from attnaudit.laws.report import Law


def pure(model: AttentionModel, batch: Batch, record: Record, before: tuple[object, ...]) -> Law:
    """Law 4; before is the `fingerprint` of the model before it was used."""
    failed = False
    try:
        model.decode(record, record.alpha[..., :0])
    except FAILURES:
        failed = True
    changed = fingerprint(model) != before
    drift = difference(model.read(batch).logits, record.logits)
    return Law(
        "4 purity: mode, hooks, gradients and parameters are as found, also after an exception",
        float(changed) + drift,
        0.0,
        control=float(failed),
        hint="a hook, a mode or an attention implementation is not restored; use try/finally",
    )


def fingerprint(model: object) -> tuple[object, ...]:
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
