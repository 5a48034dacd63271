"""Captum's measures: closed forms, Shapley values by enumeration, seeds, nothing left behind."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.measures import MEASURES, attribution
from attnaudit.measures.deeplift import deeplift
from attnaudit.measures.integrated_gradients import integrated_gradients
from attnaudit.measures.lime import lime
from attnaudit.measures.shap import shap
from attnaudit.models import Architecture, build
from attnaudit.models.glass import KINDS, Glass, glass_batch

START, END = 1, 2
TEXTS = ([5, 6, 7, 8, 9, 10], [12, 5, 5, 13], [7, 14], [15], [20, 21, 22, 23, 24])
QUERIES = ([16, 17], [18], [5, 6, 7], [19, 5], [7])
CANDIDATES = torch.tensor([[True, True, False, True]] * 3 + [[False, True, True, False]] * 2)
FEW = {"shap": {"n_samples": 40}, "lime": {"n_samples": 40}}


def padded(rows: tuple[list[int], ...]) -> Tensor:
    marked = [[START, *row, END] for row in rows]
    return torch.tensor([row + [0] * (max(map(len, marked)) - len(row)) for row in marked])


def batch_of(*, query: bool = False, candidates: bool = False) -> Batch:
    tokens = padded(TEXTS)
    asked = padded(QUERIES) if query else None
    return Batch(
        tuple(f"text/{index}" for index in range(len(TEXTS))),
        tokens,
        tokens > 0,
        asked,
        None if asked is None else asked > 0,
        classes=CANDIDATES if candidates else None,
    )


def made(classes: int = 2, query: bool = False, **choices: Any) -> Any:
    architecture = Architecture(**{"encoder": "bilstm:hidden=3", "embedding": 4, **choices})
    model = build(architecture, words=30, classes=classes, with_query=query)
    draw = torch.Generator().manual_seed(7)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.8, generator=draw)
    return model.double().eval()


class Pairs:
    """Every two words are one item; start and end belong to none. Holds modules, is none."""

    def __init__(self) -> None:
        draw = torch.Generator().manual_seed(1)
        self.table, self.inner, self.score, self.out = (
            torch.randn(*shape, generator=draw, dtype=torch.float64)
            for shape in ((30, 4), (4, 5), (5, 1), (5, 2))
        )
        self.bend = nn.Tanh()

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        embeddings = self.table[batch.tokens] if embeddings is None else embeddings
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        item_of_token = torch.where(
            batch.tokens > END, (place - 1).div(2, rounding_mode="floor"), -1
        )
        items = max(int(item_of_token.max()) + 1, 1)
        belongs = (item_of_token[:, None] == torch.arange(items)[:, None]).double()  # (B,N,T)
        content = belongs.any(-1)
        hidden = belongs @ self.bend(embeddings @ self.inner)
        alpha = masking.softmax((hidden @ self.score)[..., 0], content)[:, None]
        logits = (alpha @ hidden @ self.out)[:, 0]
        return Record(
            batch, embeddings, hidden, alpha, content[:, None], content, item_of_token, logits
        )

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        return (alpha @ record.hidden @ self.out).squeeze(-2)


MAKE: dict[str, Callable[[], tuple[Any, Batch]]] = {
    "linear": lambda: (made(encoder="none", projection="uniform"), batch_of()),
    "bilstm": lambda: (made(), batch_of()),
    "query, candidates": lambda: (made(4, True), batch_of(query=True, candidates=True)),
    "sparsemax": lambda: (made(projection="sparsemax", encoder="mlp:hidden=4"), batch_of()),
    "transformer": lambda: (made(3, encoder="transformer:hidden=6,heads=2"), batch_of()),
    "pairs": lambda: (Pairs(), batch_of()),
}
every_case = pytest.mark.parametrize("name", MAKE)


@cache
def case(name: str) -> tuple[Any, Record]:
    model, batch = MAKE[name]()
    with torch.no_grad():
        return model, model.read(batch)


def items_of(record: Record, index: int) -> list[int]:
    return record.content[index].nonzero()[:, 0].tolist()


@torch.no_grad()
def with_items(model: Any, record: Record, index: int, there: Any) -> np.ndarray:
    """p(predicted class) of one text for each row of `there` (M,items).

    Items that are not there have embeddings of 0, in place.
    """
    there = np.asarray(there)
    embeddings = record.embeddings[index].repeat(len(there), 1, 1)
    for column, item in enumerate(items_of(record, index)):
        for token in (record.item_of_token[index] == item).nonzero()[:, 0].tolist():
            embeddings[torch.tensor(there[:, column] == 0), token] = 0
    logits = model.read(
        record.batch.rows(torch.full((len(there),), index)), embeddings
    ).logits.numpy()
    allowed = np.ones(logits.shape[1], bool)
    if record.batch.classes is not None:
        allowed = record.batch.classes[index].numpy()
    weight = np.exp(logits) * allowed
    top = np.where(allowed, record.logits[index].numpy(), -np.inf).argmax()
    return weight[:, top] / weight.sum(-1)


def subsets(count: int) -> np.ndarray:
    return np.array(list(itertools.product([0, 1], repeat=count)))


def shapley(model: Any, record: Record, index: int) -> np.ndarray:
    """By the definition: every item joins every company, weighted by its size."""
    count = len(items_of(record, index))
    there = subsets(count)
    value = dict(zip(map(tuple, there), with_items(model, record, index, there), strict=True))
    found = np.zeros(count)
    for company in value:
        size = sum(company)
        for item in range(count):
            if not company[item]:
                joined = tuple(1 if each == item else company[each] for each in range(count))
                weight = (
                    math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count)
                )
                found[item] += weight * (value[joined] - value[company])
    return found


def difference(model: Any, record: Record, index: int) -> float:
    count = len(items_of(record, index))
    full, empty = with_items(model, record, index, [[1] * count, [0] * count])
    return float(full - empty)


# Integrated gradients


@every_case
def test_integrated_gradients_add_up_to_the_difference(name: str) -> None:
    model, record = case(name)
    found = integrated_gradients(model, record, 0, signed=True, n_steps=200)
    assert found.shape == record.content.shape
    assert found[~record.content].isnan().all()
    for index in range(len(TEXTS)):
        sum_of = float(found[index].nansum())
        assert sum_of == pytest.approx(
            difference(model, record, index), abs=0.01 * float(found[index].nansum().abs()) + 1e-4
        )
    assert torch.equal(
        integrated_gradients(model, record, 0, n_steps=200)[record.content],
        found[record.content].abs(),
    )


def test_integrated_gradients_of_a_linear_model_share_the_difference_by_contribution() -> None:
    """log-odds = c + Σ z_i: items move in step on the path: IG_i = z_i / Σz · (p(x) - p(x̄))."""
    model, record = case("linear")
    found = integrated_gradients(model, record, 0, signed=True, tolerance=1e-9)
    weight = (model.output.context.weight[1] - model.output.context.weight[0]).detach()
    for index, text in enumerate(TEXTS):
        each = (record.embeddings[index, 1 : len(text) + 1] @ weight).numpy() / len(text)
        expected = each / each.sum() * difference(model, record, index)
        np.testing.assert_allclose(found[index, 1 : len(text) + 1], expected, atol=1e-9)


@torch.no_grad()
def test_integrated_gradients_take_more_steps_where_they_must_or_say_nothing() -> None:
    model, record = case("sparsemax")
    deltas = [difference(model, record, index) for index in range(len(TEXTS))]

    def gaps(found: Tensor) -> np.ndarray:
        return abs(found.nansum(-1).numpy() - deltas)

    once = integrated_gradients(model, record, 0, signed=True, n_steps=2, tolerance=1e9)
    more = integrated_gradients(model, record, 0, signed=True, n_steps=2)
    known = ~more.masked_fill(~record.content, 0).isnan().any(-1).numpy()
    size = once.abs().nansum(-1).numpy()
    poor = (gaps(once) / size > 0.02) & known
    assert poor.any()
    assert (gaps(more)[known] <= 0.01 * more.abs().nansum(-1).numpy()[known] + 1e-12).all()
    never = integrated_gradients(model, record, 0, signed=True, n_steps=1, tolerance=1e-12)
    wrong = never.masked_fill(~record.content, 0).isnan()
    assert wrong.any()
    assert torch.equal(
        wrong.any(-1), (wrong | ~record.content).all(-1)
    )  # a whole text or none of it


def along_the_path(model: Any, record: Record, points: int) -> np.ndarray:
    """(x - x̄) ∂p/∂x (points,B,N) at evenly spaced points from the empty text to the text."""
    removed = torch.zeros_like(record.batch.mask)
    for index in range(len(TEXTS)):
        for item in items_of(record, index):
            removed[index] |= record.item_of_token[index] == item
    found = []
    for t in (np.arange(points) + 0.5) / points:
        words = torch.where(
            removed[..., None], record.embeddings * t, record.embeddings
        ).requires_grad_()
        p = model.read(record.batch, words).probs.gather(1, record.predicted[:, None]).sum()
        slope = torch.autograd.grad(p, words)[0]
        per_token = (slope * record.embeddings * removed[..., None]).sum(-1)
        found.append(
            masking.to_items(per_token, record.item_of_token, record.content.shape[1]).numpy()
        )
    return np.stack(found)


# Shapley values


@pytest.mark.parametrize("name", ["bilstm", "query, candidates", "pairs"])
def test_kernel_shap_comes_near_the_shapley_values(name: str) -> None:
    model, record = case(name)
    texts = record.batch.rows(torch.tensor([0, 3]))
    with torch.no_grad():
        record = model.read(texts)
    found = shap(model, record, 0, n_samples=3000, signed=True)
    assert found[~record.content].isnan().all()
    for index in range(2):
        expected = shapley(model, record, index)
        size = abs(expected).max()
        np.testing.assert_allclose(
            found[index, items_of(record, index)], expected, atol=0.04 * size
        )
        # Efficiency, by the weight Captum gives the two ends.
        assert float(found[index].nansum()) == pytest.approx(
            difference(model, record, index), abs=1e-4
        )
    rough = shap(model, record, 0, n_samples=20, signed=True)[0, items_of(record, 0)]
    assert (
        abs(rough.numpy() - shapley(model, record, 0)).max() > 0
    )  # an estimate, and it says how good
    assert torch.equal(
        shap(model, record, 0, n_samples=20)[record.content],
        shap(model, record, 0, n_samples=20, signed=True)[record.content].abs(),
    )


def test_kernel_shap_is_exact_where_the_items_do_not_meet() -> None:
    """The output layer is made so small that p is nearly linear."""
    model = made(encoder="none", projection="uniform")
    with torch.no_grad():
        model.output.context.weight *= 1e-2
        record = model.read(batch_of())
    found = shap(model, record, 0, n_samples=60, signed=True)
    for index in range(len(TEXTS)):
        np.testing.assert_allclose(
            found[index, items_of(record, index)], shapley(model, record, index), atol=2e-5
        )


@every_case
def test_gradient_shap_is_integrated_gradients_with_random_steps(name: str) -> None:
    model, record = case(name)
    path = along_the_path(model, record, 300)
    real = record.content.numpy()
    exact = integrated_gradients(model, record, 0, signed=True, tolerance=1e-3).numpy()
    known = real & ~np.isnan(exact)
    assert known.any()
    np.testing.assert_allclose(path.mean(0)[known], exact[known], atol=2e-3 * abs(path).max())
    found = shap(model, record, 0, kind="gradient", n_samples=2000, signed=True).numpy()
    np.testing.assert_array_equal(np.isnan(found), ~real)
    error = path.std(0) / math.sqrt(2000)
    assert (abs(found - path.mean(0)) <= 4.5 * error + 1e-4)[real].all()
    assert (abs(found - 1.2 * path.mean(0)) > 4.5 * error + 1e-4)[real].any()  # the bound can tell
    noisy = shap(model, record, 0, kind="gradient", n_samples=20, stdevs=0.5)
    assert not torch.equal(
        noisy[record.content], shap(model, record, 0, kind="gradient", n_samples=20)[record.content]
    )


def test_shap_rejects_what_it_does_not_know() -> None:
    model, record = case("linear")
    with pytest.raises(InputError, match=r"no kind of shap 'deep'\. Choose from: kernel, gradient"):
        shap(model, record, 0, kind="deep")
    with pytest.raises(InputError, match="n_samples must be 1 or more, got 0"):
        shap(model, record, 0, n_samples=0)
    with pytest.raises(InputError, match="penalty must be 0 or more, got -1"):
        lime(model, record, 0, penalty=-1)


# LIME


@pytest.mark.parametrize("name", ["bilstm", "query, candidates", "pairs"])
def test_lime_comes_near_the_weighted_regression_over_all_removals(name: str) -> None:
    model, record = case(name)
    with torch.no_grad():
        record = model.read(record.batch.rows(torch.tensor([0, 4])))
    found = lime(model, record, 0, n_samples=3000, penalty=0, signed=True)
    assert found[~record.content].isnan().all()
    for index in range(2):
        there = subsets(len(items_of(record, index)))
        cosine = there.sum(-1) / np.sqrt(np.maximum(there.sum(-1), 1) * there.shape[1])
        weight = np.exp(-((1 - cosine) ** 2) / (2 * 0.25**2))
        design = np.column_stack([np.ones(len(there)), there]) * np.sqrt(weight)[:, None]
        target = with_items(model, record, index, there) * np.sqrt(weight)
        expected = np.linalg.lstsq(design, target, rcond=None)[0][1:]
        np.testing.assert_allclose(
            found[index, items_of(record, index)], expected, atol=0.06 * abs(expected).max()
        )
    shrunk = lime(model, record, 0, n_samples=200, penalty=1e4)
    assert 0 < shrunk[record.content].max() < found[record.content].abs().max() / 10


# DeepLIFT


def contrast(model: Any, record: Record) -> Tensor:
    """The output weights (B,H) of the predicted class minus the mean over classes."""
    weight = model.output.context.weight.detach()
    return weight[record.predicted] - weight.mean(0)


@pytest.mark.parametrize("projection", ["uniform", "softmax"])
@pytest.mark.parametrize(
    "encoder", ["none", "mlp:hidden=5", "mlp:hidden=5,activation=tanh", "mlp:hidden=5,layers=2"]
)
def test_deeplift_follows_the_rescale_rule(encoder: str, projection: str) -> None:
    """Layer by layer in NumPy: multipliers are Δout/Δin at activations, weights elsewhere.

    The attention is uniform or fixed.
    """
    model = made(3, encoder=encoder, projection=projection)
    with torch.no_grad():
        record = model.read(batch_of())
    held = projection == "softmax"
    found = deeplift(model, record, 0, hold_attention=held, signed=True)
    if held:
        with pytest.raises(NotApplicable, match="hold_attention=true leaves the latter out"):
            deeplift(model, record, 0)
    words = record.embeddings.numpy()
    steps = [] if encoder == "none" else list(model.encoder.network)
    inside = [(words, np.zeros_like(words))]
    for step in steps:
        inside.append(tuple(step(torch.tensor(each)).detach().numpy() for each in inside[-1]))  # type: ignore[arg-type]
    slope = record.alpha[:, 0, :, None].numpy() * contrast(model, record)[:, None].numpy()
    for step, before, after in reversed(list(zip(steps, inside, inside[1:], strict=False))):
        if isinstance(step, nn.Linear):
            slope = slope @ step.weight.detach().numpy()
        else:
            change = before[0] - before[1]
            slope = slope * (after[0] - after[1]) / np.where(change == 0, 1, change)
    expected = (slope * words).sum(-1)
    real = record.content.numpy()
    np.testing.assert_allclose(found.numpy()[real], expected[real], atol=1e-9)
    assert found[~record.content].isnan().all()


def test_deeplift_of_candidates_and_queries_is_against_the_mean_of_the_candidates() -> None:
    model = made(4, True, encoder="none", projection="uniform")
    with torch.no_grad():
        record = model.read(batch_of(query=True, candidates=True))
    found = deeplift(model, record, 0, signed=True)
    weight = model.output.context.weight.detach()
    for index, text in enumerate(TEXTS):
        against = weight[int(record.predicted[index])] - weight[CANDIDATES[index]].mean(0)
        expected = (record.embeddings[index, 1 : len(text) + 1] @ against).numpy() / len(text)
        np.testing.assert_allclose(found[index, 1 : len(text) + 1], expected, atol=1e-12)


@pytest.mark.parametrize("name", ["bilstm", "query, candidates", "transformer", "sparsemax"])
def test_deeplift_does_not_apply_where_contributions_do_not_add_up(name: str) -> None:
    model, record = case(name)
    with pytest.raises(
        NotApplicable, match=r"do not add up: in \d of 5 texts, by up to [\d.e-]+ where they sum"
    ):
        deeplift(model, record, 0)
    deeplift(model, record, 0, tolerance=1e9)  # only the tolerance stood in the way


def test_deeplift_finds_the_modules_a_plain_object_holds() -> None:
    model, record = case("pairs")
    found = deeplift(model, record, 0, hold_attention=True, signed=True)
    assert found[record.content].isfinite().all()
    bent = torch.tanh(record.embeddings @ model.inner)
    against = contrast_of_pairs(model, record)
    per_token = (bent * against[:, None]).sum(-1) * record.alpha[:, 0].gather(
        1, record.item_of_token.clamp_min(0)
    )
    expected = masking.to_items(per_token, record.item_of_token, record.content.shape[1])
    np.testing.assert_allclose(found[record.content], expected[record.content], atol=1e-9)


def contrast_of_pairs(model: Pairs, record: Record) -> Tensor:
    return model.out.T[record.predicted] - model.out.mean(-1)


def test_deeplift_names_a_module_used_twice() -> None:
    class Twice(Pairs):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            embeddings = self.table[batch.tokens] if embeddings is None else embeddings
            found = super().read(batch, self.bend(embeddings))
            return replace(found, embeddings=embeddings)

    model = Twice()
    record = model.read(batch_of())
    with pytest.raises(NotApplicable, match="one activation module twice"):
        deeplift(model, record, 0)
    assert set(vars(model.bend)) == set(vars(nn.Tanh()))


# All of them

CAPTUM = {
    "integrated_gradients": {},
    "shap": {"n_samples": 40},
    "shap:gradient": {"kind": "gradient", "n_samples": 10},
    "lime": {"n_samples": 40},
    "deeplift": {"tolerance": 1e9},
}


def scores_of(name: str, model: Any, record: Record, seed: int = 0) -> Tensor:
    return MEASURES[name.split(":")[0]](model, record, seed, **CAPTUM[name])


@pytest.mark.parametrize("measure", CAPTUM)
@pytest.mark.parametrize("name", ["query, candidates", "pairs"])
def test_a_text_scores_the_same_whatever_the_batch(name: str, measure: str) -> None:
    model, record = case(name)
    together = scores_of(measure, model, record)
    assert torch.equal(together.isnan(), ~record.content)
    with torch.no_grad():
        turned = model.read(record.batch.rows(torch.tensor([4, 1, 2])))
        only = record.batch.rows(torch.tensor([1]))
        alone = model.read(only.without(torch.zeros_like(only.mask)))
    found = scores_of(measure, model, turned)
    for index, source in enumerate((4, 1, 2)):
        items = found.shape[1]
        np.testing.assert_allclose(found[index], together[source, :items], atol=1e-6)
    np.testing.assert_allclose(
        scores_of(measure, model, alone)[0], together[1, : alone.content.shape[1]], atol=1e-6
    )


@pytest.mark.parametrize("measure", ["shap", "shap:gradient", "lime"])
def test_the_seed_decides_and_the_global_generators_are_left_alone(measure: str) -> None:
    model, record = case("bilstm")
    torch.manual_seed(5)
    np.random.seed(5)
    first = scores_of(measure, model, record, 1)
    drawn = torch.rand(3), np.random.rand(3)
    again = scores_of(measure, model, record, 1)
    other = scores_of(measure, model, record, 2)
    np.testing.assert_array_equal(first, again)
    assert (first - other).nan_to_num().abs().max() > 1e-4
    torch.manual_seed(5)
    np.random.seed(5)
    assert torch.equal(drawn[0], torch.rand(3))
    np.testing.assert_array_equal(drawn[1], np.random.rand(3))


def state_of(model: nn.Module) -> list[Any]:
    return [
        (
            module.training,
            sorted(vars(module)),
            *(
                len(getattr(module, name))
                for name in (
                    "_forward_hooks",
                    "_forward_pre_hooks",
                    "_backward_hooks",
                    "_backward_pre_hooks",
                )
            ),
        )
        for module in model.modules()
    ]


@pytest.mark.parametrize("measure", CAPTUM)
@pytest.mark.parametrize("fails", [False, True])
def test_the_model_is_left_unchanged_also_after_a_failure(
    measure: str, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No gradient reaches activations in the query's encoder: Captum leaves its attributes there.
    model = made(4, True, encoder="mlp:hidden=4")
    with torch.no_grad():
        record = model.read(batch_of(query=True, candidates=True))
    model.query_encoder.train()
    before, parameters = state_of(model), [each.clone() for each in model.parameters()]
    random = torch.get_rng_state()
    if fails:
        with monkeypatch.context() as patch:
            patch.setattr(model.output, "forward", lambda context, query: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                scores_of(measure, model, record)
    else:
        scores_of(measure, model, record)
    assert state_of(model) == before
    assert all(each.grad is None for each in model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(parameters, model.parameters(), strict=True))
    assert not record.embeddings.requires_grad
    assert torch.equal(random, torch.get_rng_state())


@pytest.mark.parametrize("measure", CAPTUM)
def test_items_are_removed_in_place_and_marks_never(measure: str) -> None:
    model, record = case("linear")
    seen: list[tuple[Tensor, Tensor]] = []

    class Spy:
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            seen.append((batch.tokens, embeddings.detach()))  # type: ignore[union-attr]
            return model.read(batch, embeddings)

        def decode(self, record: Record, alpha: Tensor) -> Tensor:
            return model.decode(record, alpha)

    scores_of(measure, Spy(), record)
    removed = 0
    for tokens, embeddings in seen:
        marks = (tokens == START) | (tokens == END)
        assert torch.equal(embeddings[marks], model.embedding.weight.detach()[tokens[marks]])
        removed += int((embeddings[tokens > END] == 0).all(-1).sum())
    assert removed > 0 or measure == "shap:gradient"


@pytest.mark.parametrize("measure", CAPTUM)
def test_one_item_gets_all_and_no_item_nothing(measure: str) -> None:
    model, record = case("linear")
    batch = record.batch
    batch = replace(batch, mask=batch.mask.clone())
    batch.mask[2, 1:] = False  # only the start mark is left
    with torch.no_grad():
        record = model.read(batch)
    found = scores_of(measure, model, record)
    assert found[2].isnan().all()
    assert torch.equal(found.isnan(), ~record.content)
    if measure in ("integrated_gradients", "shap"):
        assert float(found[3, 1]) == pytest.approx(abs(difference(model, record, 3)), abs=1e-6)
        assert float(found[3, 1]) > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_glass_models_are_explained_by_their_deciding_word(kind: str) -> None:
    """Items are removed from the input, so Shifted's deciding word is found too."""
    model, batch = Glass(kind, dtype=torch.float64), glass_batch(6)  # type: ignore[arg-type]
    record = model.read(batch)
    deciding = batch.evidence.int().argmax(-1)  # type: ignore[union-attr]
    for measure in CAPTUM:
        found = scores_of(measure, model, record).nan_to_num(-1)
        assert torch.equal(found.argmax(-1), deciding), measure
    linear = deeplift(model, record, 0)  # exact: glass is linear in the embeddings
    assert (linear.nan_to_num().sort(-1).values[:, :-1].abs() < 1e-12).all()


def test_only_items_that_count_can_be_removed() -> None:
    _, record = case("pairs")
    content = record.content.clone()
    content[0, 1] = False
    less = replace(record, content=content)
    expected = (record.item_of_token >= 0) & ~(
        (record.item_of_token == 1) & (torch.arange(5) == 0)[:, None]
    )
    assert torch.equal(attribution.removable(less), expected)
    empty = attribution.baseline(less)
    assert (empty[expected] == 0).all()
    assert torch.equal(empty[~expected], record.embeddings[~expected])
