"""Every audit against plain loops on random models with large parameters, with and without a readout; and `audit` itself."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import rel_entr, softmax
from scipy.stats import chisquare, kendalltau
from sklearn.metrics import average_precision_score
from torch import Tensor, nn

from attnaudit import audit, exact
from attnaudit.auditing.example_store import choose_examples
from attnaudit.audits import AUDITS
from attnaudit.audits.agreement import agreement
from attnaudit.audits.counterfactual import permuted
from attnaudit.audits.declaration import Declaration, Metric, Values, declares
from attnaudit.audits.evidence import evidence
from attnaudit.audits.flip_fraction import flip_fraction
from attnaudit.audits.furthest import furthest
from attnaudit.audits.permutation import permutation
from attnaudit.audits.top_item import top_item
from attnaudit.audits.uniform_attention import uniform_attention
from attnaudit.core import masking
from attnaudit.core.contract import AttentionModel, Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.measures import DEFAULT_MEASURES, MEASURES
from attnaudit.models import Architecture, build
from attnaudit.models.glass import Glass, glass_batch

START, END = 1, 2
LENGTHS = (7, 3, 1, 9, 2, 5, 8, 6, 4, 7, 9, 2)
EXAMPLES = len(LENGTHS)


# Models -----------------------------------------------------------------------------------------------------------------


class TwoRows(nn.Module):
    """Two rows of attention, the second blind to the last word, and a bent output: no readout."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(30, 4))
        self.score = nn.Parameter(torch.zeros(2, 4))
        self.inner = nn.Parameter(torch.zeros(8, 6))
        self.outer = nn.Parameter(torch.zeros(6, classes))

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        embeddings = self.table[batch.tokens] if embeddings is None else embeddings
        words = batch.mask & (batch.tokens > END)
        before = embeddings * words[..., None]
        hidden = (embeddings + before.cumsum(1) / 3).tanh() * 2
        last = words & (words.flip(1).cumsum(1).flip(1) == 1)
        second = torch.where(words.sum(-1, keepdim=True) > 1, words & ~last, words)
        mask = torch.stack([words, second], 1)
        alpha = masking.softmax(self.score @ hidden.transpose(1, 2), mask)
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        return Record(
            batch=batch,
            embeddings=embeddings,
            hidden=hidden,
            alpha=alpha,
            mask=mask,
            content=words,
            item_of_token=place.masked_fill(~words, -1),
            logits=self._logits(alpha, hidden),
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]  # type: ignore[index]
        return self._logits(alpha, hidden)

    def _logits(self, alpha: Tensor, hidden: Tensor) -> Tensor:
        return ((alpha @ hidden).flatten(-2) @ self.inner).tanh() @ self.outer * 2

    def plain(self, record: Record, at: int, alpha: np.ndarray) -> np.ndarray:
        context = (alpha @ record.hidden[at].numpy()).reshape(-1)  # type: ignore[index]
        return np.tanh(context @ self.inner.numpy()) @ self.outer.numpy() * 2


def large(model: nn.Module, std: float = 0.7) -> Any:
    """Parameters of a size at which everything moves everything."""
    draw = torch.Generator().manual_seed(0)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=std, generator=draw)
        parameter.requires_grad_(False)
    return model.eval()


def attentive(batch: Batch, *, classes: int, dtype: torch.dtype = torch.float64) -> Any:
    """A random model with sharp attention that decides for every class about as often."""
    architecture = Architecture(encoder="bilstm:hidden=5", embedding=6)
    model = large(
        build(architecture, words=30, classes=classes, with_query=batch.query is not None)
    ).double()
    model.scorer.score.weight *= 4
    model.output.context.weight *= 5
    model.output.context.bias -= model.read(batch).logits.mean(0)
    return model.to(dtype)


def random_batch(
    *, classes: int, query: bool = False, candidates: bool = False, seed: int = 0
) -> Batch:
    draw = np.random.default_rng(seed)

    def texts(lengths: tuple[int, ...]) -> Tensor:
        rows = [[START, *draw.integers(3, 30, size=n), END] for n in lengths]
        return torch.tensor([row + [0] * (max(map(len, rows)) - len(row)) for row in rows])

    tokens = texts(LENGTHS)
    asked = texts(tuple(draw.integers(1, 5, size=EXAMPLES))) if query else None
    allowed = draw.random((EXAMPLES, classes)) < 0.6
    allowed[:, :2] = True
    known = torch.tensor(draw.random(tokens.shape) < 0.3)
    return Batch(
        tuple(f"example/{at}" for at in range(EXAMPLES)),
        tokens,
        tokens > 0,
        asked,
        None if asked is None else asked > 0,
        classes=torch.tensor(allowed) if candidates else None,
        labels=torch.tensor(draw.integers(0, 2, size=EXAMPLES)),
        evidence=known & (tokens > END),
    )


@dataclass(frozen=True)
class Case:
    model: Any
    record: Record
    logits: Callable[[int, np.ndarray], np.ndarray]  # of one example under (R,N), in NumPy

    @property
    def alpha(self) -> np.ndarray:
        return self.record.alpha.numpy()

    @property
    def mask(self) -> np.ndarray:
        return self.record.mask.numpy()

    def allowed(self, at: int) -> np.ndarray:
        classes = self.record.batch.classes
        return (
            np.ones(self.record.logits.shape[1], bool) if classes is None else classes[at].numpy()
        )

    def probs(self, at: int, alpha: np.ndarray) -> np.ndarray:
        return softmax(np.where(self.allowed(at), self.logits(at, alpha), -np.inf))

    def decided(self, at: int, alpha: np.ndarray) -> int:
        return int(np.argmax(self.probs(at, alpha)))


def attentive_case(*, classes: int, query: bool = False, candidates: bool = False) -> Case:
    batch = random_batch(classes=classes, query=query, candidates=candidates)
    model = attentive(batch, classes=classes)
    record = model.read(batch)

    def logits(at: int, alpha: np.ndarray) -> np.ndarray:
        output = model.output
        found = output.context.weight.numpy() @ (alpha[0] @ record.hidden[at].numpy())
        found = found + output.context.bias.numpy()
        return found + output.query.weight.numpy() @ record.state[at].numpy() if query else found

    return Case(model, record, logits)


def two_row_case(classes: int) -> Case:
    model = large(TwoRows(classes), std=1.2).double()
    record = model.read(random_batch(classes=classes))
    return Case(model, record, lambda at, alpha: model.plain(record, at, alpha))


MAKE = {
    "two classes": lambda: attentive_case(classes=2),
    "two classes, query": lambda: attentive_case(classes=2, query=True),
    "four classes": lambda: attentive_case(classes=4),
    "four classes, query, candidates": lambda: attentive_case(
        classes=4, query=True, candidates=True
    ),
    "two rows": lambda: two_row_case(3),
}
LINEAR = [name for name in MAKE if name != "two rows"]


@cache
def case(name: str) -> Case:
    return MAKE[name]()


