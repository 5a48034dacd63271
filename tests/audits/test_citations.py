"""Measures and audits of citations: each number against a computation of its own."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pytest
import torch
from scipy.stats import spearmanr
from sklearn.linear_model import Lasso

from attnaudit.audits.citations import CITATION_AUDITS
from attnaudit.audits.citations.source_use import contributions
from attnaudit.audits.declaration import declaration_of
from attnaudit.core.contract import Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.data.citations import FIRST_SOURCE, CitationExample, simulate
from attnaudit.measures.citations import CITATION_MEASURES
from attnaudit.measures.citations.attention import shuffled_order
from attnaudit.measures.citations.source_sets import source_sets
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.models.planted_citations import KINDS, PlantedReader
from tiny_generation import EXAMPLES, tiny_generator

SIX = CitationExample(
    "six",
    ("the film was good", "we liked it", "a dull one", "not at all", "it was bad", "very good"),
    "was it good",
    "very good",
    (0,),
)


@pytest.fixture(scope="module")
def model() -> Any:
    return tiny_generator("llama")


@pytest.fixture(scope="module")
def record(model: Any) -> Record:
    """One example of six sources."""
    with torch.no_grad():
        return model.read(model.batches([SIX])[0])


def log_prob_with(model: Any, record: Record, kept: tuple[int, ...]) -> float:
    """Of one set of sources, by a pass of its own over tokens that are kept by hand."""
    tokens = record.batch.tokens[0].tolist()
    items = record.batch.item_of_token[0].tolist()
    ids = [t for t, n in zip(tokens, items, strict=True) if n < 3 or n - 3 in kept]
    answer = record.batch.answer[0].tolist()  # type: ignore[attr-defined]
    with torch.no_grad():
        rows = model.model(torch.tensor([ids + answer])).logits[0, len(ids) - 1 : -1]
    return float(rows.log_softmax(-1)[range(len(answer)), answer].mean())


def test_the_two_halves_of_sets_share_none_and_are_all_there_are(record: Record) -> None:
    fit, test = source_sets(record, 0)
    rows = [tuple(row.tolist()) for half in (fit, test) for row in half.keep[0]]
    assert len(rows) == len(set(rows)) == 2**6
    few_fit, few_test = source_sets(record, 0, count=5)
    assert few_fit.keep.shape == few_test.keep.shape == (1, 5, 9)
    few = [tuple(row.tolist()) for half in (few_fit, few_test) for row in half.keep[0]]
    assert len(set(few)) == 10
    assert not fit.keep[..., :FIRST_SOURCE].any()


def test_leave_one_out_and_the_surrogate_are_computed_from_plain_passes(
    model: Any, record: Record
) -> None:
    full = log_prob_with(model, record, tuple(range(6)))
    expected = [full - log_prob_with(model, record, kept) for kept in combinations(range(6), 5)]
    found = CITATION_MEASURES["leave_one_out"](model, record, 0)[0, FIRST_SOURCE:]
    assert found.tolist() == pytest.approx(expected[::-1], abs=1e-5)
    sets, _ = source_sets(record, 0)
    kept = sets.keep[0, :, FIRST_SOURCE:].double().numpy()
    values = [log_prob_with(model, record, tuple(int(n) for n in row.nonzero()[0])) for row in kept]
    scaled = (kept - kept.mean(0)) / kept.std(0)
    coefficients = Lasso(alpha=0.01).fit(scaled, values).coef_ / kept.std(0)
    surrogate = CITATION_MEASURES["surrogate"](model, record, 0)[0, FIRST_SOURCE:]
    assert surrogate.tolist() == pytest.approx(coefficients.tolist(), abs=1e-3)
    assert surrogate.abs().max() > 0.1


def test_lds_is_scipys_rank_correlation_over_the_other_half(model: Any, record: Record) -> None:
    scores = {
        "leave_one_out": CITATION_MEASURES["leave_one_out"](model, record, 0),
        "undefined": torch.full((1, 9), torch.nan),
    }
    found = CITATION_AUDITS["lds"](model, record, scores, 0)
    _, sets = source_sets(record, 0)
    sums, values = [], []
    for row in sets.keep[0]:
        kept = (row.nonzero()[:, 0] - FIRST_SOURCE).tolist()
        sums.append(float(scores["leave_one_out"][0][row].sum()))
        values.append(log_prob_with(model, record, tuple(kept)))
    expected = spearmanr(sums, values).statistic
    assert float(found["leave_one_out", "lds"]) == pytest.approx(expected, abs=1e-6)
    assert math.isnan(found["undefined", "lds"])


def test_top_source_and_contributions_are_differences_of_plain_passes(
    model: Any, record: Record
) -> None:
    score = torch.full((1, 9), -1.0)
    score[0, FIRST_SOURCE + 4], score[0, FIRST_SOURCE + 1] = 2.0, 1.0
    full = log_prob_with(model, record, tuple(range(6)))
    for k, kept in ((1, (0, 1, 2, 3, 5)), (2, (0, 2, 3, 5))):
        found = CITATION_AUDITS["top_source"](model, record, {"mine": score}, 0, k=k)
        expected = full - log_prob_with(model, record, kept)
        assert float(found["mine", "drop"]) == pytest.approx(expected, abs=1e-5)
        others = [log_prob_with(model, record, rest) for rest in combinations(range(6), 6 - k)]
        chance = full - sum(others) / len(others)
        assert float(found["", "chance"]) == pytest.approx(chance, abs=1e-5)
    closed = log_prob_with(model, record, ())
    expected = [
        max(
            full - log_prob_with(model, record, tuple(m for m in range(6) if m != n)),
            log_prob_with(model, record, (n,)) - closed,
        )
        for n in range(6)
    ]
    found = contributions(model, record)[0, FIRST_SOURCE:]
    assert found.tolist() == pytest.approx(expected, abs=1e-5)


def test_attention_in_its_forms(model: Any, record: Record) -> None:
    alpha = record.alpha[0]
    measured = {
        name: CITATION_MEASURES[name](model, record, 0)[0, FIRST_SOURCE:]
        for name in ("attention", "attention_renormalised", "calibrated_attention")
    }
    on_sources = alpha[:, FIRST_SOURCE:]
    torch.testing.assert_close(measured["attention"], on_sources.mean(0))
    shares = (on_sources / on_sources.sum(-1, keepdim=True)).mean(0)
    torch.testing.assert_close(measured["attention_renormalised"], shares)
    with torch.no_grad():
        empty = model.without_question(record).alpha[0, :, FIRST_SOURCE:].mean(0)
    torch.testing.assert_close(measured["calibrated_attention"], on_sources.mean(0) - empty)
    named = CITATION_MEASURES["named_heads"](model, record, 0, heads="1.2+2.0")[0, FIRST_SOURCE:]
    torch.testing.assert_close(named, on_sources[[4 + 2, 8]].mean(0))
    with pytest.raises(InputError, match=r"heads must be layer\.head joined by \+"):
        CITATION_MEASURES["named_heads"](model, record, 0, heads="3")
    with pytest.raises(NotApplicable, match=r"no head 9\.9"):
        CITATION_MEASURES["named_heads"](model, record, 0, heads="9.9")


def test_shuffled_attention_is_given_back_to_its_source(model: Any) -> None:
    with torch.no_grad():
        record = model.read(model.batches(EXAMPLES)[0])
        order = shuffled_order(record, 3)
        found = CITATION_MEASURES["attention_shuffled"](model, record, 3)
        for index, example in enumerate(record.batch.examples):  # type: ignore[attr-defined]
            row = [n for n in order[index].tolist() if n >= 0]
            assert sorted(row) == list(range(len(example.sources)))
            assert all(place != source for place, source in enumerate(row))
            (batch,) = model.batches([example.reordered(tuple(row))])
            weights = model.read(batch).alpha[0].mean(0)
            for place, source in enumerate(row):
                assert float(found[index, FIRST_SOURCE + source]) == pytest.approx(
                    float(weights[FIRST_SOURCE + place]), abs=1e-6
                )


@pytest.mark.parametrize("kind", KINDS)
def test_the_outcomes_are_those_that_were_planted(kind: str) -> None:
    model = PlantedReader(kind)
    record = model.read(model.batches(simulate(40))[0])
    scores = {
        name: CITATION_MEASURES[name](model, record, 0)
        for name in ("attention", "attention_shuffled", "leave_one_out", "random")
    }
    found = CITATION_AUDITS["source_use"](model, record, scores, 0)
    for name in scores:
        outcomes = [
            found["", "known_without"],
            found["", "only_together"],
            found[name, "used_cited"],
            found[name, "used_other"],
        ]
        torch.testing.assert_close(sum(outcomes), torch.ones(40, dtype=torch.float64))
    first = torch.tensor([0 in (each.gold or ()) for each in record.batch.examples])  # type: ignore[attr-defined]
    expected = {
        "copier": torch.ones(40),
        "first": first.double(),
        "knows": torch.zeros(40),
    }[kind]
    assert found["attention", "used_cited"].tolist() == expected.tolist()
    assert found["", "known_without"].tolist() == [float(kind == "knows")] * 40
    if kind == "knows":
        assert found["attention", "cited_used"].isnan().all()
    moved = CITATION_AUDITS["source_order"](model, record, scores, 0)
    assert moved["attention", "same_source"].tolist() == [float(kind != "first")] * 40
    assert moved["attention", "same_place"].tolist() == [float(kind == "first")] * 40
    assert moved["", "chance"].tolist() == [0.2] * 40


def test_two_sources_that_say_the_same_were_both_used() -> None:
    model = PlantedReader("copier")
    twice = ("Bo lives in Oslo.", "Mia lives in Rome.", "Bo lives in Oslo.")
    example = CitationExample("twice", twice, "Where does Bo live?", "Oslo")
    record = model.read(model.batches([example])[0])
    drops = CITATION_MEASURES["leave_one_out"](model, record, 0)[0, FIRST_SOURCE:]
    assert drops.abs().max() < 0.1  # no single one is needed
    scores = {f"source {n}": torch.eye(6)[None, FIRST_SOURCE + n] for n in range(3)}
    found = CITATION_AUDITS["source_use"](model, record, scores, 0)
    assert [float(found[name, "used_cited"]) for name in scores] == [1.0, 0.0, 1.0]
    assert float(found["", "chance"]) == pytest.approx(2 / 3)


def test_the_shares_of_attention_sum_to_one(model: Any, record: Record) -> None:
    found = CITATION_AUDITS["sinks"](model, record, {}, 0)
    assert float(sum(found.values())) == pytest.approx(1.0, abs=1e-6)
    expected = record.alpha[0, :, FIRST_SOURCE:].sum(-1).mean()
    assert float(found["", "sources"]) == pytest.approx(float(expected), abs=1e-6)


def test_hits_and_mass_are_counted_once_per_answer(model: Any, record: Record) -> None:
    score = torch.tensor([[0.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0, 0.0]])
    found = CITATION_AUDITS["evidence"](model, record, {"mine": score}, 0)
    assert found["mine", "hit"].tolist() == [[0.0]]  # the first source is needed
    assert found["mine", "mass"].tolist() == [[0.25]]
    assert found["", "share"].tolist() == [[1 / 6]]
    best = CITATION_AUDITS["evidence"](model, record, {"mine": score.roll(-1, 1)}, 0)
    assert best["mine", "hit"].tolist() == [[1.0]]


def test_models_that_cannot_leave_out_sources_are_not_applicable() -> None:
    glass = Glass("oracle")
    record = glass.read(glass_batch(2))
    for name in ("leave_one_out", "surrogate", "gradient", "rollout", "calibrated_attention"):
        with pytest.raises(NotApplicable):
            CITATION_MEASURES[name](glass, record, 0)
    for name in ("source_order", "sinks", "evidence", "lds"):
        if name != "evidence":
            with pytest.raises(NotApplicable):
                CITATION_AUDITS[name](glass, record, {"attention": record.alpha[:, 0]}, 0)


def test_values_are_within_what_their_metrics_declare(model: Any, record: Record) -> None:
    """Ends of intervals are cut at these limits: sources can also make an answer less likely."""
    scores = {
        name: CITATION_MEASURES[name](model, record, 0) for name in ("attention", "leave_one_out")
    }
    for name in ("source_use", "top_source"):
        audit = CITATION_AUDITS[name]
        declared = declaration_of(audit).metrics
        for (_, metric), value in audit(model, record, scores, 0).items():
            known, limits = value[~value.isnan()], declared[metric].limits
            if limits is not None:
                assert ((known >= limits[0]) & (known <= limits[1])).all(), (name, metric)
    assert declaration_of(CITATION_AUDITS["source_use"]).metrics["gain"].limits is None
    assert declaration_of(CITATION_AUDITS["top_source"]).metrics["chance"].limits is None
