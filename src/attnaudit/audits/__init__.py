"""Audits: the tests of attention from the literature, each declaring what it can and cannot detect.

This room holds the tests; the room `auditing` runs them.

An audit is a function (model, record, scores, seed) -> {(measure, metric): (B,) or (B,R)}, where
scores maps the name of each measure to its scores (B,N) or (B,R,N); a plain metric name stands for
("", metric). Options are keyword-only parameters, chosen as "name:option=value". It raises
`NotApplicable` with the reason if the question makes no sense for a model or its data. `corpus`
holds audits of a whole corpus. Shape letters: B examples, T tokens, N items, R rows of attention,
C classes, K alternatives.

A new audit is one file with that function under `@declares(Declaration(...))`, and one line in
`AUDITS` below; no other module of the package knows its name, unless the card or a chart uses it.
Tests and documentation do: add it to `HEADLINES` in `tests/models/test_glass.py` and to
`docs/audits.md`.

Examples
--------
>>> from attnaudit.audits import AUDITS
>>> from attnaudit.models.glass import Glass, glass_batch
>>> model = Glass("oracle")
>>> record = model.read(glass_batch(3))
>>> values = AUDITS["permutation"](model, record, {}, 0, shuffles=10)
>>> values["", "tvd_median"].shape
torch.Size([3])
"""

from collections.abc import Callable
from typing import Any

from attnaudit.audits.agreement import agreement
from attnaudit.audits.dispersion import dispersion
from attnaudit.audits.epsilon_curve import epsilon_curve
from attnaudit.audits.erasure import erasure
from attnaudit.audits.erasure_forms import erasure_forms
from attnaudit.audits.erasure_limits import erasure_limits
from attnaudit.audits.evidence import evidence
from attnaudit.audits.explanation_stability import explanation_stability
from attnaudit.audits.flip_fraction import flip_fraction
from attnaudit.audits.furthest import furthest
from attnaudit.audits.noise_stability import noise_stability
from attnaudit.audits.permutation import permutation
from attnaudit.audits.polarity import polarity
from attnaudit.audits.position import position
from attnaudit.audits.random_attention import random_attention
from attnaudit.audits.redundancy import redundancy
from attnaudit.audits.stability import stability
from attnaudit.audits.top_item import top_item
from attnaudit.audits.top_k_agreement import top_k_agreement
from attnaudit.audits.top_words import top_words
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
    "erasure_forms": erasure_forms,
    "erasure_limits": erasure_limits,
    "polarity": polarity,
    "redundancy": redundancy,
    "top_words": top_words,
    "evidence": evidence,
    "furthest": furthest,
    "epsilon_curve": epsilon_curve,
    "noise_stability": noise_stability,
    "explanation_stability": explanation_stability,
    "position": position,
    "stability": stability,
}

# Run unless others are chosen. Stability is added if other models are given, explanation_stability
# if explanations are compared; erasure_limits costs thousands of passes per text.
DEFAULT_AUDITS = tuple(
    name for name in AUDITS if name not in ("stability", "explanation_stability", "erasure_limits")
)
