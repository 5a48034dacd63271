"""Training of the small models of the zoo: seconds each, the same parameters every time."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from benchmarks.calibration.corpus import FIRST_FILLER, WORDS, Corpus, token
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnaudit.core.contract import Batch
from attnaudit.models import Architecture, Attentive, build

_TEXTS, _BATCH, _RATE = 400, 40, 0.02


@dataclass(frozen=True)
class Recipe:
    """How a model is trained.

    Attributes
    ----------
    corpus : of the training texts; with labels.
    avoids : weight of a loss that keeps attention off the words of these roles, so that what is
        attended and what decides come apart.
    role : the words to keep attention off: "key" (all words of a class), or "filler".
    epochs : 0 for an untrained model.
    """

    encoder: str = "bilstm:hidden=8"
    scorer: str = "additive"
    projection: str = "softmax"
    output: str = "linear"
    corpus: Corpus = field(default_factory=Corpus)
    avoids: float = 0.0
    role: str = "key"
    epochs: int = 12
    seed: int = 0


def train(recipe: Recipe, name: str) -> Attentive:
    """Train a model; the global random state does not change.

    Examples
    --------
    >>> train(Recipe(encoder="none", epochs=1), "example").training
    False
    """
    architecture = Architecture(
        encoder=recipe.encoder,
        scorer=recipe.scorer,
        projection=recipe.projection,
        output=recipe.output,
        embedding=8,
    )
    model = build(
        architecture,
        words=WORDS,
        classes=recipe.corpus.classes,
        with_query=False,
        seed=recipe.seed,
    )
    batch = recipe.corpus.texts(_TEXTS, seed=recipe.seed + 1, name="training")
    assert batch.labels is not None, "Training needs labels."
    unwanted = _unwanted(recipe.role)
    optimiser = torch.optim.Adam(model.parameters(), lr=_RATE)
    draw = torch.Generator().manual_seed(recipe.seed)
    for _ in range(recipe.epochs):
        for index in torch.randperm(_TEXTS, generator=draw).split(_BATCH):
            optimiser.zero_grad()
            _loss(model, batch.rows(index), unwanted, recipe.avoids).backward()
            optimiser.step()
    model.eval()
    for parameter in model.parameters():
        parameter.grad = None
    model.about = {"model": name, **architecture.as_dict()}
    return model


def _loss(model: Attentive, batch: Batch, unwanted: Tensor, avoids: float) -> Tensor:
    record = model.read(batch)
    assert batch.labels is not None  # train() saw to it
    loss = cross_entropy(record.logits, batch.labels)
    if not avoids:
        return loss
    mass = (record.alpha[:, 0] * unwanted[batch.tokens]).sum(-1)
    return loss - avoids * torch.log1p(-mass.clamp_max(1 - 1e-4)).mean()


def _unwanted(role: str) -> Tensor:
    """Which words attention is kept off (WORDS,) bool."""
    words = torch.zeros(WORDS, dtype=torch.bool)
    words[token("key") : FIRST_FILLER] = True
    return ~words if role == "filler" else words
