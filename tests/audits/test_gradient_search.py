"""The gradient search: always feasible, never beyond the true maximum, 0 if it fails."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import rel_entr, softmax
from scipy.stats import kstest
from torch import Tensor

from attnaudit.audits.gradient_search import SETTINGS, Settings, loss, search
from attnaudit.core.contract import Batch, Record

EPSILON = 0.01


def jsd(p: np.ndarray, q: np.ndarray) -> float:
    middle = (p + q) / 2
    return float((rel_entr(p, middle) + rel_entr(q, middle)).sum() / 2)


class Output:
    """logits = f(alpha @ items) of every row; f is the identity (with a readout) or bent."""

    def __init__(self, *, bent: bool, rows: int, items: int, classes: int, examples: int) -> None:
        draw = np.random.default_rng(items + classes)
        self.bent = bent
        self.each = torch.tensor(draw.normal(size=(examples, rows * items, classes)) * 2)

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        raise AssertionError("a search reads nothing")

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        flat = alpha.flatten(-2) if alpha.dim() == 4 else alpha.flatten(-2)[:, None]
        logits = flat @ self.each
        logits = 3 * logits.tanh() + logits if self.bent else logits
        return logits if alpha.dim() == 4 else logits[:, 0]

    def plain(self, index: int, alpha: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
        """Probabilities of one example in NumPy."""
        logits = alpha.reshape(-1) @ self.each[index].numpy()
        logits = 3 * np.tanh(logits) + logits if self.bent else logits
        return softmax(logits if classes is None else np.where(classes, logits, -np.inf))


def setting(
    *,
    bent: bool = False,
    rows: int = 1,
    classes: int = 2,
    examples: int = 8,
    items: int = 6,
    candidates: Tensor | None = None,
) -> tuple[Output, Record]:
    draw = np.random.default_rng(10 * rows + classes)
    length = draw.integers(2, items + 1, size=examples)
    length[0] = 1
    mask = np.repeat((np.arange(items) < length[:, None])[:, None], rows, 1)
    alpha = np.where(mask, draw.gamma(0.7, size=mask.shape) + 1e-4, 0)
    alpha = torch.tensor(alpha / alpha.sum(-1, keepdims=True))
    model = Output(bent=bent, rows=rows, items=items, classes=classes, examples=examples)
    tokens = torch.tensor(mask[:, 0].astype(int))
    batch = Batch(
        tuple(f"found/{index}" for index in range(examples)), tokens, tokens > 0, classes=candidates
    )
    record = Record(
        batch=batch,
        embeddings=torch.zeros(examples, items, 1),
        hidden=None,
        alpha=alpha,
        mask=torch.tensor(mask),
        content=torch.tensor(mask[:, 0]),
        item_of_token=torch.arange(items).expand(examples, items),
        logits=torch.zeros(examples, classes),
        readout=model.each if rows == 1 and not bent else None,
    )
    return model, replace(record, logits=model.decode(record, alpha))


def short(settings: Settings, steps: int = 150) -> Settings:
    return replace(settings, steps=steps)


def check_feasible(
    model: Output, record: Record, found: Tensor, distance: Tensor, epsilon: float = EPSILON
) -> None:
    alpha, original, mask = found.numpy(), record.alpha.numpy(), record.mask.numpy()
    for index in range(len(alpha)):
        allowed = None if record.batch.classes is None else record.batch.classes[index].numpy()
        np.testing.assert_allclose(alpha[index].sum(-1), 1, atol=1e-9)
        assert (alpha[index][~mask[index]] == 0).all()
        assert (alpha[index] >= 0).all()
        p, q = (model.plain(index, each[index], allowed) for each in (alpha, original))
        assert np.abs(p - q).sum() / 2 <= epsilon + 1e-9
        rows = [jsd(a, b) for a, b in zip(alpha[index], original[index], strict=True)]
        assert float(distance[index]) == pytest.approx(np.mean(rows), abs=1e-9)


@pytest.mark.parametrize("fidelity", SETTINGS)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_attention_found_is_feasible_masked_and_as_far_as_reported(
    fidelity: str, classes: int
) -> None:
    model, record = setting(classes=classes)
    found, distance = search(model, record, 0, epsilon=EPSILON, settings=short(SETTINGS[fidelity]))
    check_feasible(model, record, found, distance)
    assert (distance[1:] > 0.05).any()
    assert distance[0] == 0  # one item: there is no other attention


def test_candidate_classes_alone_decide_what_is_feasible() -> None:
    candidates = torch.tensor([[True, True, False], [False, True, True]] * 4)
    model, record = setting(classes=3, candidates=candidates)
    found, distance = search(
        model, record, 0, epsilon=EPSILON, settings=short(SETTINGS["corrected"])
    )
    check_feasible(model, record, found, distance)
    assert (distance > 0.05).any()


@pytest.mark.parametrize("fidelity", SETTINGS)
def test_without_a_readout_and_with_two_rows_the_attention_found_is_feasible(fidelity: str) -> None:
    model, record = setting(bent=True, rows=2, classes=3)
    assert record.readout is None
    found, distance = search(model, record, 0, epsilon=0.05, settings=short(SETTINGS[fidelity]))
    check_feasible(model, record, found, distance, 0.05)
    assert (distance[1:] > 0.05).any()


def true_maximum(alpha: np.ndarray, s: np.ndarray, epsilon: float) -> float:
    """Two classes, by trying all corners of the simplex cut by lo <= a·s <= hi.

    JSD is convex, so its maximum is at a corner.
    """
    p = 1 / (1 + math.exp(-alpha @ s))
    lo = -math.inf if p <= epsilon else math.log((p - epsilon) / (1 - p + epsilon))
    hi = math.inf if p >= 1 - epsilon else math.log((p + epsilon) / (1 - p - epsilon))
    n, best = len(alpha), 0.0
    for i in range(n):
        if lo <= s[i] <= hi:
            best = max(best, jsd(np.eye(n)[i], alpha))
        for j in range(n):
            for bound in (lo, hi):
                if s[i] < bound < s[j]:
                    w = (bound - s[i]) / (s[j] - s[i])
                    best = max(best, jsd((1 - w) * np.eye(n)[i] + w * np.eye(n)[j], alpha))
    return best


@pytest.mark.parametrize("fidelity", SETTINGS)
def test_no_search_goes_beyond_the_true_maximum(fidelity: str) -> None:
    model, record = setting(examples=20)
    _, distance = search(model, record, 0, epsilon=EPSILON, settings=SETTINGS[fidelity])
    most = []
    for index in range(20):
        real = record.mask[index, 0].numpy()
        each = model.each[index].numpy()[real]
        most.append(
            true_maximum(record.alpha[index, 0].numpy()[real], each[:, 0] - each[:, 1], EPSILON)
        )
    assert (distance.numpy() <= np.array(most) + 1e-9).all()
    assert distance.sum() > 0.5 * sum(most)  # and it is a search worth the name


@pytest.mark.parametrize("fidelity", SETTINGS)
def test_a_search_that_finds_nothing_returns_the_original_and_0(fidelity: str) -> None:
    model, record = setting()
    found, distance = search(model, record, 0, epsilon=0.0, settings=short(SETTINGS[fidelity], 20))
    assert torch.equal(found, record.alpha)
    assert (distance == 0).all()


def test_the_best_point_seen_is_at_least_as_far_as_the_last_one() -> None:
    model, record = setting(examples=20)
    last = replace(short(SETTINGS["corrected"]), keep_best=False)
    _, at_the_end = search(model, record, 0, epsilon=EPSILON, settings=last)
    _, ever = search(model, record, 0, epsilon=EPSILON, settings=replace(last, keep_best=True))
    assert (ever >= at_the_end - 1e-12).all()
    assert (ever > at_the_end + 1e-6).any()


def test_the_search_starts_from_normal_noise_of_size_3() -> None:
    """No step, one restart and everything feasible: what comes back is the start itself."""
    model, record = setting(examples=400)
    start = Settings(1, 0, 0.01, 500.0, "none", keep_best=False)
    found, _ = search(model, record, 0, epsilon=1.0, settings=start)
    logs = [
        (found[index, 0, 0] / found[index, 0, 1]).log().item()
        for index in range(400)
        if record.mask[index, 0].sum() > 1
    ]
    assert kstest(logs, "norm", args=(0, 3 * math.sqrt(2))).pvalue > 1e-3
    again, _ = search(model, record, 1, epsilon=1.0, settings=start)
    assert not torch.equal(found, again)


@pytest.mark.parametrize("readout", [True, False])
def test_the_search_does_not_depend_on_the_batch(readout: bool) -> None:
    model, record = setting(bent=not readout)
    together, distance = search(
        model, record, 0, epsilon=EPSILON, settings=short(SETTINGS["code"], 60)
    )
    for index in (0, 3, 7):
        one = torch.tensor([index])
        alone = Output(bent=model.bent, rows=1, items=6, classes=2, examples=8)
        alone.each = model.each[one]
        single = replace(
            record,
            batch=record.batch.rows(one),
            **{
                name: value[one]
                for name in (
                    "embeddings",
                    "alpha",
                    "mask",
                    "content",
                    "item_of_token",
                    "logits",
                    "readout",
                )
                if (value := getattr(record, name)) is not None
            },
        )
        found, far = search(alone, single, 0, epsilon=EPSILON, settings=short(SETTINGS["code"], 60))
        np.testing.assert_allclose(found[0].numpy(), together[index].numpy(), atol=1e-9)
        assert float(far[0]) == pytest.approx(float(distance[index]), abs=1e-9)


@pytest.mark.parametrize("fidelity", SETTINGS)
def test_the_loss_equals_the_formula_of_each_fidelity(fidelity: str) -> None:
    draw = np.random.default_rng(0)
    alpha = draw.dirichlet(np.ones(4), size=(3, 5, 1))
    original = draw.dirichlet(np.ones(4), size=3)
    excess = draw.random((3, 5)) * (draw.random((3, 5)) < 0.5)
    expected = 0.0
    for index in range(3):
        far = [jsd(alpha[index, k, 0], original[index]) for k in range(5)]
        apart = [jsd(alpha[index, i, 0], alpha[index, j, 0]) for i in range(5) for j in range(i)]
        if fidelity == "paper":  # maximised: Σ JSD + Σ_{i<j} JSD / (k(k-1)) - λ/k Σ excess
            expected -= sum(far) + sum(apart) / 20 - 500 / 5 * excess[index].sum()
        else:
            expected += sum(500 * e - f for e, f in zip(excess[index], far, strict=True))
            # Released: the mean over all k·k pairs, of which those of a restart with itself are 0.
            expected -= 2 * sum(apart) / 25 if fidelity == "code" else 0
    far = torch.tensor(
        [[jsd(alpha[index, k, 0], original[index]) for k in range(5)] for index in range(3)],
        dtype=torch.float64,
    )
    mask = torch.ones(3, 1, 4, dtype=torch.bool)
    found = loss(torch.tensor(alpha), far, torch.tensor(excess), SETTINGS[fidelity], mask)
    assert float(found) == pytest.approx(expected, rel=1e-10)


def test_the_released_search_has_the_released_settings() -> None:
    released = SETTINGS["code"]
    assert (released.restarts, released.steps, released.learning_rate, released.penalty) == (
        5,
        500,
        0.01,
        500,
    )
    assert not released.keep_best


def test_the_released_penalty_starts_at_a_hundredth_and_the_others_at_epsilon() -> None:
    """With ε = 1 the released search still keeps the prediction; the others go to a corner."""
    model, record = setting(examples=20)
    moved = {}
    for fidelity, settings in SETTINGS.items():
        steps = settings if fidelity == "code" else short(settings)
        found, _ = search(model, record, 0, epsilon=1.0, settings=steps)
        moved[fidelity] = [
            np.abs(
                model.plain(index, found[index].numpy())
                - model.plain(index, record.alpha[index].numpy())
            ).sum()
            / 2
            for index in range(20)
        ]
    assert np.median(moved["code"]) < 0.02
    assert np.median(moved["paper"]) > 0.1
    assert np.median(moved["corrected"]) > 0.1


def test_the_search_leaves_no_gradients_and_works_with_gradients_disabled() -> None:
    model, record = setting(bent=True)
    model.each.requires_grad_()
    record = replace(record, logits=record.logits.detach())
    with torch.no_grad():
        found, distance = search(
            model, record, 0, epsilon=EPSILON, settings=short(SETTINGS["corrected"], 20)
        )
    assert model.each.grad is None
    assert not found.requires_grad
    assert not distance.requires_grad


def test_an_example_without_items_is_nan_and_does_not_change_the_others() -> None:
    model, record = setting()
    expected = search(model, record, 0, epsilon=EPSILON, settings=short(SETTINGS["corrected"], 40))[
        1
    ]
    mask, alpha = record.mask.clone(), record.alpha.clone()
    mask[3], alpha[3] = False, 0
    empty = replace(record, mask=mask, alpha=alpha)
    _, distance = search(
        model, empty, 0, epsilon=EPSILON, settings=short(SETTINGS["corrected"], 40)
    )
    others = [0, 1, 2, 4, 5, 6, 7]
    np.testing.assert_allclose(distance[others].numpy(), expected[others].numpy(), atol=1e-9)
    assert math.isnan(distance[3])