@cache
def scores_of(name: str) -> dict[str, Tensor]:
    chosen = case(name)
    return {
        measure: MEASURES[measure](chosen.model, chosen.record, 0).detach()
        for measure in DEFAULT_MEASURES
    }


every_case = pytest.mark.parametrize("name", MAKE)


def tvd(p: np.ndarray, q: np.ndarray) -> float:
    return float(np.abs(p - q).sum() / 2)


def jsd(p: np.ndarray, q: np.ndarray) -> float:
    middle = (p + q) / 2
    return float((rel_entr(p, middle) + rel_entr(q, middle)).sum() / 2)


def hidden_readout(chosen: Case) -> Record:
    return replace(chosen.record, readout=None)


def same(found: Tensor, expected: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(
        found.double().numpy(), np.asarray(expected, float), atol=tolerance, rtol=0
    )


@every_case
def test_the_plain_logits_of_these_tests_are_the_models(name: str) -> None:
    chosen = case(name)
    same(chosen.record.logits, [chosen.logits(at, chosen.alpha[at]) for at in range(EXAMPLES)])
    assert len(set(chosen.record.predicted.tolist())) > 1
    assert (chosen.record.readout is None) == (name == "two rows")


# Agreement --------------------------------------------------------------------------------------------------------------


def plain_tau(x: Any, y: Any, real: Any) -> tuple[float, float]:
    x, y = np.asarray(x)[real], np.asarray(y)[real]
    if len(x) < 2 or np.isnan(x).any() or np.isnan(y).any():
        return math.nan, math.nan
    found = kendalltau(x, y)
    return float(found.statistic), float(found.pvalue)


@every_case
def test_agreement_is_scipys_tau_example_by_example_and_row_by_row(name: str) -> None:
    chosen = case(name)
    scores = {**scores_of(name), "itself": chosen.record.alpha[:, 0]}
    values = agreement(chosen.model, chosen.record, scores, 0)
    rows = chosen.alpha.shape[1]
    for measure, score in scores.items():
        if measure == "attention":
            assert (measure, "tau") not in values
            continue
        assert values[measure, "tau"].shape == (EXAMPLES, rows)
        for at in range(EXAMPLES):
            for row in range(rows):
                other = score[at] if score.dim() == 2 else score[at, row]
                attended = chosen.record.content[at].numpy() & chosen.mask[at, row]
                tau, p = plain_tau(chosen.alpha[at, row], other, attended)
                same(values[measure, "tau"][at, row], tau, 1e-9)
                same(values[measure, "p"][at, row], p, 1e-9)
                same(
                    values[measure, "significant"][at, row],
                    math.nan if math.isnan(p) else float(p <= 0.05),
                )
    assert values["gradient", "tau"].isnan().any()  # the text of one word
    assert values["itself", "significant"].nan_to_num(0).any()


def made_scores(chosen: Case) -> dict[str, Tensor]:
    """Ties, a constant and a NaN, none of which may be passed over."""
    draw = np.random.default_rng(8)
    shape = chosen.record.content.shape
    a, b, c = (torch.tensor(draw.integers(0, 4, size=shape).astype(float)) for _ in range(3))
    a[0] = 1.0
    b[3, 3] = math.nan
    return {"attention": chosen.record.alpha, "a": a, "b": b, "c": c, "random": torch.tensor(draw.random(shape))}  # fmt: skip


def test_the_ceiling_is_the_agreement_of_the_witnesses_and_of_nothing_else() -> None:
    """A ranking of the user's own, however poor, must not lower what attention is held against."""
    chosen = case("four classes")
    made = made_scores(chosen)
    scores = {**made, "gradient": made["a"], "leave_one_out": made["b"], "mine": made["c"]}
    values = agreement(chosen.model, chosen.record, scores, 0)
    pairs = [key[0] for key in values if key[1] == "tau" and "|" in key[0]]
    assert pairs == ["gradient|leave_one_out"]
    for at in range(EXAMPLES):
        found = {
            "gradient|leave_one_out": plain_tau(
                made["a"][at], made["b"][at], chosen.record.content[at].numpy()
            )
        }
        for pair, (tau, p) in found.items():
            same(values[pair, "tau"][at], tau, 1e-9)
            same(values[pair, "p"][at], p, 1e-9)
        known = [tau for tau, _ in found.values() if not math.isnan(tau)]
        sure = [float(p <= 0.05) for _, p in found.values() if not math.isnan(p)]
        same(values["between_measures", "tau"][at], np.mean(known) if known else math.nan, 1e-9)
        same(
            values["between_measures", "significant"][at], np.mean(sure) if sure else math.nan, 1e-9
        )
    assert values["gradient|leave_one_out", "tau"][0].isnan()  # a constant has no tau: never 0


@every_case
def test_rankings_made_of_attention_and_random_ones_are_no_witnesses(name: str) -> None:
    values = agreement(case(name).model, case(name).record, scores_of(name), 0)
    assert [key[0] for key in values if "|" in key[0] and key[1] == "tau"] == [
        "gradient|leave_one_out"
    ]
    same(values["between_measures", "tau"], values["gradient|leave_one_out", "tau"])


def test_with_one_measure_there_is_no_ceiling_and_with_none_no_agreement() -> None:
    chosen, scores = case("two classes"), scores_of("two classes")
    one = agreement(
        chosen.model, chosen.record, {k: scores[k] for k in ("attention", "gradient")}, 0
    )
    assert one["between_measures", "tau"].isnan().all()
    assert not one["gradient", "tau"].isnan().all()
    with pytest.raises(NotApplicable, match="no measure was computed besides attention"):
        agreement(chosen.model, chosen.record, {"attention": scores["attention"]}, 0)


# Permutation ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shuffles", [4, 31])
@every_case
def test_permutation_is_the_median_and_mean_change_over_the_shuffles_decoded_one_by_one(
    name: str, shuffles: int
) -> None:
    chosen = case(name)
    values = permutation(chosen.model, chosen.record, {}, 7, shuffles=shuffles)
    drawn = permuted(chosen.record.alpha, chosen.record.mask, shuffles, 7).numpy()
    for at in range(EXAMPLES):
        before = chosen.probs(at, chosen.alpha[at])
        moved = [tvd(chosen.probs(at, each), before) for each in drawn[at]]
        flips = [chosen.decided(at, each) != int(before.argmax()) for each in drawn[at]]
        same(values["", "tvd_median"][at], np.median(moved))
        same(values["", "tvd_mean"][at], np.mean(moved))
        same(values["", "flipped"][at], np.mean(flips))
        same(values["", "max_attention"][at], chosen.alpha[at].max(-1))
    assert values["", "tvd_median"].max() > 0.05


@every_case
def test_one_item_cannot_be_shuffled(name: str) -> None:
    values = permutation(case(name).model, case(name).record, {}, 0)
    alone = LENGTHS.index(1)
    same(values["", "tvd_median"][alone], 0)
    same(values["", "tvd_mean"][alone], 0)
    assert values["", "flipped"][alone] == 0


@every_case
def test_the_reach_is_the_largest_change_by_all_weight_on_one_item(name: str) -> None:
    chosen = case(name)
    reach = permutation(chosen.model, chosen.record, {}, 0)["", "tvd_reach"]
    if chosen.record.readout is None:
        assert reach.isnan().all()
        return
    if chosen.record.logits.shape[1] > 2:  # a mixture of items can go further than any one of them
        assert (reach == 1).all()
        return
    for at in range(EXAMPLES):
        before = chosen.probs(at, chosen.alpha[at])
        items = np.flatnonzero(chosen.mask[at, 0])
        one_hot = np.eye(chosen.alpha.shape[2])[:, None]
        same(reach[at], max(tvd(chosen.probs(at, one_hot[item]), before) for item in items))


# Top item ---------------------------------------------------------------------------------------------------------------


def removed(alpha: np.ndarray, row: int, item: int) -> np.ndarray:
    left = alpha.copy()
    left[row, item] = 0
    left[row] /= left[row].sum()
    return left


def drawn_items(chosen: Case, values: Values) -> np.ndarray:
    """(B,R) which item was drawn at random: the one whose weight is the top one's less the difference given; -1 without any."""
    weight = chosen.alpha.max(-1) - values["", "delta_alpha"].numpy()
    drawn = np.full(weight.shape, -1)
    for at, row in np.argwhere(~np.isnan(weight)):
        close = np.flatnonzero(
            chosen.mask[at, row] & (np.abs(chosen.alpha[at, row] - weight[at, row]) < 1e-12)
        )
        assert len(close) == 1
        drawn[at, row] = close[0]
    return drawn


@pytest.mark.parametrize("fidelity", ["corrected", "code"])
@every_case
def test_top_item_is_a_plain_removal_of_the_top_and_of_the_drawn_item(
    name: str, fidelity: str
) -> None:
    chosen = case(name)
    values = top_item(chosen.model, chosen.record, {}, 3, fidelity=fidelity)
    drawn = drawn_items(chosen, values)
    for at in range(EXAMPLES):
        for row in range(chosen.alpha.shape[1]):
            if chosen.mask[at, row].sum() < 2:
                assert all(value[at, row].isnan() for value in values.values())
                continue
            before = chosen.probs(at, chosen.alpha[at])
            ends = [
                chosen.probs(at, removed(chosen.alpha[at], row, item))
                for item in (int(chosen.alpha[at, row].argmax()), int(drawn[at, row]))
            ]
            js = [jsd(end, before) for end in ends]
            top, other = (float(end.argmax() != before.argmax()) for end in ends)
            expected = {
                "delta_js": js[0] - js[1],
                "js_reach": js[0],
                "flips_top": top,
                "flips_random": other,
                "flips_both": float(top and other),
                "flips_only_top": float(top and not other),
                "flips_only_random": float(other and not top),
                "flips_neither": float(not top and not other),
            }
            for metric, value in expected.items():
                same(values["", metric][at, row], value, 1e-9)
    cells = sum(
        values["", f"flips_{cell}"] for cell in ("both", "only_top", "only_random", "neither")
    )
    defined = chosen.record.mask.sum(-1) > 1
    same(cells[defined], np.ones(int(defined.sum())))
    assert values["", "flips_top"].nan_to_num(0).any()


@pytest.mark.parametrize("name", ["two classes", "two rows"])
def test_the_random_item_is_never_the_top_one_and_every_other_is_drawn_as_often(name: str) -> None:
    chosen = case(name)
    at, rows = LENGTHS.index(7), chosen.alpha.shape[1]
    seen = [Counter() for _ in range(rows)]
    together = 0
    for seed in range(300):
        drawn = drawn_items(chosen, top_item(chosen.model, chosen.record, {}, seed))
        together += drawn[at, 0] == drawn[at, -1]
        for row in range(rows):
            seen[row][int(drawn[at, row])] += 1
    for row in range(rows):
        real = set(np.flatnonzero(chosen.mask[at, row]).tolist())
        assert set(seen[row]) == real - {int(chosen.alpha[at, row].argmax())}
        assert chisquare(list(seen[row].values())).pvalue > 1e-3
    assert rows == 1 or together < 150  # each row has a draw of its own


def test_the_released_draw_never_takes_the_first_position_and_can_take_the_top() -> None:
    chosen = case("two classes")
    seen: dict[int, Counter] = {at: Counter() for at in range(EXAMPLES)}
    for seed in range(250):
        drawn = drawn_items(
            chosen, top_item(chosen.model, chosen.record, {}, seed, fidelity="code")
        )
        for at in range(EXAMPLES):
            seen[at][int(drawn[at, 0])] += 1
    for at in range(EXAMPLES):
        if LENGTHS[at] < 2:
            continue
        real = np.flatnonzero(chosen.mask[at, 0]).tolist()
        assert set(seen[at]) == set(real[1:])
        if len(real) > 2:
            assert chisquare(list(seen[at].values())).pvalue > 1e-4
    tops = [
        int(chosen.alpha[at, 0].argmax()) in seen[at] for at in range(EXAMPLES) if LENGTHS[at] > 1
    ]
    assert any(tops)


def test_top_item_names_its_fidelities() -> None:
    chosen = case("two classes")
    with pytest.raises(
        InputError, match="no fidelity 'paper' of the audit top_item; choose from: corrected, code"
    ):
        top_item(chosen.model, chosen.record, {}, 0, fidelity="paper")


def test_all_weight_on_one_item_leaves_nothing_to_remove_it_from() -> None:
    chosen = case("two classes")
    alpha = torch.zeros_like(chosen.record.alpha)
    alpha[:, :, 1] = 1  # the first word
    record = replace(chosen.record, alpha=alpha, logits=chosen.model.decode(chosen.record, alpha))
    values = top_item(chosen.model, record, {}, 0)
    for metric in ("delta_js", "js_reach", "flips_top", "flips_both", "flips_neither"):
        assert values["", metric].isnan().all()
    assert values["", "flips_random"].isnan().all()  # a floor of the same examples
    long = record.mask.sum(-1) > 1
    same(values["", "delta_alpha"][long], np.ones(int(long.sum())))


# Flip fraction ----------------------------------------------------------------------------------------------------------


def plain_fraction(chosen: Case, at: int, order: list[int]) -> float:
    """Share of items gone when the decision first flips; NaN if it never does."""
    start = chosen.decided(at, chosen.alpha[at])
    for gone in range(1, len(order)):
        left = chosen.alpha[at].copy()
        left[:, order[:gone]] = 0
        weight = left.sum(-1, keepdims=True)
        left = np.divide(left, weight, out=np.zeros_like(left), where=weight > 0)
        if weight.max() > 0 and chosen.decided(at, left) != start:
            return gone / len(order)
    return math.nan


def no_ties(seed: int, chosen: Case) -> dict[str, Tensor]:
    draw = np.random.default_rng(seed)
    shape = chosen.record.content.shape
    return {
        "attention": chosen.record.alpha,
        **{f"made/{n}": torch.tensor(draw.normal(size=shape)) for n in range(4)},
    }


@every_case
def test_flip_fraction_is_removal_one_by_one_in_the_order_of_the_ranking(name: str) -> None:
    chosen = case(name)
    scores = no_ties(1, chosen)
    values = flip_fraction(chosen.model, chosen.record, scores, 0)
    for measure, score in scores.items():
        ranking = score.numpy() if score.dim() == 2 else score.numpy().mean(1)
        for at in range(EXAMPLES):
            items = np.flatnonzero(chosen.mask[at].any(0))
            order = sorted(
                items.tolist(), key=lambda item, at=at, ranking=ranking: -ranking[at, item]
            )
            fraction = plain_fraction(chosen, at, order)
            never = math.isnan(fraction)
            same(values[measure, "fraction"][at], fraction)
            same(values[measure, "removed"][at], 1.0 if never else fraction)
            same(values[measure, "flipped"][at], float(not never))
    flipped = values["attention", "flipped"]
    assert 0 < flipped.sum() < EXAMPLES


@pytest.mark.parametrize("name", LINEAR)
def test_no_ranking_beats_the_smallest_set_which_is_that_of_all_subsets(name: str) -> None:
    chosen = case(name)
    scores = {**scores_of(name), **no_ties(2, chosen)}
    values = flip_fraction(chosen.model, chosen.record, scores, 0)
    least = values["smallest_set", "removed"]
    for measure in scores:
        unknown = (scores[measure].flatten(1).isnan().any(-1)) & values[measure, "removed"].isnan()
        assert ((values[measure, "removed"] >= least - 1e-12) | unknown).all()
        assert ((values[measure, "flipped"] <= values["smallest_set", "flipped"]) | unknown).all()
    for at in range(EXAMPLES):
        items = np.flatnonzero(chosen.mask[at, 0]).tolist()
        if len(items) > 7:
            continue
        start, found = chosen.decided(at, chosen.alpha[at]), math.nan
        for size in range(1, len(items)):
            for gone in combinations(items, size):
                left = chosen.alpha[at].copy()
                left[:, list(gone)] = 0
                if math.isnan(found) and chosen.decided(at, left / left.sum()) != start:
                    found = size / len(items)
        same(values["smallest_set", "fraction"][at], found)
    assert values["smallest_set", "flipped"].sum() > 0


@pytest.mark.parametrize("name", LINEAR)
def test_without_its_readout_a_model_gives_the_same_numbers(name: str) -> None:
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


def test_without_a_readout_there_is_no_smallest_set() -> None:
    values = flip_fraction(
        case("two rows").model, case("two rows").record, scores_of("two rows"), 0
    )
    assert ("smallest_set", "removed") not in values


def test_ties_are_broken_at_random_never_by_position() -> None:
    """Oracle, all scores equal: the decision flips when the one deciding word goes, and its turn is any, as often."""
    model, batch = Glass("oracle"), glass_batch(30)
    at = next(
        at
        for at in range(30)
        if batch.labels is not None and batch.labels[at] == 1 and int(batch.mask[at].sum()) == 8
    )
    record = model.read(batch.rows(torch.tensor([at])))
    turns = Counter()
    for seed in range(400):
        values = flip_fraction(model, record, {"equal": torch.zeros(1, 14)}, seed)
        flipped = bool(values["equal", "flipped"])
        turns[round(float(values["equal", "removed"]) * 8) if flipped else "never"] += 1
    assert set(turns) == {
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        "never",
    }  # last of all: nothing is left to decide otherwise
    assert chisquare(list(turns.values())).pvalue > 1e-3


def flat_record(alpha: list[float], readout: list[list[float]], dtype: torch.dtype) -> Record:
    each, weight = torch.tensor([readout], dtype=dtype), torch.tensor([[alpha]], dtype=dtype)
    tokens = torch.full((1, len(alpha)), 7)
    return Record(
        batch=Batch(("flat",), tokens, tokens > 0),
        embeddings=torch.zeros(1, len(alpha), 1),
        hidden=each,
        alpha=weight,
        mask=torch.ones(1, 1, len(alpha), dtype=torch.bool),
        content=torch.ones(1, len(alpha), dtype=torch.bool),
        item_of_token=torch.arange(len(alpha))[None],
        logits=(weight @ each)[:, 0],
        readout=each,
    )


class Plain:
    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        raise AssertionError

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]  # type: ignore[index]
        return (alpha @ hidden).squeeze(-2)


