"""Leave-one-out and gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from benchmarks.reference import measures as reference
from benchmarks.speed import essentials, limits
from benchmarks.speed.row import Numbers, Row, per_text
from benchmarks.speed.setting import Corpus, plain, records, trained
from torch import Tensor

from attnaudit.core.special_tokens import END
from attnaudit.measures import MEASURES
from attnaudit.measures.shared_pass import passes_shared

# Encoder, name, and how many times as fast leaving out should be.
ENCODERS = (("bilstm", "BiLSTM", 6.0), ("cnn", "CNN", 6.0), ("average", "context-free", 50.0))
GRADIENTS = ("gradient", "gradient_norm", "hidden_gradient", "attention_gradient")
# Scaled to sum to 1 over the words of a text.
SHARES = ("gradient_norm", "hidden_gradient")


def of_measures(model: Any, batches: list[Any], names: tuple[str, ...]) -> Numbers:
    """The scores of the measures, text by text."""
    numbers = []
    for record in records(model, batches):
        with passes_shared():  # as in an audit
            for name in names:
                scores = MEASURES[name](model, record, 0)
                scores = scores[:, 0] if scores.dim() == 3 else scores
                numbers += [(name, row) for row in per_text(scores, record.content)]
    return [row for wanted in names for name, row in numbers if name == wanted]


def of_reference(
    model: Any,
    batches: list[tuple[Tensor, Tensor]],
    functions: dict[str, Callable[..., Tensor]],
) -> Numbers:
    """The same by the reference."""
    numbers = []
    for tokens, mask in batches:
        content = mask & (tokens > END)
        for name, function in functions.items():
            scores = function(model, tokens, mask).detach()
            rows = per_text(scores, content)
            if name in SHARES:
                rows = [row / row.sum() for row in rows]
            numbers += [(name, row) for row in rows]
    return [row for wanted in functions for name, row in numbers if name == wanted]


def leave_one_out_rows(data: Corpus, device: torch.device) -> Iterator[Row]:
    """Leaving out each word, for three kinds of encoders."""
    batches, plain_batches = data.batches(device), data.plain_batches(device)
    for encoder, name, least in ENCODERS:
        model = trained(data, encoder).to(device)
        released = plain(model, device)
        yield Row(
            f"leave-one-out {name}, {data.name}",
            "one re-encoding per position",
            lambda model=model: of_measures(model, batches, ("leave_one_out",)),
            lambda released=released: of_reference(
                released, plain_batches, {"leave_one_out": reference.leave_one_out}
            ),
            least,
            needed=limits.leave_one_out(model, data.lengths),
            essential=essentials.reading(model, batches) if encoder == "average" else None,
        )


def gradient_rows(data: Corpus, device: torch.device) -> Iterator[Row]:
    """Four gradients, with shared passes and each with its own."""
    batches, plain_batches = data.batches(device), data.plain_batches(device)
    model = trained(data, "bilstm").to(device)
    released = plain(model, device)
    functions = {name: getattr(reference, name) for name in GRADIENTS}
    yield Row(
        f"four gradients, {data.name}",
        "one pass each",
        lambda: of_measures(model, batches, GRADIENTS),
        lambda: of_reference(released, plain_batches, functions),
        3.0,
        needed=limits.gradients(model, data.lengths),
        # The pass forwards could serve as the reading.
        essential=essentials.passes(model, batches, backward=2),
    )
    yield Row(
        f"gradient alone, {data.name}",
        "one pass per 32 texts",
        lambda: of_measures(model, batches, ("gradient",)),
        lambda: of_reference(released, plain_batches, {"gradient": reference.gradient}),
        needed=limits.gradients(model, data.lengths, backward=1, through_attention=0),
    )
