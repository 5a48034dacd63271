"""Interventions in training: (plan) -> findings over several stored runs. Is this attention needed, unique, stable?"""

from attnaudit.interventions.adversarial import adversarial
from attnaudit.interventions.deceptive import deceptive
from attnaudit.interventions.findings import Findings, Intervention, read_findings
from attnaudit.interventions.fixed import fix_attention, fix_representation
from attnaudit.interventions.guided_mlp import guided_mlp
from attnaudit.interventions.plan import Plan
from attnaudit.interventions.seeds import seeds
from attnaudit.interventions.sparsity import sparsity
from attnaudit.interventions.uniform import random, uniform

INTERVENTIONS: dict[str, Intervention] = {
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

__all__ = ["INTERVENTIONS", "Findings", "Plan", "read_findings"]