@pytest.mark.parametrize("readout", [True, False])
def test_a_tie_of_two_classes_is_no_flip(readout: bool) -> None:
    record = flat_record([0.5, 0.25, 0.25], [[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]], torch.float64)
    record = record if readout else replace(record, readout=None)
    values = flip_fraction(Plain(), record, {"m": torch.tensor([[3.0, 2.0, 1.0]])}, 0)
    assert float(values["m", "flipped"]) == 0
    assert float(values["m", "removed"]) == 1
    assert values["m", "fraction"].isnan().all()


@pytest.mark.parametrize("readout", [True, False])
def test_a_prefix_that_takes_all_the_weight_is_no_flip(readout: bool) -> None:
    record = flat_record([1.0, 0.0, 0.0], [[2.0, 0.0], [0.0, 9.0], [0.0, 9.0]], torch.float64)
    record = record if readout else replace(record, readout=None)
    values = flip_fraction(Plain(), record, {"m": torch.tensor([[3.0, 2.0, 1.0]])}, 0)
    assert float(values["m", "flipped"]) == 0


def test_removing_nothing_is_no_flip_when_the_classes_are_equal_to_rounding() -> None:
    """0.1·7 and 0.7 tie in float32, where the model decides, but not when its float32 weights are taken to float64."""
    record = flat_record([0.1, 0.2, 0.7], [[0.0, 7.0], [0.0, 0.0], [1.0, 0.0]], torch.float32)
    assert record.predicted.tolist() == [0]
    values = flip_fraction(Plain(), record, {"m": torch.tensor([[1.0, 2.0, 3.0]])}, 0)
    assert float(values["m", "removed"]) > 0
    assert float(values["m", "removed"]) >= float(values["smallest_set", "removed"]) > 0


