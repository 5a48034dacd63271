"""How the training of one model may depart from the ordinary: "imposed:source=base", "twin:lam=0.001", "fix_representation", "deceptive"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from attnaudit.core import registry
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError
from attnaudit.core.option_limits import NOT_NEGATIVE, OneOf, limits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.models.imposed import Imposed, OfModel, at_random, uniform
from attnaudit.training.objectives import Objective, adversarial, cross_entropy, deceptive
from attnaudit.training.objectives.deceptive import evidence


@dataclass(frozen=True)
class VariantContext:
    """What a variant starts from."""

    fresh: Any  # a newly initialised model
    base: Any | None  # a trained one of the same architecture, where the variant needs it
    vocabulary: Vocabulary
    seed: int


@dataclass(frozen=True)
class Training:
    """What is trained and audited, and towards what."""

    model: Any
    objective: Objective
    keep: str = (
        "best"  # the epoch kept: "best" on dev, or the "last" where dev performance is not the aim
    )


def ordinary(setting: VariantContext) -> Training:
    return Training(setting.fresh, cross_entropy)


def imposed(setting: VariantContext, *, source: str = "base") -> Training:
    """Attention given from outside: uniform, random, or the base's own, whatever its encoder."""
    if source == "base":
        given: Any = OfModel(_base(setting, "imposed:source=base"))
    elif source in ("uniform", "random"):
        given = uniform if source == "uniform" else at_random(setting.seed)
    else:
        raise InputError(f"imposed has no source {source!r}; choose from: base, random, uniform.")
    return Training(Imposed(setting.fresh, given), cross_entropy)


@limits(lam=NOT_NEGATIVE, start=OneOf(("scratch", "base")))
def twin(setting: VariantContext, *, lam: float = 1e-3, start: str = "scratch") -> Training:
    """Trained to predict as the base and attend differently. start=base: on its encoder and output, held.

    The scorer starts anew even so: at the base's own, any step costs TVD before it gains KL, and nothing would move. That is ours.
    """
    base = _base(setting, "twin")
    if start == "base":
        _keep(base, setting.fresh, learnt=("scorer",))
    return Training(setting.fresh, adversarial(base, lam=lam), keep="last")


def fix_representation(setting: VariantContext) -> Training:
    """Embedding and encoder are the base's and stay; scorer and output are trained from scratch (Wen et al. 2022, Fix Rep)."""
    base, fresh = _base(setting, "fix_representation"), setting.fresh
    _keep(base, fresh, learnt=("scorer", "projection", "output"))
    return Training(fresh, cross_entropy)


@limits(lam=NOT_NEGATIVE)
def hiding(setting: VariantContext, *, lam: float = 1.0, words: str | None = None) -> Training:
    """Attention kept off the known evidence, or off the words given, joined by +: words=good+bad."""
    if words is None:
        return Training(setting.fresh, deceptive(evidence, lam=lam))
    unknown = [word for word in words.split("+") if word not in setting.vocabulary.index]
    if unknown:
        raise InputError(
            f"deceptive cannot hide words that are not in the vocabulary: {', '.join(unknown)}."
        )
    numbers = torch.tensor([setting.vocabulary.index[word] for word in words.split("+")])

    def listed(batch: Batch) -> Tensor:
        return torch.isin(batch.tokens, numbers.to(batch.tokens.device))

    return Training(setting.fresh, deceptive(listed, lam=lam))


VARIANTS: dict[str, Callable[..., Training]] = {
    "ordinary": ordinary,
    "imposed": imposed,
    "twin": twin,
    "fix_representation": fix_representation,
    "deceptive": hiding,
}


def make_training(choice: str, setting: VariantContext) -> Training:
    return registry.find(VARIANTS, choice, "variant")(setting)


def _base(setting: VariantContext, what: str) -> Any:
    if setting.base is None:
        raise InputError(
            f"The variant {what} needs a base: the name of a finished run in the same folder."
        )
    return setting.base.eval()


def _keep(base: nn.Module, fresh: nn.Module, *, learnt: tuple[str, ...]) -> None:
    """Give `fresh` the base's parameters, held, all but those of the parts that are learnt."""
    kept = {
        name: value for name, value in base.state_dict().items() if name.split(".")[0] not in learnt
    }
    fresh.load_state_dict({**fresh.state_dict(), **kept})
    for name, parameter in fresh.named_parameters():
        parameter.requires_grad_(name.split(".")[0] in learnt)
