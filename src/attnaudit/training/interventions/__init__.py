"""Interventions in training: is this attention needed, unique, stable? (context) -> findings."""

from collections.abc import Callable

from attnaudit.results.findings import Findings, read_findings
from attnaudit.training.interventions.adversarial import adversarial
from attnaudit.training.interventions.context import InterventionContext
from attnaudit.training.interventions.deceptive import deceptive
from attnaudit.training.interventions.fixed import fix_attention, fix_representation
from attnaudit.training.interventions.guided_mlp import guided_mlp
from attnaudit.training.interventions.seeds import seeds
from attnaudit.training.interventions.sparsity import sparsity
from attnaudit.training.interventions.uniform import random, uniform

INTERVENTIONS: dict[str, Callable[..., Findings]] = {
    "uniform": uniform,
    "random": random,
    "seeds": seeds,
    "adversarial": adversarial,
    "guided_mlp": guided_mlp,
    "fix_representation": fix_representation,
    "fix_attention": fix_attention,
    "deceptive": deceptive,
    "sparsity": sparsity,
}

__all__ = ["INTERVENTIONS", "Findings", "InterventionContext", "read_findings"]