# Uniform attention --------------------------------------------------------------------------------------------------------


@every_case
def test_uniform_attention_is_decoded_over_the_real_items_of_each_row(name: str) -> None:
    chosen = case(name)
    values = uniform_attention(chosen.model, chosen.record, {}, 0)
    assert chosen.record.batch.labels is not None
    for at in range(EXAMPLES):
        even = chosen.mask[at] / chosen.mask[at].sum(-1, keepdims=True)
        own, other = (chosen.decided(at, alpha) for alpha in (chosen.alpha[at], even))
        label = int(chosen.record.batch.labels[at])
        same(values["", "tvd"][at], tvd(chosen.probs(at, even), chosen.probs(at, chosen.alpha[at])))
        same(values["", "flipped"][at], float(own != other))
        same(values["", "correct"][at], float(own == label))
        same(values["", "accuracy_drop"][at], float(own == label) - float(other == label))
    assert values["", "flipped"].any()


def test_without_labels_nothing_is_said_of_accuracy() -> None:
    chosen = case("two classes")
    record = replace(chosen.record, batch=replace(chosen.record.batch, labels=None))
    assert set(uniform_attention(chosen.model, record, {}, 0)) == {("", "tvd"), ("", "flipped")}


# Evidence ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two classes", "two rows"])
def test_evidence_is_scikit_learns_average_precision_and_plain_hits_and_mass(name: str) -> None:
    chosen = case(name)
    scores = {**scores_of(name), "tied": made_scores(chosen)["c"]}
    values = evidence(chosen.model, chosen.record, scores, 0)
    known = chosen.record.batch.evidence
    assert known is not None
    for measure, score in scores.items():
        rows = score if score.dim() == 3 else score[:, None].expand_as(chosen.record.alpha)
        assert values[measure, "hit"].shape == rows.shape[:2]
        for at in range(EXAMPLES):
            for row in range(rows.shape[1]):
                # A row is judged on the items it may attend to, and so is any other score beside it.
                real = chosen.record.content[at].numpy() & chosen.mask[at, row]
                truth = known[at].numpy()[real]
                score_of = rows[at, row].numpy()[real]
                if not truth.any() or np.isnan(score_of).any():
                    hit = auprc = mass = math.nan
                else:
                    hit = truth[score_of == score_of.max()].mean()
                    auprc = average_precision_score(truth, score_of)
                    size = np.abs(score_of).sum()
                    mass = np.abs(score_of)[truth].sum() / size if size else math.nan
                same(values[measure, "hit"][at, row], hit)
                same(values[measure, "auprc"][at, row], auprc, 1e-6)
                same(values[measure, "mass"][at, row], mass)
    assert values["attention", "hit"].isnan().any()
    assert not values["attention", "hit"].isnan().all()


