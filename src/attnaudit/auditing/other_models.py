"""Check that other trainings of a model are comparable: same tokens, classes and rows."""

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
    """Reject models with other classes, another tokenizer or other rows, before any audit runs.

    The first text of the batch is read by each model.
    """
    for index, other in enumerate(others):
        if not isinstance(other, AttentionModel):
            raise InputError(
                f"other_models[{index}] must be a model with read and decode, as the audited one; "
                f"got {type(other).__name__}."
            )
        _check_class_names(
            index, getattr(model, "class_names", None), getattr(other, "class_names", None)
        )
        _check_tokenizer(
            index, getattr(model, "tokenizer", None), getattr(other, "tokenizer", None)
        )
    if not others:
        return
    first = batch.rows(torch.zeros(1, dtype=torch.long))
    with torch.no_grad():
        own = model.read(first)
        for index, other in enumerate(others):
            record = other.read(first)
            classes, rows = record.logits.shape[1], record.alpha.shape[1:]
            if classes != own.logits.shape[1]:
                raise InputError(
                    f"other_models[{index}] decides between {classes} classes, the audited model "
                    f"between {own.logits.shape[1]}. Give other trainings of the same model."
                )
            if rows != own.alpha.shape[1:]:
                raise InputError(
                    f"other_models[{index}] attends with {rows[0]} rows over {rows[1]} items, the "
                    f"audited model with {own.alpha.shape[1]} rows over {own.alpha.shape[2]}. "
                    "Give other trainings of the same model."
                )


def _check_class_names(index: int, own: Sequence[str] | None, other: Sequence[str] | None) -> None:
    if own is None or other is None or list(own) == list(other):
        return
    raise InputError(
        f"other_models[{index}] has other classes ({_listed(other)}) than the audited model "
        f"({_listed(own)}). Give other trainings of the same model, with the classes in the same "
        "order."
    )


def _check_tokenizer(index: int, own: Any, other: Any) -> None:
    """The batch holds token ids of the audited model, which must mean the same to the other."""
    if own is None or other is None or own is other:
        return
    if (
        own.get_vocab() != other.get_vocab()
        or own(_PROBE)["input_ids"] != other(_PROBE)["input_ids"]
    ):
        raise InputError(
            f"other_models[{index}] has another tokenizer ({len(other)} tokens) than the audited "
            f"model ({len(own)} tokens): the same token ids would be other words. "
            "Give other trainings of the same model."
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(str(name)[:30]) for name in names[:8]) + (" …" if len(names) > 8 else "")
