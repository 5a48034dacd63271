"""Audits: (model, record, scores, seed) -> {(measure, metric): (B,) or (B,R)}; the papers' tests, each with what it can and cannot see."""

from collections.abc import Callable
from typing import Any

from attnaudit.audits.agreement import agreement
from attnaudit.audits.dispersion import dispersion
from attnaudit.audits.epsilon_curve import epsilon_curve
from attnaudit.audits.erasure import erasure
from attnaudit.audits.evidence import evidence
from attnaudit.audits.flip_fraction import flip_fraction
from attnaudit.audits.furthest import furthest
from attnaudit.audits.permutation import permutation
from attnaudit.audits.random_attention import random_attention
from attnaudit.audits.stability import stability
from attnaudit.audits.top_item import top_item
from attnaudit.audits.top_k_agreement import top_k_agreement
from attnaudit.audits.uniform_attention import uniform_attention

Audit = Callable[..., dict[Any, Any]]

AUDITS: dict[str, Audit] = {
    "uniform_attention": uniform_attention,
    "permutation": permutation,
    "random_attention": random_attention,
    "top_item": top_item,
    "flip_fraction": flip_fraction,
    "agreement": agreement,
    "top_k_agreement": top_k_agreement,
    "dispersion": dispersion,
    "erasure": erasure,
    "evidence": evidence,
    "furthest": furthest,
    "epsilon_curve": epsilon_curve,
    "stability": stability,
}

# Run where none are asked for. Stability joins them where other models are given.
DEFAULT_AUDITS = tuple(name for name in AUDITS if name != "stability")