def test_the_share_of_evidence_is_given_where_there_is_evidence_and_nan_elsewhere() -> None:
    """As every other number of the audit, or the floor of `mass` would be a mean over other examples than `mass`."""
    chosen = case("two classes")
    share = evidence(chosen.model, chosen.record, scores_of("two classes"), 0)["", "share"]
    for at in range(EXAMPLES):
        truth = chosen.record.batch.evidence[at].numpy()[chosen.record.content[at].numpy()]  # type: ignore[index]
        same(share[at], truth.mean() if truth.any() else math.nan)


def test_evidence_is_not_applicable_where_none_is_known() -> None:
    chosen = case("two classes")
    record = replace(chosen.record, batch=replace(chosen.record.batch, evidence=None))
    with pytest.raises(NotApplicable, match="does not say which words are evidence"):
        evidence(chosen.model, record, scores_of("two classes"), 0)


# Furthest ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "epsilon"), [("two classes", 0.01), *((name, 0.05) for name in LINEAR)]
)
def test_furthest_is_the_exact_answer_where_there_is_a_readout(name: str, epsilon: float) -> None:
    chosen = case(name)
    values = furthest(chosen.model, chosen.record, {}, 0, epsilon=epsilon)
    readout = chosen.record.readout
    assert readout is not None
    answer = exact.furthest(
        chosen.record.alpha[:, 0],
        readout,
        chosen.record.mask[:, 0],
        epsilon=epsilon,
        classes=chosen.record.batch.classes,
    )
    same(values["", "jsd"], answer.jsd)
    same(values["", "upper"], answer.upper)
    same(values["", "exact"], answer.exact)
    assert (values["", "tvd"] <= epsilon + 1e-9).all()
    for at in range(EXAMPLES):
        moved = tvd(
            chosen.probs(at, answer.alpha[at].numpy()[None]), chosen.probs(at, chosen.alpha[at])
        )
        same(values["", "tvd"][at], moved)
        same(values["", "found"][at], float(answer.jsd[at] > 0))
    if readout.shape[2] == 2:
        assert values["", "exact"].all()


@every_case
def test_the_furthest_any_attention_could_be_is_all_weight_on_the_least_attended_item(
    name: str,
) -> None:
    chosen = case(name)
    values = furthest(chosen.model, chosen.record, {}, 0)
    one_hot = np.eye(chosen.alpha.shape[2])
    for at in range(EXAMPLES):
        most = [
            max(
                jsd(one_hot[item], chosen.alpha[at, row])
                for item in np.flatnonzero(chosen.mask[at, row])
            )
            for row in range(chosen.alpha.shape[1])
        ]
        same(values["", "jsd_any"][at], np.mean(most))
    assert (values["", "jsd"] <= values["", "upper"] + 1e-9).all()
    assert (values["", "upper"] <= values["", "jsd_any"] + 1e-9).all()


@pytest.mark.parametrize(
    ("name", "fidelity"),
    [
        ("two classes", "code"),
        ("two classes", "paper"),
        ("four classes, query, candidates", "code"),
    ],
)
def test_the_papers_searches_are_feasible_and_never_beyond_the_exact_bound(
    name: str, fidelity: str
) -> None:
    chosen = case(name)
    searched = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.05, fidelity=fidelity)
    best = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.05)
    assert (searched["", "jsd"] <= best["", "upper"] + 1e-9).all()
    assert (searched["", "tvd"] <= 0.05 + 1e-9).all()
    assert (searched["", "jsd"] > 0.1).any()
    assert not searched["", "exact"].any()
    same(searched["", "found"], searched["", "jsd"] > 0)


def test_without_a_readout_the_search_is_feasible_and_its_bound_is_the_unconstrained_one() -> None:
    chosen = case("two rows")
    values = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.05)
    assert (values["", "tvd"] <= 0.05 + 1e-9).all()
    assert (values["", "jsd"] > 0.1).any()
    same(values["", "upper"], values["", "jsd_any"])
    assert not values["", "exact"].any()


def test_a_failed_search_counts_0_and_says_that_nothing_was_found() -> None:
    chosen = case("two classes")
    values = furthest(chosen.model, chosen.record, {}, 0, epsilon=0.0, fidelity="code")
    same(values["", "jsd"], np.zeros(EXAMPLES))
    same(values["", "found"], np.zeros(EXAMPLES))
    same(values["", "tvd"], np.zeros(EXAMPLES))


def test_furthest_names_its_fidelities() -> None:
    chosen = case("two classes")
    with pytest.raises(
        InputError,
        match="no fidelity 'x' of the audit furthest; choose from: corrected, code, paper",
    ):
        furthest(chosen.model, chosen.record, {}, 0, fidelity="x")


# audit(): batching ----------------------------------------------------------------------------------------------------------


