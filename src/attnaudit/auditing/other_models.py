"""Are further trainings of a model comparable with it? They must read the same tokens and decide between the same classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from attnaudit.core.contract import AttentionModel, Batch
from attnaudit.core.errors import InputError

_PROBE = "The film was GOOD, naïve and unforgettably dull: 12 of 10!"


def check_other_models(
    model: AttentionModel, others: Sequence[AttentionModel], batch: Batch
) -> None:
    """Reject, before any audit, a model with other classes, another tokenizer or other rows. One text of the batch is read by each."""
    for number, other in enumerate(others):
        if not isinstance(other, AttentionModel):
            raise InputError(
                f"other_models[{number}] must be a model with read and decode, as the audited one; got {type(other).__name__}."
            )
        _same_names(
            number, getattr(model, "class_names", None), getattr(other, "class_names", None)
        )
        _same_tokenizer(
            number, getattr(model, "tokenizer", None), getattr(other, "tokenizer", None)
        )
    if not others:
        return
    one = batch.rows(torch.zeros(1, dtype=torch.long))
    with torch.no_grad():
        own = model.read(one)
        for number, other in enumerate(others):
            record = other.read(one)
            classes, rows = record.logits.shape[1], record.alpha.shape[1:]
            if classes != own.logits.shape[1]:
                raise InputError(
                    f"other_models[{number}] decides between {classes} classes, the audited model between {own.logits.shape[1]}. "
                    "Give other trainings of the same model."
                )
            if rows != own.alpha.shape[1:]:
                raise InputError(
                    f"other_models[{number}] attends with {rows[0]} rows over {rows[1]} items, the audited model with "
                    f"{own.alpha.shape[1]} rows over {own.alpha.shape[2]}. Give other trainings of the same model."
                )


def _same_names(number: int, own: Sequence[str] | None, names: Sequence[str] | None) -> None:
    if own is None or names is None or list(own) == list(names):
        return
    raise InputError(
        f"other_models[{number}] has other classes ({_listed(names)}) than the audited model ({_listed(own)}). "
        "Give other trainings of the same model, with the classes in the same order."
    )


def _same_tokenizer(number: int, own: Any, other: Any) -> None:
    """The batch holds the audited model's token numbers, which must mean the same to the other."""
    if own is None or other is None or own is other:
        return
    if (
        own.get_vocab() != other.get_vocab()
        or own(_PROBE)["input_ids"] != other(_PROBE)["input_ids"]
    ):
        raise InputError(
            f"other_models[{number}] has another tokenizer ({len(other)} tokens) than the audited model ({len(own)} tokens): the "
            "same token numbers would be other words. Give other trainings of the same model."
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(str(name)[:30]) for name in names[:8]) + (" …" if len(names) > 8 else "")
