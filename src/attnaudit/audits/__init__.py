"""Audits: (model, record, scores, seed) -> {(measure, metric): (B,) or (B,R)}; the papers' tests, each with what it can and cannot see."""

from collections.abc import Callable
from typing import Any

from attnaudit.audits.agreement import agreement
from attnaudit.audits.evidence import evidence
from attnaudit.audits.flip_fraction import flip_fraction
from attnaudit.audits.furthest import furthest
from attnaudit.audits.permutation import permutation
from attnaudit.audits.top_item import top_item
from attnaudit.audits.uniform_attention import uniform_attention

Audit = Callable[..., dict[Any, Any]]

AUDITS: dict[str, Audit] = {
    "uniform_attention": uniform_attention,
    "permutation": permutation,
    "top_item": top_item,
    "flip_fraction": flip_fraction,
    "agreement": agreement,
    "evidence": evidence,
    "furthest": furthest,
}

# Run where none are asked for.
DEFAULT_AUDITS = tuple(AUDITS)
