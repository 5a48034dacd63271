"""What a run starts from: data, vocabulary and a newly initialised model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from attnaudit.core.errors import InputError
from attnaudit.core.output_files import sha256
from attnaudit.data.reading.fingerprint import fingerprint
from attnaudit.data.splits import SPLITS, Splits
from attnaudit.data.vocabulary import Vocabulary
from attnaudit.data.word_vectors import load_vectors
from attnaudit.training.checkpoint import build_from, load
from attnaudit.training.experiment import ExperimentConfig
from attnaudit.training.variants import Training, VariantContext, make_training


@dataclass(frozen=True)
class Preparation:
    """An experiment that is ready to be trained.

    Parameters
    ----------
    model : as run.json describes it: its parts, `with_query` and `classes`.
    fresh : the module whose parameters are stored; `training.model` may wrap it.
    data : as run.json describes it.
    """

    experiment: ExperimentConfig
    splits: Splits
    vocabulary: Vocabulary
    model: dict[str, Any]
    fresh: torch.nn.Module
    training: Training
    data: dict[str, Any]

    def identity(self) -> dict[str, Any]:
        """What decides the trained weights, and with them every number."""
        return {
            "choices": self.experiment.choices(),
            "data": self.data["fingerprint"],
            "vectors": self.data["vectors"],
            "threads": torch.get_num_threads(),  # the last bits of float sums depend on it
        }


def prepare(experiment: ExperimentConfig, splits: Splits, out: Path) -> Preparation:
    """Build vocabulary and model.

    Parameters
    ----------
    experiment, splits : the choices and the data.
    out : folder of the run that the experiment is based on, if there is one.
    """
    if not splits.test:
        raise InputError(f"{splits.name}: the test split is empty, so there is nothing to audit.")
    vocabulary = Vocabulary.build(splits.train, min_count=splits.min_count)
    vectors, coverage = None, None
    architecture = experiment.architecture
    if experiment.vectors is not None:
        vectors, coverage = load_vectors(Path(experiment.vectors), vocabulary, seed=experiment.seed)
        architecture = replace(architecture, embedding=vectors.shape[1])  # the file decides
    model = {
        **architecture.as_dict(),
        "with_query": splits.train[0].query is not None,
        "classes": len(splits.classes),
    }
    fresh = build_from(model, vocabulary, seed=experiment.seed, vectors=vectors)
    # Trusted: the base was trained by the same intervention, with parts chosen here.
    base = None if experiment.base is None else load(out / experiment.base, trust_code=True).model
    context = VariantContext(fresh, base, vocabulary, experiment.seed)
    described = {
        "name": splits.name,
        "tokeniser": splits.tokeniser,
        "sizes": {name: len(getattr(splits, name)) for name in SPLITS},
        "vocabulary": len(vocabulary),
        "vector_coverage": coverage,
        "vectors": None if experiment.vectors is None else sha256(Path(experiment.vectors)),
        "fingerprint": fingerprint(splits),
        "notes": splits.notes,
    }
    training = make_training(experiment.variant, context)
    return Preparation(experiment, splits, vocabulary, model, fresh, training, described)
