"""Every audit on attention of any shape: lengths 1 to 400, ties, zeros, 2 to 20 classes."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch import Tensor

from attnaudit.audits import AUDITS, DEFAULT_AUDITS
from attnaudit.audits.declaration import declaration_of
from attnaudit.audits.flip_fraction import flip_fraction
from attnaudit.audits.permutation import permutation
from attnaudit.audits.top_item import top_item
from attnaudit.audits.uniform_attention import uniform_attention
from attnaudit.core import masking, randomness
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import NotApplicable
from audit_cases import EXAMPLES, LINEAR, case, every_case, hidden_readout, no_ties, same, scores_of

WORDS = 12


class Bag:
    """A model that gives each word a weight and logits, whatever the other words.

    Attention is weight / sum, uniform if all weights are 0.
    """

    def __init__(self, weight: Tensor, logits: Tensor) -> None:
        self.weight, self.logits = weight, logits

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        weight = masking.fill(self.weight[batch.tokens], batch.mask)
        total = weight.sum(-1, keepdim=True)
        even = masking.uniform(batch.mask, weight.dtype)
        alpha = torch.where(total > 0, weight / total.where(total > 0, 1.0), even)[:, None]
        readout = self.logits[batch.tokens]
        item = (
            torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens).masked_fill(~batch.mask, -1)
        )
        return Record(
            batch=batch,
            embeddings=readout,
            hidden=readout,
            alpha=alpha,
            mask=batch.mask[:, None],
            content=batch.mask,
            item_of_token=item,
            logits=(alpha @ readout)[:, 0],
            readout=readout,
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        logits = alpha @ (record.readout if alpha.dim() == 3 else record.readout[:, None])
        return logits[..., 0, :]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Bag, Record, dict[str, Tensor], int]:
    seed = draw(st.integers(0, 10_000))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    classes = draw(st.sampled_from([2, 2, 3, 7, 20]))
    longest = draw(st.sampled_from([1, 2, 5, 30, 400] if classes == 2 else [1, 2, 5, 20]))
    lengths = draw(st.lists(st.integers(1, longest), min_size=1, max_size=4))
    source = torch.Generator().manual_seed(seed)
    kind = draw(st.sampled_from(["smooth", "ties", "zeros", "one-hot", "uniform", "nothing"]))
    weight = {
        "smooth": torch.rand(WORDS, generator=source),
        "ties": torch.randint(1, 3, (WORDS,), generator=source).double(),
        "zeros": torch.randint(0, 2, (WORDS,), generator=source).double(),
        "one-hot": torch.eye(WORDS)[3],
        "uniform": torch.ones(WORDS),
        "nothing": torch.zeros(WORDS),
    }[kind].to(dtype)
    size = draw(st.sampled_from([0.0, 0.5, 5.0, 30.0]))
    logits = (size * torch.randn(WORDS, classes, generator=source, dtype=torch.float64)).to(dtype)
    tokens = torch.randint(0, WORDS, (len(lengths), max(lengths)), generator=source)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    evidence = (
        (torch.rand(tokens.shape, generator=source) < 0.3) & mask if draw(st.booleans()) else None
    )
    candidates = None
    if classes > 2 and draw(st.booleans()):
        candidates = torch.rand(len(lengths), classes, generator=source) < 0.5
        candidates[:, :2] = True
    labels = torch.randint(0, 2, (len(lengths),), generator=source) if draw(st.booleans()) else None
    names = tuple(f"{seed}/{index}" for index in range(len(lengths)))
    batch = Batch(names, tokens, mask, labels=labels, evidence=evidence, classes=candidates)
    model = Bag(weight, logits)
    record = model.read(batch)
    scores = {"attention": record.alpha}
    for name in ("gradient", "leave_one_out"):
        rough = torch.randint(0, 4, tokens.shape, generator=source).to(dtype)
        scores[name] = masking.fill(rough, mask, math.nan if name == "leave_one_out" else 0.0)
    scores["random"] = randomness.uniform(randomness.keys(0, "fuzz", names), tokens.shape[1])
    return model, record, scores, seed


OPTIONS = {
    "top_k_agreement": {"mean_length": 4, "k": "average+all+non_zero+2"},
    "permutation": {"shuffles": 7},
    "random_attention": {"draws": 7},
    "top_words": {"exhaustive": 30, "width": 2},
    "erasure_limits": {"exhaustive": 5, "width": 1},
}


# What has no value, and why: these may be NaN; nothing else may.
UNDEFINED = {
    "agreement": "a constant ranking has no tau",
    "top_k_agreement": "a constant ranking names no most important words",
    "dispersion": "one word, or no score at all, has no spread",
    "evidence": "no evidence in the text, or no score at all",
    "top_item": "fewer than two words, or no weight left",
    "flip_fraction": "the decision never flips",
    "furthest": "one word has no other attention",
    "erasure": "nothing is left of the text",
    "noise_stability": "embeddings that are all 0 give the noise no scale",
    "position": "one word, or words all alike, have no top word; one text has no profile of others",
    "erasure_forms": "one word has no top words, or the model has no replacement token",
    "erasure_limits": "one word has no order, or all orders are equal",
    "polarity": "nothing is left of the text",
    "redundancy": "nothing is left of the text or of the attention",
    "top_words": "one word has no top words",
}


@pytest.mark.parametrize("name", [name for name in AUDITS if name != "stability"])
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_values_are_defined_and_within_the_declared_scales(
    name: str, case: tuple[Bag, Record, dict[str, Tensor], int]
) -> None:
    model, record, scores, seed = case
    # The passes of this audit are the square of the length, and the words read its cube.
    assume(name != "erasure_limits" or record.content.shape[1] <= 30)
    try:
        with torch.no_grad():
            found = AUDITS[name](model, record, scores, seed, **OPTIONS.get(name, {}))
    except NotApplicable:
        assert name in ("evidence", "epsilon_curve", "noise_stability", "explanation_stability")
        return
    declared = declaration_of(AUDITS[name]).metrics
    for (measure, metric), values in found.items():
        assert values.shape[0] == len(record.batch), (measure, metric)
        assert not values.isinf().any(), (measure, metric)
        if name not in UNDEFINED:
            assert not values.isnan().any(), (measure, metric)
        known = values[~values.isnan()].double()
        limits = declared[metric].limits
        if limits is not None:
            assert (known >= limits[0] - 1e-6).all(), (measure, metric)
            assert (known <= limits[1] + 1e-6).all(), (measure, metric)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_the_fuzzed_model_is_a_valid_attention_model(
    case: tuple[Bag, Record, dict[str, Tensor], int],
) -> None:
    model, record, _, _ = case
    torch.testing.assert_close(model.decode(record, record.alpha), record.logits)
    torch.testing.assert_close(record.alpha.sum(-1), torch.ones_like(record.alpha[..., 0]))
    assert (record.alpha[~record.mask] == 0).all()


@every_case
def test_the_logits_in_numpy_equal_the_models(name: str) -> None:
    chosen = case(name)
    same(
        chosen.record.logits,
        [chosen.logits(index, chosen.alpha[index]) for index in range(EXAMPLES)],
    )
    assert len(set(chosen.record.predicted.tolist())) > 1
    assert (chosen.record.readout is None) == (name == "two rows")


@pytest.mark.parametrize("name", LINEAR)
def test_values_are_the_same_with_and_without_the_readout(name: str) -> None:
    """The readout is a short cut: hidden, every audit that can decode must come to the same."""
    chosen, scores = case(name), {**scores_of(name), **no_ties(3, case(name))}
    for function in (flip_fraction, permutation, top_item, uniform_attention):
        fast = function(chosen.model, chosen.record, scores, 5)
        slow = function(chosen.model, hidden_readout(chosen), scores, 5)
        for key, value in slow.items():
            if key != ("", "tvd_reach"):
                same(value, fast[key], 1e-9)
        assert set(fast) - set(slow) == (
            {("smallest_set", metric) for metric in ("removed", "fraction", "flipped")}
            if function is flip_fraction
            else set()
        )


def test_an_audit_is_one_file_and_one_line_in_the_registry() -> None:
    for name, function in AUDITS.items():
        assert function.__name__ == name
        assert function.__module__ == f"attnaudit.audits.{name}"
        assert declaration_of(function).metrics
    not_default = {"stability", "explanation_stability", "erasure_limits"}
    assert set(DEFAULT_AUDITS) == set(AUDITS) - not_default
