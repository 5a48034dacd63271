"""The further audits, example by example: plain Python over the real items against the batched, masked tensors."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from scipy.stats import entropy as scipy_entropy
from sklearn.metrics import f1_score, mutual_info_score
from torch import Tensor

from attnaudit import audit, exact, statistics
from attnaudit.audits import AUDITS
from attnaudit.audits.corpus.information import adjusted, by_chance, contingency, plug_in
from attnaudit.audits.corpus.mutual_information import mutual_information
from attnaudit.audits.corpus.ranked import ranks
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.simplex import random_alpha_by_length as drawn
from attnaudit.measures import MEASURES
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.statistics.retrieval import iou_f1, token_f1, top_as_many

START, END = 1, 2
LENGTHS = (1, 2, 3, 7, 12, 5)


@cache
def case(projection: str = "softmax", classes: int = 2) -> tuple[object, Record, dict[str, Tensor]]:
    draw = np.random.default_rng(3)
    texts = [[START, *draw.integers(5, 30, length).tolist(), END] for length in LENGTHS]
    width = max(map(len, texts))
    tokens = torch.tensor([text + [0] * (width - len(text)) for text in texts])
    evidence = (torch.rand(tokens.shape, generator=torch.Generator().manual_seed(0)) < 0.4) & (
        tokens > END
    )
    evidence[3] = False  # nothing is known of this one
    batch = Batch(
        tuple(f"t{at}" for at in range(len(texts))),
        tokens,
        tokens > 0,
        labels=torch.zeros(len(texts), dtype=torch.int64),
        evidence=evidence,
    )
    parts = Architecture(encoder="bilstm:hidden=5", embedding=6, projection=projection)
    model = build(parts, words=30, classes=classes, with_query=False, seed=4).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
        record = model.read(batch)
    names = ("attention", "gradient", "leave_one_out", "random")
    scores = {name: MEASURES[name](model, record, 0).detach() for name in names}
    return model, record, scores


def real(record: Record, at: int) -> list[int]:
    return (record.content & record.mask[:, 0])[at].nonzero()[:, 0].tolist()


def rows(score: Tensor, at: int) -> Tensor:
    return score[at, 0] if score.dim() == 3 else score[at]


def run(name: str, projection: str = "softmax", **options: object) -> dict[tuple[str, str], Tensor]:
    model, record, scores = case(projection)
    with torch.no_grad():
        return AUDITS[name](model, record, scores, 0, **options)


# top-k agreement --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", ["softmax", "sparsemax"])
@pytest.mark.parametrize("fidelity", ["corrected", "code"])
def test_top_k_of_each_example_alone(projection: str, fidelity: str) -> None:
    _, record, scores = case(projection)
    found = run(
        "top_k_agreement", projection, k="average+all+non_zero+2", fidelity=fidelity, mean_length=4
    )
    for at in range(len(LENGTHS)):
        items = real(record, at)
        x, y = rows(scores["attention"], at)[items], rows(scores["gradient"], at)[items]
        fewest = max(min(int((x != 0).sum()), int((y != 0).sum())), 1)
        for name, k in {"average": 4, "all": len(items), "non_zero": fewest, "fixed": 2}.items():
            alone = torch.ones(1, len(items), dtype=torch.bool)
            tau = statistics.top_k_kendall(x[None], y[None], k, alone, fidelity=fidelity)
            overlap = statistics.overlap_at_k(x[None], y[None], k, alone)
            torch.testing.assert_close(found["gradient", f"tau_{name}"][at], tau, equal_nan=True)
            torch.testing.assert_close(
                found["gradient", f"overlap_{name}"][at], overlap, equal_nan=True
            )


def test_all_of_them_is_plain_tau_and_between_measures_is_the_witnesses() -> None:
    found = run("top_k_agreement", mean_length=4)
    plain = run("agreement")
    torch.testing.assert_close(found["random", "tau_all"], plain["random", "tau"], equal_nan=True)
    torch.testing.assert_close(
        found["between_measures", "tau_all"], plain["gradient|leave_one_out", "tau"], equal_nan=True
    )


def test_the_ceiling_of_non_zero_is_over_as_many_words_as_attention_has() -> None:
    _, record, scores = case("sparsemax")
    found = run("top_k_agreement", "sparsemax", k="non_zero")["between_measures", "tau_non_zero"]
    shorter = 0
    for at in range(len(LENGTHS)):
        items = real(record, at)
        x, y, alpha = (
            rows(scores[name], at)[items] for name in ("gradient", "leave_one_out", "attention")
        )
        fewest = max(min(int((each != 0).sum()) for each in (x, y, alpha)), 1)
        shorter += fewest < min(int((x != 0).sum()), int((y != 0).sum()))
        expected = statistics.top_k_kendall(
            x[None], y[None], fewest, torch.ones(1, len(items), dtype=torch.bool)
        )
        torch.testing.assert_close(found[at], expected, equal_nan=True)
    assert shorter  # or the length of attention's list would make no difference


def test_audit_works_out_the_mean_length_of_all_batches() -> None:
    model, record, _ = case()
    halves = [record.batch.rows(torch.arange(3)), record.batch.rows(torch.arange(3, 6))]
    given = audit(
        model, halves, audits=["top_k_agreement"], measures=["gradient"], show_progress=False
    )
    expected = run("top_k_agreement", mean_length=sum(LENGTHS) // len(LENGTHS))[
        "gradient", "tau_average"
    ]
    values = (
        given.frame()
        .query("metric == 'tau_average' and measure == 'gradient'")
        .set_index("example_id")
    )
    np.testing.assert_allclose(
        values.loc[list(record.batch.example_id), "value"], expected[:, 0], rtol=1e-9
    )


@pytest.mark.parametrize("k", ["0", "none", "2+x", "-3"])
def test_a_k_that_is_none_is_refused(k: str) -> None:
    with pytest.raises(InputError, match="k is average, all, non_zero or a number"):
        run("top_k_agreement", k=k, mean_length=4)


# dispersion -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("projection", ["softmax", "sparsemax"])
def test_entropy_of_each_example_is_scipys(projection: str) -> None:
    _, record, scores = case(projection)
    found = run("dispersion", projection)
    assert ("random", "entropy") not in found
    for name in ("attention", "gradient", "leave_one_out"):
        for at, length in enumerate(LENGTHS):
            score = rows(scores[name], at)[real(record, at)].abs().numpy()
            value = float(found[name, "entropy"][at])
            if length == 1:
                assert math.isnan(value)
            else:
                assert value == pytest.approx(scipy_entropy(score) / math.log(length), abs=1e-9)
    zeros = [
        float((rows(scores["attention"], at)[real(record, at)] == 0).double().mean())
        for at in range(6)
    ]
    np.testing.assert_allclose(found["attention", "zeros"][:, 0], zeros)
    assert (max(zeros) > 0) == (projection == "sparsemax")


# attention drawn at random ----------------------------------------------------------------------------------------------


def test_draws_are_even_on_the_simplex_of_the_real_items_and_know_only_the_length() -> None:
    mask = torch.tensor(
        [[[True, True, False, True, False]], [[False, True, True, True, False]], [[False] * 5]]
    )
    found = drawn(mask, 4000, 7)
    assert found.shape == (3, 4000, 1, 5)
    assert (found[~mask[:, None].expand_as(found)] == 0).all()
    torch.testing.assert_close(found[:2].sum(-1), torch.ones(2, 4000, 1, dtype=torch.float64))
    weights = found[0, :, 0, [0, 1, 3]]
    torch.testing.assert_close(weights, found[1, :, 0, [1, 2, 3]])
    # Dirichlet(1,1,1): mean 1/3, variance 1/18 of each weight.
    torch.testing.assert_close(
        weights.mean(0), torch.full((3,), 1 / 3, dtype=torch.float64), atol=0.01, rtol=0
    )
    torch.testing.assert_close(
        weights.var(0), torch.full((3,), 1 / 18, dtype=torch.float64), atol=0.004, rtol=0
    )
    assert not torch.equal(found, drawn(mask, 4000, 8))


def test_the_change_under_random_attention_is_that_of_its_draws() -> None:
    model, record, _ = case()
    found = run("random_attention", draws=9)
    draws = drawn(record.mask, 9, 0)
    with torch.no_grad():
        each = torch.stack([model.decode(record, draws[:, k]) for k in range(9)], 1).softmax(-1)
    moved = (each - record.probs[:, None]).abs().sum(-1) / 2
    torch.testing.assert_close(found["", "tvd_mean"], moved.mean(1))
    np.testing.assert_allclose(found["", "tvd_median"], np.median(moved.numpy(), 1))
    changed = (each.argmax(-1) != record.predicted[:, None]).double().mean(1)
    torch.testing.assert_close(found["", "flipped"], changed)


# epsilon curve ----------------------------------------------------------------------------------------------------------


def test_the_curve_is_the_exact_maximum_at_each_epsilon_and_rises() -> None:
    _, record, _ = case()
    found = run("epsilon_curve", epsilons="0.001+0.05+0.3")
    curve = torch.stack([found["", f"jsd_{each}"] for each in ("0.001", "0.05", "0.3")])
    assert (curve.diff(dim=0) >= -1e-12).all()
    assert (curve[-1] > curve[0] + 0.01).any()
    answer = exact.furthest(record.alpha[:, 0], record.readout, record.mask[:, 0], epsilon=0.05)
    torch.testing.assert_close(found["", "jsd_0.05"], answer.jsd)
    torch.testing.assert_close(found["", "upper_0.05"], answer.upper)


def test_with_more_classes_the_curve_has_a_found_and_a_certified_side() -> None:
    model, record, scores = case(classes=4)
    found = AUDITS["epsilon_curve"](model, record, scores, 0, epsilons="0.05", search=True)
    assert (found["", "upper_0.05"] >= found["", "jsd_0.05"]).all()
    assert (found["", "upper_0.05"] > found["", "jsd_0.05"] + 1e-6).any()


def test_without_a_readout_the_curve_waits_to_be_asked_for() -> None:
    model, record, scores = case()
    blind = replace(record, readout=None)
    _, more, _ = case(classes=4)
    with pytest.raises(NotApplicable, match="more than two classes"):
        AUDITS["epsilon_curve"](model, more, scores, 0)
    with pytest.raises(NotApplicable, match="every ε takes a search"):
        AUDITS["epsilon_curve"](model, blind, scores, 0)
    with pytest.raises(InputError, match="numbers from 0 to 1"):
        run("epsilon_curve", epsilons="0.1+2")


# erasure ----------------------------------------------------------------------------------------------------------------


def _fall(model: object, record: Record, at: int, gone: list[int], token: int | None) -> float:
    """Written out: the words of one text without (or with another token for) some of them, read alone."""
    text = [int(t) for t in record.batch.tokens[at][record.batch.mask[at]]]
    left = [
        t if n not in gone else token
        for n, t in enumerate(text)
        if token is not None or n not in gone
    ]
    tokens = torch.tensor([left])
    with torch.no_grad():
        probs = model.read(Batch(("x",), tokens, tokens > 0)).probs[0]
    return float(record.probs[at, record.predicted[at]] - probs[record.predicted[at]])


@pytest.mark.parametrize("token", [None, 3])
def test_comprehensiveness_and_sufficiency_by_hand(token: int | None) -> None:
    model, record, scores = case()
    options = {} if token is None else {"form": "replace", "token": token}
    found = run("erasure", shares="10+50", rankings="gradient+leave_one_out", **options)
    for name in ("gradient", "leave_one_out"):
        for at, length in enumerate(LENGTHS):
            items = real(record, at)
            score = rows(scores[name], at)
            if score[items].isnan().any():
                assert math.isnan(found[name, "comprehensiveness"][at])
                continue
            ranked = sorted(items, key=lambda item, score=score: -float(score[item]))
            falls = {"comprehensiveness": [], "sufficiency": []}
            for share in (10, 50):
                top = ranked[: math.ceil(share * length / 100)]
                rest = [item for item in items if item not in top]
                for metric, gone in (("comprehensiveness", top), ("sufficiency", rest)):
                    value = float(found[name, f"{metric}_{share}"][at])
                    if token is None and len(gone) == length:
                        assert math.isnan(value)
                    else:
                        falls[metric].append(_fall(model, record, at, gone, token))
                        assert value == pytest.approx(falls[metric][-1], abs=1e-9)
            for metric, each in falls.items():
                if each:
                    assert float(found[name, metric][at]) == pytest.approx(np.mean(each), abs=1e-9)


def test_erasure_asks_for_what_it_knows() -> None:
    for options in ({"form": "replace"}, {"token": 3}, {"form": "blank"}):
        with pytest.raises(InputError, match="form is delete, or replace with token"):
            run("erasure", **options)
    with pytest.raises(InputError, match="shares are per cent"):
        run("erasure", shares="0")
    with pytest.raises(NotApplicable, match="none of the rankings"):
        run("erasure", rankings="lime")


# stability --------------------------------------------------------------------------------------------------------------


def test_stability_looks_only_at_trainings_that_decide_the_same() -> None:
    model, record, _ = case()
    others = [
        build(model.architecture, words=30, classes=2, with_query=False, seed=seed).double().eval()
        for seed in (1, 2, 3)
    ]
    found = run("stability", other_models=others)
    with torch.no_grad():
        theirs = [other.read(record.batch) for other in others]
    for at in range(len(LENGTHS)):
        same = [each for each in theirs if each.predicted[at] == record.predicted[at]]
        assert float(found["", "same_decision"][at]) == pytest.approx(len(same) / 3)
        jsd = [float(statistics.jsd(record.alpha[at, 0], each.alpha[at, 0])) for each in same]
        expected = np.mean(jsd) if jsd else math.nan
        assert float(found["", "jsd"][at]) == pytest.approx(expected, nan_ok=True)
        tvd = np.mean([float(statistics.tvd(record.probs[at], each.probs[at])) for each in theirs])
        assert float(found["", "tvd"][at]) == pytest.approx(tvd)
    assert 0 < found["", "same_decision"].mean() < 1
    with pytest.raises(NotApplicable, match="no other training"):
        run("stability")


def test_other_models_answer_the_last_question_and_are_left_as_found() -> None:
    for kind, answer in {
        "inert": "yes",
        "shifted": "no",
    }.items():  # Inert attends as the Oracle does, Shifted one word off
        results = audit(
            Glass("oracle"), glass_batch(60), other_models=[Glass(kind)], show_progress=False
        )
        assert results.card()["is it stable?"].answer == answer
    model, record, _ = case()
    twin = build(model.architecture, words=30, classes=2, with_query=False, seed=9).double().train()
    audit(
        model,
        record.batch,
        audits=["stability"],
        other_models=[twin],
        measures=[],
        show_progress=False,
    )
    assert all(module.training for module in twin.modules())


# evidence ---------------------------------------------------------------------------------------------------------------


def _runs(chosen: list[bool]) -> list[set[int]]:
    found: list[set[int]] = []
    for at, each in enumerate(chosen):
        if each and at and chosen[at - 1]:
            found[-1].add(at)
        elif each:
            found.append({at})
    return found


def test_f1_over_tokens_and_over_runs_by_hand() -> None:
    draw = np.random.default_rng(5)
    for _ in range(200):
        count = int(draw.integers(1, 14))
        chosen, truth = draw.random(count) < 0.4, draw.random(count) < 0.4
        mask = torch.ones(1, count, dtype=torch.bool)
        tokens = float(token_f1(torch.tensor(chosen)[None], torch.tensor(truth)[None], mask))
        spans = float(iou_f1(torch.tensor(chosen)[None], torch.tensor(truth)[None], mask))
        if not truth.any():
            assert math.isnan(tokens)
            assert math.isnan(spans)
            continue
        assert tokens == pytest.approx(f1_score(truth, chosen, zero_division=0))
        ours, theirs = _runs(list(chosen)), _runs(list(truth))
        fits = lambda a, b: len(a & b) / len(a | b) >= 0.5  # noqa: E731
        precision = np.mean([any(fits(a, b) for b in theirs) for a in ours]) if ours else 0
        recall = np.mean([any(fits(a, b) for a in ours) for b in theirs])
        expected = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert spans == pytest.approx(expected)


def test_the_evidence_audit_takes_as_many_words_as_there_are_and_pads_like_nothing() -> None:
    _, record, scores = case()
    found = run("evidence")
    for at in range(len(LENGTHS)):
        items = real(record, at)
        truth = record.batch.evidence[at][items].numpy()
        score = rows(scores["gradient"], at)[items].numpy()
        if not truth.any():
            assert math.isnan(found["gradient", "token_f1"][at, 0])
            continue
        top = np.zeros(len(items), dtype=bool)
        top[np.argsort(-score)[: truth.sum()]] = True
        assert float(found["gradient", "token_f1"][at, 0]) == pytest.approx(
            f1_score(truth, top, zero_division=0)
        )
    tied = torch.zeros(1, 6)
    everything = torch.ones(1, 6, dtype=torch.bool)
    picked = top_as_many(tied, everything & torch.tensor([[True, True, False, False, False, False]]), everything, torch.rand(1, 6))  # fmt: skip
    assert int(picked.sum()) == 2


# mutual information -----------------------------------------------------------------------------------------------------


def test_information_is_scikit_learns_and_its_correction_takes_the_bias_off() -> None:
    draw = np.random.default_rng(0)
    x, y = draw.integers(0, 30, 300), draw.integers(0, 5, 300)
    table = contingency(x, y)
    assert plug_in(table) == pytest.approx(mutual_info_score(x, y))
    # Independent labels: the plug-in says 0.2, the truth is 0.
    assert plug_in(table) > 0.12
    shuffled = [plug_in(contingency(x, draw.permutation(y))) for _ in range(400)]
    assert by_chance(table) == pytest.approx(np.mean(shuffled), abs=4 * np.std(shuffled) / 20)
    assert adjusted(table) == pytest.approx(plug_in(table) - by_chance(table))
    assert by_chance(np.pad(table, 1)) == pytest.approx(
        by_chance(table)
    )  # labels that do not occur
    same = contingency(y, y)
    shares = np.bincount(y) / 300
    assert plug_in(same) == pytest.approx(-(shares * np.log(shares)).sum())


def test_the_two_rules_for_k_by_hand() -> None:
    weights = np.array(
        [
            [0.5, 0.3, 1e-6, 0],
            [0.9, 1e-7, 0, 0],
            [0.4, 0.3, 0.2, 0.1],
            [0.5, 0.5, 0, 0],
            [1, 1e-3, 0, 0],
        ]
    )
    lengths = np.array([3, 2, 4, 2, 2])
    # Rule 2: 100 %, 80 %, 20 %, 20 % of the k-th weights exceed 1e-5.
    assert ranks(weights, lengths, 2) == 2
    # Rule 1: of all weights up to k, 100 %, 90 %, 66 %, 55 % do; and the 10th percentile of length is 2.
    assert ranks(weights, lengths, 1) == 2
    assert ranks(weights, np.array([3, 4, 4, 4, 4]), 1) == 2
    assert ranks(weights[2:3].repeat(5, 0), np.full(5, 4), 1) == 4
    assert ranks(np.full((5, 4), 1e-9), np.full(5, 4), 2) == 0


def test_the_most_attended_states_of_the_oracle_inform_and_shuffled_ones_do_not() -> None:
    batch = glass_batch(300)
    found = mutual_information(Glass("oracle"), [batch], 0, clusterings=2, show_progress=False)
    detail = found.detail.set_index("rank")
    assert detail.loc[1, "mi"] > 0.6  # the word that decides: ln 2 at most
    assert detail.loc[1, "mi"] > detail.loc[2, "mi"] + 0.3
    assert (detail["mi_floor"] < 0.3).all()
    summary = found.summary.set_index("metric")
    # The plug-in's bias alone ranks the first word first; taken off, chance gives nothing.
    assert summary.loc["weighted_tau", "floor"] > 0.5
    tau = summary.loc["weighted_tau_corrected"]
    assert abs(tau["floor"]) < 0.5 < tau["value"]
    assert tau["low"] <= tau["value"] <= tau["high"]
    again = mutual_information(Glass("oracle"), [batch], 0, clusterings=2, show_progress=False)
    assert again.summary.equals(found.summary)
    other = mutual_information(Glass("oracle"), [batch], 1, clusterings=2, show_progress=False)
    assert not other.detail.equals(found.detail)


def test_information_on_batches_does_not_hang_on_how_they_are_cut() -> None:
    model, record, _ = case()
    batch = record.batch.rows(torch.tensor([1, 2, 3, 4, 5] * 30))
    batch = replace(batch, example_id=tuple(map(str, range(150))))
    whole = mutual_information(
        model, [batch], 0, rule=2, clusters=4, clusterings=1, show_progress=False
    )
    parts = [batch.rows(torch.arange(at, at + 50)) for at in (0, 50, 100)]
    cut = mutual_information(
        model, parts, 0, rule=2, clusters=4, clusterings=1, show_progress=False
    )
    np.testing.assert_allclose(whole.detail["mi"], cut.detail["mi"], atol=1e-9)
    with pytest.raises(InputError, match="rule must be 1 or 2"):
        mutual_information(model, parts, 0, rule=3)
    with pytest.raises(NotApplicable, match="leaves 1 rank"):
        mutual_information(model, [record.batch.rows(torch.tensor([0, 0]))], 0)


def test_summary_says_where_a_mean_lies_between_floor_and_ceiling_and_families_are_judged() -> None:
    model, record, _ = case()
    measures = ["gradient", "leave_one_out", "random"]
    results = audit(
        model, record.batch, audits=["agreement", "erasure"], measures=measures, show_progress=False
    )
    whole = results.summary().query(
        "compared == 1"
    )  # floor and ceiling are of the very examples of the mean
    assert len(whole) > 10
    for line in whole.itertuples():
        room = line.ceiling - line.floor
        expected = (line.mean - line.floor) / room if room else math.nan
        assert line.relative == pytest.approx(expected, nan_ok=True)
    values = results.frame().query("audit == 'agreement' and measure == 'gradient'")
    p = values.query("metric == 'p'").set_index("example_id")["value"]
    stands = values.query("metric == 'significant_family'").set_index("example_id")["value"]
    from scipy.stats import false_discovery_control

    known = p.notna()
    expected = (false_discovery_control(p[known]) <= 0.05).astype(float)
    np.testing.assert_array_equal(stands[known], expected)
    assert stands[~known].isna().all()
    needed = results.examples_needed(0.1)
    assert (needed["needed"].dropna() >= 1).all()