def parts(batch: Batch, order: list[int], size: int) -> list[Batch]:
    """Batches of `size` in that order, each as narrow as its longest text."""
    found = []
    for at in range(0, len(order), size):
        part = batch.rows(torch.tensor(order[at : at + size]))
        found.append(part.without(torch.zeros_like(part.mask)))
    return found


def lines(frame: pd.DataFrame) -> pd.Series:
    keys = ["example_id", "label", "predicted", "length", "audit", "measure", "metric", "row"]
    return (
        frame.astype({"audit": str, "measure": str, "metric": str})
        .set_index(keys)["value"]
        .sort_index()
    )


@cache
def models_to_batch() -> dict[str, tuple[Any, Batch]]:
    two, four = (random_batch(classes=n, query=True, candidates=n == 4) for n in (2, 4))
    return {
        "float32": (attentive(two, classes=2, dtype=torch.float32), two),
        "float64": (attentive(four, classes=4), four),
        "two rows": (large(TwoRows(3), std=1.2).double(), random_batch(classes=3)),
    }


def audited(name: str, data: list[Batch], **more: Any) -> Any:
    model, _ = models_to_batch()[name]
    return audit(model, data, show_progress=False, seed=4, **more)


@pytest.mark.parametrize("size", [1, 7, EXAMPLES])
@pytest.mark.parametrize("name", ["float32", "float64", "two rows"])
def test_values_depend_neither_on_the_size_nor_on_the_order_of_batches(
    name: str, size: int
) -> None:
    """To the rounding of the model; a number that depends on draws alone, exactly."""
    _, batch = models_to_batch()[name]
    # The search without a readout is held to this in its own tests; that for many classes takes its time.
    slow = name == "two rows" or (name == "float64" and size != 7)
    chosen = (
        {"audits": [each for each in AUDITS if each != "furthest"], "keep_examples": 0}
        if slow
        else {}
    )
    whole = audited(name, [batch], **chosen)
    shuffled = np.random.default_rng(0).permutation(EXAMPLES).tolist()
    results = audited(name, parts(batch, shuffled, size), **chosen)
    reference, again = (lines(each.frame()) for each in (whole, results))
    tolerance = 1e-5 if name == "float32" else 1e-9
    assert reference.index.equals(again.index)
    np.testing.assert_allclose(reference, again, atol=tolerance, rtol=0)
    drawn = reference.index.get_level_values("measure") == "random"
    drawn &= reference.index.get_level_values("audit") == "evidence"
    assert drawn.any()
    pd.testing.assert_series_equal(reference[drawn], again[drawn], check_exact=True)
    assert results.frame()["example_id"].tolist() == whole.frame()["example_id"].tolist()
    assert len(results.examples) == len(whole.examples) == (0 if slow else EXAMPLES)
    if not slow:
        assert results.examples["example_id"].tolist() == whole.examples["example_id"].tolist()
    pd.testing.assert_frame_equal(results.summaries, whole.summaries, rtol=0, atol=tolerance)


def test_the_examples_illustrated_do_not_depend_on_the_batches() -> None:
    _, batch = models_to_batch()["float64"]
    few = [
        set(
            audited("float64", data, audits=["permutation"], keep_examples=4).examples["example_id"]
        )
        for data in ([batch], parts(batch, list(range(EXAMPLES))[::-1], 5))
    ]
    assert few[0] == few[1]
    assert len(few[0]) == 4


def test_all_examples_are_kept_as_long_as_they_are_not_too_many_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batch = glass_batch(40)
    tokens = int(batch.mask.sum())
    assert len(choose_examples([batch], None, 0)) == 40
    monkeypatch.setattr("attnaudit.auditing.example_store.MOST_TOKENS", tokens // 4)
    assert len(choose_examples([batch], None, 0)) == 40 * (tokens // 4) // tokens


def test_the_examples_illustrated_have_each_label_in_its_share() -> None:
    batch = glass_batch(60)
    labels = torch.zeros(60, dtype=torch.int64)
    labels[:6] = 1
    results = audit(Glass("oracle"), replace(batch, labels=labels), audits=["permutation"], measures=[], keep_examples=20, show_progress=False)  # fmt: skip
    assert results.examples["label"].value_counts().to_dict() == {0: 18, 1: 2}


def test_another_seed_draws_otherwise() -> None:
    model, batch = models_to_batch()["float64"]
    one, two = (
        audit(
            model, batch, audits=["permutation", "top_item"], seed=seed, show_progress=False
        ).frame()
        for seed in (0, 1)
    )
    changed = ~np.isclose(one["value"], two["value"], equal_nan=True)
    assert set(one.loc[changed, "metric"].astype(str)) >= {"tvd_median", "delta_js", "delta_alpha"}
    assert "max_attention" not in set(one.loc[changed, "metric"].astype(str))


@pytest.mark.parametrize("last_first", [False, True])
def test_batches_without_evidence_do_not_silence_those_with_it(last_first: bool) -> None:
    _, batch = models_to_batch()["float64"]
    with_, without = parts(batch, list(range(EXAMPLES)), 6)
    data = [with_, replace(without, evidence=None)]
    results = audited("float64", data[::-1] if last_first else data, audits=["evidence"])
    known = results.frame().dropna()["example_id"]
    assert not known.empty
    assert set(known) <= set(with_.example_id)
    assert results.about["not_applicable"] == {}


# audit(): what goes wrong -----------------------------------------------------------------------------------------------


class Wrong:
    """A model whose record is changed before it is handed over."""

    def __init__(self, change: Callable[[Record], Record]) -> None:
        self.change = change

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        return self.change(Glass("oracle").read(batch, embeddings))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return Glass("oracle").decode(record, alpha)


def with_alpha(change: Callable[[Tensor], None]) -> Wrong:
    def changed(record: Record) -> Record:
        alpha = record.alpha.clone()
        change(alpha)
        return replace(record, alpha=alpha)

    return Wrong(changed)


def quick(model: Any, **more: Any) -> Any:
    return audit(
        model, glass_batch(8), audits=["permutation"], measures=[], show_progress=False, **more
    )


def test_nan_attention_is_refused_by_example() -> None:
    def spoil(alpha: Tensor) -> None:
        alpha[2, 0, 3] = math.nan
        alpha[5, 0, 0] = math.inf

    with pytest.raises(
        InputError,
        match=r"NaN or infinite attention for 2 of 8 examples, such as glass/2, glass/5. Nothing can be audited",
    ):
        quick(with_alpha(spoil))


def test_nan_logits_are_refused_by_example() -> None:
    def spoil(record: Record) -> Record:
        logits = record.logits.clone()
        logits[1, 1] = math.nan
        return replace(record, logits=logits)

    with pytest.raises(
        InputError, match="NaN or infinite logits for 1 of 8 examples, such as glass/1"
    ):
        quick(Wrong(spoil))


def test_attention_that_does_not_sum_to_1_is_refused() -> None:
    def spoil(alpha: Tensor) -> None:
        alpha[4] *= 1.1

    with pytest.raises(InputError, match="does not sum to 1 for 1 of 8 examples, such as glass/4"):
        quick(with_alpha(spoil))


def test_negative_weights_are_refused_in_words_that_say_so() -> None:
    def spoil(alpha: Tensor) -> None:
        alpha[4, 0, 0] += 0.5
        alpha[4, 0, 1] -= 0.5

    with pytest.raises(InputError, match="negative attention for 1 of 8 examples, such as glass/4"):
        quick(with_alpha(spoil))


def test_weight_outside_the_mask_is_refused() -> None:
    short = int(glass_batch(8).mask.sum(-1).argmin())

    def spoil(alpha: Tensor) -> None:
        alpha[short] *= 0.5
        alpha[short, 0, -1] = 0.5

    with pytest.raises(InputError, match=f"for 1 of 8 examples, such as glass/{short}"):
        quick(with_alpha(spoil))


def test_rounding_is_no_reason_to_refuse() -> None:
    def spoil(alpha: Tensor) -> None:
        alpha *= 1.001

    quick(with_alpha(spoil))


@pytest.mark.parametrize("data", [[], [glass_batch(4).rows(torch.tensor([], dtype=torch.int64))]])
def test_no_data_is_refused(data: list[Batch]) -> None:
    with pytest.raises(InputError, match="There is nothing to audit: the data holds no example"):
        audit(Glass("oracle"), data, show_progress=False)


def test_an_empty_batch_among_others_changes_nothing() -> None:
    batch = glass_batch(8)
    nothing = batch.rows(torch.tensor([], dtype=torch.int64))
    alone, beside = (
        audit(
            Glass("oracle"), data, audits=["permutation", "agreement"], show_progress=False
        ).frame()
        for data in ([batch], [nothing, batch, nothing])
    )
    pd.testing.assert_frame_equal(alone, beside)


def test_class_names_must_be_as_many_as_the_classes() -> None:
    """Or the examples of the classes left out would be missing from every summary."""
    with pytest.raises(InputError, match="class_names"):
        quick(Glass("oracle"), class_names=["only one"])


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"audits": ["permutaton"]}, "There is no audit 'permutaton'. Did you mean 'permutation'?"),
        ({"audits": ["x"]}, "There is no audit 'x'. Choose from: uniform_attention, permutation"),
        ({"measures": ["gradiant"]}, "There is no measure 'gradiant'. Did you mean 'gradient'?"),
    ],
)
def test_unknown_names_are_refused_before_the_model_is_asked(
    more: dict[str, Any], text: str
) -> None:
    def never(record: Record) -> Record:
        raise AssertionError("the model was read")

    with pytest.raises(InputError) as error:
        audit(Wrong(never), glass_batch(2), show_progress=False, **more)
    assert str(error.value).startswith(text)


