"""Variants of training one model.

By name with options: "imposed:source=base", "twin:lam=0.001", "fix_representation", "deceptive".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core import randomness, registry
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import NOT_NEGATIVE, OneOf, limits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.models.imposed import Imposed, OfModel, at_random, uniform
from attnaudit.training.objectives import Objective, adversarial, cross_entropy, deceptive
from attnaudit.training.objectives.deceptive import evidence

_NOISE = 0.01  # of the mean size of the parameters that a twin starts from


@dataclass(frozen=True)
class VariantContext:
    """What a variant starts from: a newly initialised model, and a trained base if it needs one."""

    fresh: Any
    base: Any | None  # of the same architecture
    vocabulary: Vocabulary
    seed: int


@dataclass(frozen=True)
class Training:
    """The model to train and audit, its objective, and which epoch to keep.

    keep: "best" on dev, or "last" if performance on dev is not the aim.
    select: the score on dev that decides what is best; None for that of the recipe.
    """

    model: Any
    objective: Objective
    keep: str = "best"
    select: str | None = None


def ordinary(context: VariantContext) -> Training:
    """Trained on the labels, as usual."""
    return Training(context.fresh, cross_entropy)


def imposed(context: VariantContext, *, source: str = "base") -> Training:
    """Attention imposed from outside: uniform, random, or the base's, whatever its encoder."""
    if source == "base":
        attention: Any = OfModel(_base(context, "imposed:source=base"))
    elif source in ("uniform", "random"):
        attention = uniform if source == "uniform" else at_random(context.seed)
    else:
        raise InputError(f"imposed has no source {source!r}; choose from: base, random, uniform.")
    return Training(Imposed(context.fresh, attention), cross_entropy)


@limits(lam=NOT_NEGATIVE, start=OneOf(("scratch", "base", "all")), keep=OneOf(("last", "best_f1")))
def twin(
    context: VariantContext, *, lam: float = 1e-3, start: str = "scratch", keep: str = "last"
) -> Training:
    """Trained to predict like the base and attend differently.

    start=base: encoder and output are the base's, frozen. The scorer is newly initialised all the
    same (our choice): from the base's own scorer, every step costs TVD before it gains KL, and
    nothing would move. start=all: the scorer too starts from the base's, with a little noise,
    without which both parts of the loss have slope 0. keep=best_f1: the epoch with the best F1 on
    dev, as Wen et al. 2022 report it; otherwise the last.
    """
    base = _base(context, "twin")
    if start == "base":
        _freeze(base, context.fresh, trained=("scorer",))
    elif start == "all":
        _freeze(base, context.fresh, trained=("scorer",))
        _start_near(base, context.fresh, "scorer", context.seed)
    objective = adversarial(base, lam=lam)
    if keep == "best_f1":
        return Training(context.fresh, objective, keep="best", select="f1")
    return Training(context.fresh, objective, keep="last")


def fix_representation(context: VariantContext) -> Training:
    """Embedding and encoder of the base, frozen; the rest is new (Wen et al. 2022, Fix Rep)."""
    base, fresh = _base(context, "fix_representation"), context.fresh
    _freeze(base, fresh, trained=("scorer", "projection", "output"))
    return Training(fresh, cross_entropy)


@limits(lam=NOT_NEGATIVE)
def hiding(context: VariantContext, *, lam: float = 1.0, words: str | None = None) -> Training:
    """Attention kept off the known evidence, or off given words joined by +: words=good+bad."""
    if words is None:
        return Training(context.fresh, deceptive(evidence, lam=lam))
    unknown = [word for word in words.split("+") if word not in context.vocabulary.index]
    if unknown:
        raise InputError(
            f"deceptive cannot hide words that are not in the vocabulary: {', '.join(unknown)}."
        )
    numbers = torch.tensor([context.vocabulary.index[word] for word in words.split("+")])

    def listed(batch: Batch) -> Tensor:
        return torch.isin(batch.tokens, numbers.to(batch.tokens.device))

    return Training(context.fresh, deceptive(listed, lam=lam))


VARIANTS: dict[str, Callable[..., Training]] = {
    "ordinary": ordinary,
    "imposed": imposed,
    "twin": twin,
    "fix_representation": fix_representation,
    "deceptive": hiding,
}


def make_training(choice: str, context: VariantContext) -> Training:
    """The training of a variant, chosen by name with options."""
    return registry.find(VARIANTS, choice, "variant")(context)


def _base(context: VariantContext, variant: str) -> Any:
    if context.base is None:
        raise InputError(
            f"The variant {variant} needs a base: the name of a finished run in the same folder."
        )
    return context.base.eval()


def _start_near(base: nn.Module, fresh: nn.Module, part: str, seed: int) -> None:
    """Give a part of `fresh` the parameters of the base and noise of a hundredth of their size."""
    own = dict(base.named_parameters())
    generator = randomness.generator(seed, "start near", part)
    with torch.no_grad():
        for name, parameter in fresh.named_parameters():
            if name.split(".")[0] == part:
                value = own[name]
                size = value.abs().mean()
                noise = torch.randn(value.shape, generator=generator, dtype=value.dtype)
                parameter.copy_(value + _NOISE * size * noise.to(value.device))


def _freeze(base: nn.Module, fresh: nn.Module, *, trained: tuple[str, ...]) -> None:
    """Copy the parameters of the base to `fresh` and freeze them, except in the trained parts."""
    frozen = {
        name: value
        for name, value in base.state_dict().items()
        if name.split(".")[0] not in trained
    }
    fresh.load_state_dict({**fresh.state_dict(), **frozen})
    for name, parameter in fresh.named_parameters():
        parameter.requires_grad_(name.split(".")[0] in trained)