def test_a_measure_of_the_wrong_shape_is_refused() -> None:
    def mine(model: AttentionModel, record: Record, seed: int) -> Tensor:
        return record.alpha.mean(-1)

    with pytest.raises(
        InputError,
        match=r"The measure 'mine' must return scores of shape \(B,N\) = \(8, 14\) or \(B,R,N\) = \(8, 1, 14\), got \(8, 1\)",
    ):
        audit(Glass("oracle"), glass_batch(8), measures=[mine], show_progress=False)


@pytest.mark.parametrize("shape", [(), (7,), (8, 1, 14)])
def test_an_audit_of_the_wrong_shape_is_refused(shape: tuple[int, ...]) -> None:
    def mine(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Any:
        return {"number": torch.zeros(shape)}

    with pytest.raises(InputError) as error:
        audit(Glass("oracle"), glass_batch(8), audits=[mine], show_progress=False)
    assert str(error.value) == (
        f"The audit 'mine' must return values of shape (B,) or (B,R) with B = 8; 'number' has shape {shape}."
    )


# audit(): what a user brings ----------------------------------------------------------------------------------------------


def test_a_users_measure_and_audit_take_part_like_any_other() -> None:
    def position(model: AttentionModel, record: Record, seed: int) -> Tensor:
        return torch.arange(record.content.shape[1]).double().expand(record.content.shape)

    @declares(
        Declaration(
            question="Is the text long?",
            metrics={
                "long": Metric("more than ten words", "short@", 1.0),
                "short": Metric("not so", 0.0, 1.0),
            },
        )
    )
    def long(model: AttentionModel, record: Record, scores: dict[str, Tensor], seed: int) -> Any:
        assert "position" in scores
        return {"long": record.length > 10, ("", "short"): record.length <= 10}

    batch = glass_batch(9)
    results = audit(
        Glass("oracle"),
        batch,
        audits=[long, "agreement"],
        measures=[position, "random"],
        show_progress=False,
    )
    values = results.frame()
    found = values[values["metric"] == "long"].set_index("example_id")["value"]
    for at, name in enumerate(batch.example_id):
        assert found[name] == float(int(batch.mask[at].sum()) > 10)
    tau = values[(values["measure"] == "position") & (values["metric"] == "tau")].set_index(
        "example_id"
    )
    alpha = Glass("oracle").read(batch).alpha.numpy()
    for at, name in enumerate(batch.example_id):
        n = int(batch.mask[at].sum())
        assert tau["value"][name] == pytest.approx(
            kendalltau(alpha[at, 0, :n], np.arange(n)).statistic
        )
    line = results.summary().set_index("metric").loc["long"]
    assert line["floor"] == pytest.approx(1 - line["mean"])
    assert results.about["audits"] == ["long", "agreement"]
    assert results.about["measures"] == ["attention", "position", "random"]


def test_options_are_part_of_the_name_and_reach_the_audit() -> None:
    names = ["furthest:epsilon=0.05", "furthest:epsilon=0.2"]
    results = audit(Glass("oracle"), glass_batch(8), audits=names, measures=[], show_progress=False)
    lines_ = results.summary()
    jsds = [
        float(lines_.loc[(lines_["audit"] == name) & (lines_["metric"] == "jsd"), "mean"].iloc[0])
        for name in names
    ]
    assert jsds[0] < jsds[1]


def test_an_audit_that_does_not_apply_is_recorded_with_its_reason() -> None:
    batch = replace(glass_batch(8), evidence=None)
    results = audit(Glass("oracle"), batch, measures=[], show_progress=False)
    assert results.about["not_applicable"] == {
        "agreement": "no measure was computed besides attention",
        "top_k_agreement": "no measure was computed besides attention",
        "evidence": "the data does not say which words are evidence",
    }
    assert set(results.frame()["audit"].astype(str)) == set(AUDITS) - {
        "agreement",
        "top_k_agreement",
        "evidence",
        "stability",
    }


@pytest.mark.parametrize("audits", [["evidence"], []])
def test_when_no_audit_applies_there_are_results_without_values(audits: list[str]) -> None:
    batch = replace(glass_batch(8), evidence=None)
    results = audit(Glass("oracle"), batch, audits=audits, show_progress=False)
    assert len(results.frame()) == 0
    assert list(results.about["not_applicable"]) == audits
    assert {answer.answer for answer in results.card().answers} == {"cannot tell"}


def test_one_text_without_a_label_is_enough() -> None:
    batch = replace(glass_batch(1), labels=None, evidence=None)
    results = audit(Glass("oracle"), batch, show_progress=False)
    assert results.frame()["label"].unique().tolist() == [-1]
    assert results.card()["needed?"].because == "the audit uniform_attention has too few values for an interval: at least 5 are needed"  # fmt: skip
    json.dumps(results.card().as_dict())
    assert "Results of 1 examples" in repr(results)


def test_texts_of_one_word_are_audited_and_have_a_card() -> None:
    """Nothing can be shuffled, moved or ranked: defined results, never a failure."""
    batch = glass_batch(4)
    word = batch.tokens[:, :1].clone()
    word[:2] = torch.tensor([[1], [2]])
    one = Batch(batch.example_id, word, word > 0, labels=batch.labels, evidence=word < 3)
    results = audit(Glass("oracle"), one, show_progress=False)
    values = results.frame().set_index(["audit", "metric"])["value"].sort_index()
    assert (values["permutation", "tvd_median"] == 0).all()
    assert (values["furthest", "jsd"] == 0).all()
    assert values["agreement", "tau"].isna().all()
    assert len(str(results.card()).splitlines()) >= 10


def test_an_example_with_nothing_to_attend_has_no_value_in_any_audit() -> None:
    """Two marks and no word: a row with an empty mask. Every number about its attention is NaN, and the others are untouched."""
    model = models_to_batch()["float64"][0]
    batch = random_batch(classes=4, query=True, candidates=True)
    tokens = batch.tokens.clone()
    tokens[3] = 0
    tokens[3, :2] = torch.tensor([START, END])
    empty = replace(batch, tokens=tokens, mask=tokens > 0, evidence=batch.evidence & (tokens > END))  # type: ignore[operator]
    values, without = (
        audit(model, each, show_progress=False, keep_examples=0).frame() for each in (empty, batch)
    )
    there = values["example_id"] == "example/3"
    about_attention = values["metric"] != "correct"
    wrong = values[there & about_attention].dropna()
    # The k that is the mean length hangs on all the texts, and so does the family of p-values.
    of_all = "(?:_average|_family)$"
    others = [
        lines(
            frame[
                (frame["example_id"] != "example/3")
                & ~frame["metric"].astype(str).str.contains(of_all)
            ]
        )
        for frame in (values, without)
    ]
    np.testing.assert_allclose(*others, atol=1e-9)
    assert wrong.empty, wrong[["audit", "measure", "metric", "value"]].to_string()


# audit(): the model is left as found ----------------------------------------------------------------------------------------


def trained_model() -> Any:
    model = build(
        Architecture(encoder="bilstm:hidden=4", embedding=4), words=30, classes=2, with_query=False
    )
    model.train()
    model.encoder.eval()
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    model.output.context.bias.requires_grad_(False)
    return model


def state(model: nn.Module) -> dict[str, Any]:
    return {
        "modes": [module.training for module in model.modules()],
        "needs": [parameter.requires_grad for parameter in model.parameters()],
        "grads": [
            parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None
        ],
        "values": [parameter.detach().clone() for parameter in model.parameters()],
        "hooks": [len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules()],
    }


def unchanged(before: dict[str, Any], after: dict[str, Any]) -> bool:
    return all(
        len(before[key]) == len(after[key])
        and all(
            torch.equal(a, b) if isinstance(a, Tensor) else a == b
            for a, b in zip(before[key], after[key], strict=True)
        )
        for key in before
    )


def test_the_model_is_left_as_found() -> None:
    model = trained_model()
    before, random_state = state(model), torch.get_rng_state()
    audit(model, random_batch(classes=2), show_progress=False)
    assert unchanged(before, state(model))
    assert torch.equal(torch.get_rng_state(), random_state)
    assert torch.is_grad_enabled()


def test_the_model_is_read_in_evaluation_mode_and_left_as_found_after_an_exception_in_a_measure() -> (
    None
):
    model = trained_model()
    before = state(model)
    seen = []

    def failing(model: Any, record: Record, seed: int) -> Tensor:
        seen.extend(module.training for module in model.modules())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        audit(model, random_batch(classes=2), measures=["gradient", failing], show_progress=False)
    assert seen
    assert not any(seen)
    assert unchanged(before, state(model))
    assert torch.is_grad_enabled()


def test_the_model_is_left_as_found_after_an_exception_in_an_audit() -> None:
    model = trained_model()
    before = state(model)

    def failing(model: Any, record: Record, scores: dict[str, Tensor], seed: int) -> Any:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        audit(model, random_batch(classes=2), audits=[failing], show_progress=False)
    assert unchanged(before, state(model))
    assert torch.is_grad_enabled()


def test_equal_words_tie_whatever_the_batch() -> None:
    """An encoder without context gives a repeated word the same importance; rounding that differs by batch must not rank it."""
    model = build(
        Architecture(encoder="average:hidden=16", embedding=16),
        words=12,
        classes=2,
        with_query=False,
    )
    draw = torch.Generator().manual_seed(3)
    tokens = torch.randint(4, 12, (30, 14), generator=draw)
    batch = Batch(tuple(map(str, range(30))), tokens, torch.ones_like(tokens, dtype=torch.bool))
    together = audit(model, batch, audits=["agreement"], show_progress=False).frame()
    alone = [batch.rows(torch.tensor([at])) for at in range(30)]
    apart = audit(model, alone, audits=["agreement"], show_progress=False).frame()
    taus = [frame[frame["metric"] == "tau"]["value"].to_numpy() for frame in (together, apart)]
    np.testing.assert_allclose(*taus, atol=1e-9)


def test_names_of_classes_must_differ_and_none_is_all() -> None:
    for wrong in (["a", "a"], ["all", "b"]):
        with pytest.raises(InputError, match="class_names must differ"):
            audit(Glass("oracle"), glass_batch(8), class_names=wrong, show_progress=False)


def test_examples_need_names_of_their_own() -> None:
    batch = glass_batch(8)
    with pytest.raises(InputError, match="its own example_id"):
        audit(Glass("oracle"), [batch, batch], show_progress=False)


def test_what_is_no_model_is_refused_in_words() -> None:
    with pytest.raises(InputError, match=r"got Linear. The order is audit\(model, data\)"):
        audit(torch.nn.Linear(2, 2), glass_batch(8))

    def mine(model, record, seed):
        return record.alpha

    with pytest.raises(InputError, match="There are two of the measure 'mine'"):
        audit(Glass("oracle"), glass_batch(8), measures=[mine, mine])


def test_one_name_stands_for_a_list_of_one() -> None:
    results = audit(
        Glass("oracle"),
        glass_batch(8),
        audits="permutation",
        measures="gradient",
        show_progress=False,
    )
    assert set(results.frame()["audit"]) == {"permutation"}
