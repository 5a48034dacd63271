"""Gradient norms, hidden states and influence, against finite differences and Jacobians."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from captum.attr import InputXGradient
from scipy.stats import kendalltau
from torch import Tensor, nn

from attnaudit import statistics
from attnaudit.auditing.audit import audit
from attnaudit.core import masking
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.measures import DEFAULT_MEASURES, MEASURES, REFERENCE_MEASURES
from attnaudit.measures.attention_norm import attention_norm
from attnaudit.measures.gradient_norm import gradient_norm
from attnaudit.measures.hidden_gradient import hidden_gradient
from attnaudit.measures.hidden_leave_one_out import hidden_leave_one_out
from attnaudit.measures.influence import influence, influence_matrix
from attnaudit.measures.input_times_gradient import input_times_gradient
from attnaudit.measures.rollout import rollout
from attnaudit.models import Architecture, build
from attnaudit.models.glass import KINDS, Glass, glass_batch
from attnaudit.models.imposed import Imposed, uniform

START, END = 1, 2
STEP = 1e-5
TEXTS = ([5, 6, 7, 8, 9, 10], [12, 5, 5, 13], [7, 14], [15], [20, 21, 22, 23, 24, 5, 6, 7])
SENTENCES = ([0, 0, 0, 1, 1, 2], [0, 0, 1, 1], [0, 1], [0], [0, 0, 0, 0, 1, 1, 1, 2])
QUERIES = ([16, 17], [18], [5, 6, 7], [19, 5], [7])
CANDIDATES = torch.tensor([[True, True, False, True]] * 3 + [[False, True, True, False]] * 2)


def padded(rows: tuple[list[int], ...], first: int = START, last: int = END) -> Tensor:
    marked = [[first, *row, row[-1] if last < 0 else last] for row in rows]
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
        segments=padded(SENTENCES, 0, -1),
        classes=CANDIDATES if candidates else None,
    )


def made(classes: int, query: bool, **choices: Any) -> Any:
    architecture = Architecture(**{"encoder": "bilstm:hidden=3", "embedding": 4, **choices})
    model = build(architecture, words=30, classes=classes, with_query=query)
    draw = torch.Generator().manual_seed(7)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7, generator=draw)
    return model.double().eval()


class Pairs:
    """Every two words are one item; start and end belong to none. No readout, two rows."""

    def __init__(self) -> None:
        draw = torch.Generator().manual_seed(1)
        self.table, self.inner, self.score, self.out = (
            torch.randn(*shape, generator=draw, dtype=torch.float64)
            for shape in ((30, 4), (4, 5), (5, 2), (10, 3))
        )

    def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
        embeddings = self.table[batch.tokens] if embeddings is None else embeddings
        place = torch.arange(batch.tokens.shape[1]).expand_as(batch.tokens)
        item_of_token = torch.where(
            batch.tokens > END, (place - 1).div(2, rounding_mode="floor"), -1
        )
        items = max(int(item_of_token.max()) + 1, 1)
        belongs = (item_of_token[:, None] == torch.arange(items)[:, None]).double()  # (B,N,T)
        content = belongs.any(-1)
        hidden = (belongs @ (embeddings @ self.inner).tanh()) ** 2 - 1
        hidden = hidden + hidden.cumsum(1) / 3
        mask = content[:, None].expand(-1, 2, -1)
        alpha = masking.softmax((hidden @ self.score).transpose(1, 2), mask)
        record = Record(
            batch,
            embeddings,
            hidden,
            alpha,
            mask,
            content,
            item_of_token,
            torch.empty(len(batch), 3),
        )
        return replace(record, logits=self.decode(record, alpha))

    def decode(self, record: Record, alpha: Tensor) -> Tensor:
        hidden = record.hidden if alpha.dim() == 3 else record.hidden[:, None]  # type: ignore[index]
        return (alpha @ hidden).flatten(-2) @ self.out


MAKE: dict[str, Callable[[], tuple[Any, Batch]]] = {
    "bilstm": lambda: (made(2, False), batch_of()),
    "query, candidates": lambda: (made(4, True), batch_of(query=True, candidates=True)),
    "tanh output": lambda: (made(3, True, output="tanh"), batch_of(query=True)),
    "sparsemax": lambda: (made(2, False, projection="sparsemax"), batch_of()),
    "transformer": lambda: (made(3, False, encoder="transformer:hidden=6,heads=2"), batch_of()),
    "pairs": lambda: (Pairs(), batch_of()),
    "sentences": lambda: (
        made(3, True, model="hierarchical:site=sentence", encoder="bigru:hidden=3"),
        batch_of(query=True),
    ),
    "words": lambda: (
        made(3, True, model="hierarchical:site=word", encoder="bigru:hidden=3"),
        batch_of(query=True),
    ),
}
every_case = pytest.mark.parametrize("name", MAKE)


@cache
def case(name: str) -> tuple[Any, Record]:
    model, batch = MAKE[name]()
    with torch.no_grad():
        return model, model.read(batch)


def chosen(logits: Tensor, record: Record) -> Tensor:
    """Probability (…,B) of the class predicted in the record, among the candidates."""
    classes = torch.ones_like(record.logits, dtype=torch.bool)
    classes = classes if record.batch.classes is None else record.batch.classes
    weight = logits.exp() * classes
    top = (record.logits.exp() * classes).argmax(-1)
    return weight.gather(-1, top[:, None])[:, 0] / weight.sum(-1)


def slopes(function: Callable[[Tensor], Tensor], index: Tensor) -> Tensor:
    """Central differences of function (B,X,Y) -> (B,) in each component, for all examples."""
    found = torch.zeros_like(index)
    for x in range(index.shape[1]):
        for y in range(index.shape[2]):
            step = torch.zeros_like(index)
            step[:, x, y] = STEP
            found[:, x, y] = (function(index + step) - function(index - step)) / (2 * STEP)
    return found


def by_item(slope: Tensor, record: Record, norm: int) -> np.ndarray:
    """The norm over all components of an item's tokens, as shares, in a plain loop."""
    found = np.full(record.content.shape, np.nan)
    for index, item in record.content.nonzero().tolist():
        numbers = slope[index][record.item_of_token[index] == item].numpy().ravel()
        found[index, item] = np.linalg.norm(numbers, norm)
    return found / np.nansum(found, 1, keepdims=True)


def same(found: Tensor, expected: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(found.numpy(), np.asarray(expected), atol=tolerance, rtol=0)


def test_the_usual_measures_are_registered_and_the_reference_measures_among_them() -> None:
    assert set(DEFAULT_MEASURES) < set(MEASURES)
    assert set(REFERENCE_MEASURES) <= set(DEFAULT_MEASURES)
    assert set(MEASURES) - set(DEFAULT_MEASURES) == {
        *(
            "input_times_gradient",
            "head_mean",
            "influence",
            "rollout",
            "integrated_gradients",
            "shap",
            "lime",
        ),
        "deeplift",
    }


# Words


@every_case
@pytest.mark.parametrize("norm", [1, 2])
@torch.no_grad()
def test_gradient_norm_is_the_share_of_the_norm_of_the_slope_of_the_probability(
    name: str, norm: int
) -> None:
    model, record = case(name)
    free = slopes(lambda x: chosen(model.read(record.batch, x).logits, record), record.embeddings)
    found = gradient_norm(model, record, 0, norm=norm)
    same(found, by_item(free, record, norm))
    same(found.nansum(-1), [1.0] * len(TEXTS), 1e-12)
    held = slopes(
        lambda x: chosen(model.decode(model.read(record.batch, x), record.alpha), record),
        record.embeddings,
    )
    assert np.nanmax(abs(by_item(held, record, norm) - found.numpy())) > 1e-3  # the attention moves


def test_gradient_norm_outlives_a_model_that_is_sure_of_itself() -> None:
    model = made(2, False)
    with torch.no_grad():
        model.output.context.weight *= 300
        record = model.read(batch_of())
        exact = gradient_norm(model, record, 0)
        rough = model.float().read(batch_of())
    assert (rough.probs.amax(-1) == 1).any()  # where the slope of p itself is 0
    same(gradient_norm(model, rough, 0).double(), exact, 1e-4)


def test_nothing_has_no_shares() -> None:
    model, record = case("query, candidates")
    classes = CANDIDATES.clone()
    classes[0] = torch.tensor([False, True, False, False])  # p is 1 whatever is said
    batch = replace(record.batch, classes=classes)
    with torch.no_grad():
        alone = model.read(batch)
    for measure in (gradient_norm, hidden_gradient, hidden_leave_one_out):
        found = measure(model, alone, 0)
        assert found[0].isnan().all()
        assert found[1, 1:5].isfinite().all()


@every_case
def test_input_times_gradient_is_the_slope_along_the_word_and_captums(name: str) -> None:
    model, record = case(name)
    found = input_times_gradient(model, record, 0, signed=True)
    for item in range(record.content.shape[1]):
        own = (record.item_of_token == item)[..., None]
        with torch.no_grad():
            up, down = (
                chosen(
                    model.read(
                        record.batch, record.embeddings.where(~own, record.embeddings * by)
                    ).logits,
                    record,
                )
                for by in (1 + STEP, 1 - STEP)
            )
        real = record.content[:, item]
        same(found[real, item], ((up - down) / (2 * STEP))[real], 1e-8)
    assert found[~record.content].isnan().all()
    assert torch.equal(
        input_times_gradient(model, record, 0)[record.content], found[record.content].abs()
    )
    captum = InputXGradient(lambda x: chosen(model.read(record.batch, x).logits, record))
    per_token = captum.attribute(record.embeddings.clone().requires_grad_()).sum(-1).detach()
    expected = masking.to_items(per_token, record.item_of_token, record.content.shape[1])
    same(found[record.content], expected[record.content], 1e-12)


# Hidden states


def from_hidden(name: str, model: Any, record: Record) -> Callable[[Tensor], Tensor]:
    """The logits as a function of the hidden states alone, put together from the model's parts."""
    batch = record.batch
    if name == "pairs":

        def of_pairs(hidden: Tensor) -> Tensor:
            scores = (hidden @ model.score).transpose(1, 2)
            alpha = scores.masked_fill(~record.mask, -torch.inf).softmax(-1)
            return (alpha @ hidden).flatten(1) @ model.out

        return of_pairs
    query = None
    if batch.query is not None:
        states = model.query_encoder(model.embedding(batch.query), batch.query_mask)
        query = model.query_encoder.summary(states, batch.query_mask)
    if name == "sentences":

        def of_sentences(hidden: Tensor) -> Tensor:
            alpha = model.projection(model.scorer["sentence"](hidden, query), record.mask[:, 0])
            return model.output((alpha[:, None] @ hidden)[:, 0], query)

        return of_sentences
    if name == "words":

        def of_words(hidden: Tensor) -> Tensor:
            scores = model.scorer["word"](hidden, query)[:, None].expand(record.mask.shape)
            alpha = scores.masked_fill(~record.mask, -1e30).softmax(-1) * record.mask
            there = record.mask.any(-1)
            above = model.sentence_encoder(alpha @ hidden, there)
            weights = model.projection(model.scorer["sentence"](above, query), there)
            return model.output((weights[:, None] @ above)[:, 0], query)

        return of_words

    def of_attentive(hidden: Tensor) -> Tensor:
        alpha = model.projection(model.scorer(hidden, query), record.mask[:, 0])
        return model.output((alpha[:, None] @ hidden)[:, 0], query)

    return of_attentive


@every_case
@pytest.mark.parametrize("norm", [1, 2])
@torch.no_grad()
def test_hidden_gradient_moves_the_attention_with_the_states(name: str, norm: int) -> None:
    model, record = case(name)
    logits = from_hidden(name, model, record)
    same(logits(record.hidden), record.logits, 1e-12)  # type: ignore[arg-type]
    slope = slopes(lambda hidden: chosen(logits(hidden), record), record.hidden)  # type: ignore[arg-type]
    expected = np.linalg.norm(slope.numpy(), norm, axis=-1)
    expected[~record.content.numpy()] = np.nan
    expected /= np.nansum(expected, 1, keepdims=True)
    found = hidden_gradient(model, record, 0, norm=norm)
    same(found, expected)
    if record.readout is not None and norm == 2:  # held, the shares would be the attention itself
        assert (found - record.alpha[:, 0])[record.content].abs().max() > 1e-2


def test_hidden_gradient_says_where_it_does_not_apply() -> None:
    model, record = case("bilstm")

    class Changed:
        def __init__(self, change: Callable[[Record], Record]) -> None:
            self.change = change

        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            return self.change(model.read(batch, embeddings))

    def copied(found: Record) -> Record:
        return replace(found, hidden=found.hidden * 1)  # type: ignore[operator]

    cases: dict[str, Callable[[Record], Record]] = {
        "records no hidden states": lambda found: replace(found, hidden=None),
        "do not depend on the embeddings": lambda found: replace(
            found, hidden=found.hidden.detach()
        ),  # type: ignore[union-attr]
        "attention is not computed from the hidden": copied,
        "prediction is not computed from the hidden": lambda found: replace(
            copied(found), alpha=found.alpha.detach()
        ),
    }
    for text, change in cases.items():
        with pytest.raises(NotApplicable, match=text):
            hidden_gradient(Changed(change), record, 0)  # type: ignore[arg-type]
    for text in list(cases)[:2]:
        with pytest.raises(NotApplicable, match=text):
            influence(Changed(cases[text]), record, 0)  # type: ignore[arg-type]
    with pytest.raises(NotApplicable, match="records no hidden states"):
        attention_norm(model, replace(record, hidden=None), 0)


@pytest.mark.parametrize("measure", [gradient_norm, hidden_gradient, influence])
def test_an_unknown_norm_is_rejected(measure: Callable[..., Tensor]) -> None:
    model, record = case("bilstm")
    with pytest.raises(InputError, match="norm must be 1 or 2, got 3"):
        measure(model, record, 0, norm=3)


PROJECTIONS = ("softmax", "sparsemax", "entmax", "sparsegen:lam=-1", "uniform", "gumbel_softmax")


def shares_of(change: np.ndarray) -> np.ndarray:
    total = np.nansum(change)
    return change / total if total > 0 else np.full_like(change, np.nan)


@pytest.mark.parametrize("projection", PROJECTIONS)
@torch.no_grad()
def test_hidden_leave_one_out_attends_again_to_the_states_that_are_left(projection: str) -> None:
    """With one state deleted, the rest is scored, projected and decoded by the model's parts."""
    model = made(4, True, projection=projection)
    model.scorer.score.weight *= 3
    record = model.read(batch_of(query=True, candidates=True))
    found = hidden_leave_one_out(model, record, 0)
    scaled = hidden_leave_one_out(model, record, 0, renormalise=True)
    for index, text in enumerate(TEXTS):
        query = record.state[index : index + 1]
        places = list(range(1, len(text) + 1))
        change, other = np.full((2, found.shape[1]), np.nan)
        for place in places if len(text) > 1 else []:
            left = [each for each in places if each != place]
            hidden = record.hidden[index : index + 1, left]
            alpha = model.projection(
                model.scorer(hidden, query), torch.ones(1, len(left), dtype=torch.bool)
            )
            rest = record.alpha[index, 0, left] / record.alpha[index, 0, left].sum()
            for weights, into in ((alpha[0], change), (rest, other)):
                logits = model.output(weights @ hidden[0], query)
                p, q = (
                    (x.exp() * CANDIDATES[index] / (x.exp() * CANDIDATES[index]).sum()).numpy()
                    for x in (logits[0], record.logits[index])
                )
                into[place] = abs(p - q).sum() / 2
        same(found[index], shares_of(change), 1e-10)
        same(scaled[index], shares_of(other), 1e-10)
    difference = (found - scaled)[record.content].nan_to_num().abs().max()
    assert (difference < 1e-10) == (projection in ("softmax", "uniform", "gumbel_softmax"))


@torch.no_grad()
def test_hidden_leave_one_out_of_one_hot_attention_has_nothing_to_scale_up() -> None:
    model = made(2, False, projection="sparsemax")
    model.scorer.score.weight *= 1e4
    record = model.read(batch_of())
    top = record.alpha[:, 0] == 1
    assert top.any(-1).all()
    scaled = hidden_leave_one_out(model, record, 0, renormalise=True)
    assert scaled[top].isnan().all()
    anew = hidden_leave_one_out(model, record, 0)
    for index, text in enumerate(TEXTS):
        if len(text) > 1:
            assert anew[index][top[index]] == 1  # all that matters
            assert (anew[index][record.content[index] & ~top[index]] == 0).all()
    assert anew[3].isnan().all()  # a single word


@pytest.mark.parametrize("name", ["sentences", "words", "pairs"])
@torch.no_grad()
def test_hidden_leave_one_out_of_several_rows_and_levels(name: str) -> None:
    """Softmax: removing is renormalising, so each row can be rescaled by hand and decoded alone."""
    model, record = case(name)
    assert hasattr(model, "attention_without") == (name != "pairs")
    expected = np.full(record.content.shape, np.nan)
    for index, item in record.content.nonzero().tolist():
        alpha = record.alpha.clone()
        row = alpha[index, :, item] > 0
        alpha[index, :, item] = 0
        total = alpha[index].sum(-1)
        if (total[row] == 0).any():
            continue  # a sentence of one word: nothing left of it
        alpha[index, row] = alpha[index, row] / total[row, None]
        p, q = (x.softmax(-1)[index] for x in (model.decode(record, alpha), record.logits))
        expected[index, item] = (p - q).abs().sum() / 2
    expected = np.stack([shares_of(each) for each in expected])
    same(hidden_leave_one_out(model, record, 0), expected, 1e-10)
    same(hidden_leave_one_out(model, record, 0, renormalise=True), expected, 1e-10)
    assert np.isfinite(expected).sum() > 3


@pytest.mark.parametrize("site", ["sentence", "word"])
@torch.no_grad()
def test_both_levels_project_their_scores_again(site: str) -> None:
    choices = {
        "model": f"hierarchical:site={site}",
        "encoder": "bigru:hidden=3",
        "projection": "sparsemax",
    }
    model = made(2, False, **choices)
    record = model.read(batch_of())
    nothing = torch.zeros(len(TEXTS), 1, record.content.shape[1], dtype=torch.bool)
    same(model.attention_without(record, nothing)[:, 0], record.alpha, 1e-12)
    drop = nothing.clone()
    drop[:, 0, 1] = True
    alpha = model.attention_without(record, drop)
    assert (alpha[..., 1] == 0).all()
    left = (record.mask & ~drop).any(-1)
    same(alpha[:, 0].sum(-1), left.double(), 1e-12)
    scaled = masking.renormalise(record.alpha, record.mask & ~drop)
    assert (alpha[:, 0] - scaled).nan_to_num().abs().max() > 1e-3


@torch.no_grad()
def test_attention_that_is_not_the_models_own_is_scaled_up() -> None:
    model = Imposed(made(2, False), uniform)
    record = model.read(batch_of())
    same(
        hidden_leave_one_out(model, record, 0),
        hidden_leave_one_out(model, record, 0, renormalise=True),
        1e-15,
    )
    own = hidden_leave_one_out(model.inner, record, 0)
    assert (own - hidden_leave_one_out(model, record, 0)).nan_to_num().abs().max() > 1e-3


# Influence


@cache
def jacobian(name: str) -> Tensor:
    """∂h/∂X of each text (B,N,H,T,E)."""
    model, record = case(name)
    found = []
    for index in range(len(TEXTS)):
        only = record.batch.rows(torch.tensor([index]))

        def states(x: Tensor, only: Batch = only) -> Tensor:
            hidden = model.read(only, x).hidden[0]
            short = record.content.shape[1] - len(hidden)
            return nn.functional.pad(hidden, (0, 0, 0, short))

        each = torch.autograd.functional.jacobian(states, record.embeddings[index : index + 1])
        found.append(each[:, :, 0])
    return torch.stack(found)


@every_case
@pytest.mark.parametrize(("norm", "per_facet"), [(2, False), (1, False), (2, True), (1, True)])
def test_influence_is_the_jacobians(name: str, norm: int, per_facet: bool) -> None:
    model, record = case(name)
    full, hidden = jacobian(name).numpy(), record.hidden.numpy()  # type: ignore[union-attr]
    expected = np.full((*record.content.shape, record.content.shape[1]), np.nan)
    for index in range(len(TEXTS)):
        real = record.content[index].nonzero()[:, 0].tolist()
        for p in real:
            for i in real:
                block = full[index, p][:, record.item_of_token[index] == i].reshape(
                    hidden.shape[2], -1
                )
                if per_facet:
                    expected[index, p, i] = math.sqrt(
                        (np.linalg.norm(block, norm, axis=1) ** 2).sum()
                    )
                else:
                    direction = hidden[index, p] / np.linalg.norm(hidden[index, p])
                    expected[index, p, i] = np.linalg.norm(direction @ block, norm)
            expected[index, p] /= np.nansum(expected[index, p])
    found = influence_matrix(model, record, norm=norm, per_facet=per_facet)
    same(found, expected, 1e-10)
    traced = influence(model, record, 0, norm=norm, per_facet=per_facet)
    for index, row, item in record.mask.nonzero().tolist():
        states = np.flatnonzero(record.content[index])
        plain = sum(float(record.alpha[index, row, p]) * expected[index, p, item] for p in states)
        assert float(traced[index, row, item]) == pytest.approx(plain, abs=1e-12)
    assert traced[~record.content[:, None].expand_as(traced)].isnan().all()


def test_without_an_encoder_each_state_has_its_own_word_behind_it() -> None:
    model = made(2, False, encoder="mlp:hidden=4,activation=tanh")
    with torch.no_grad():
        record = model.read(batch_of())
    for per_facet in (False, True):
        found = influence_matrix(model, record, per_facet=per_facet)
        own = torch.eye(found.shape[1], dtype=torch.float64).expand_as(found)
        same(
            found[record.content],
            own.where(record.content[:, None], torch.nan)[record.content],
            1e-12,
        )
    same(
        influence(model, record, 0)[:, 0][record.content], record.alpha[:, 0][record.content], 1e-12
    )


def test_a_state_that_no_word_moves_has_nothing_behind_it() -> None:
    model = made(2, False, encoder="mlp:hidden=4", projection="sparsemax")
    with torch.no_grad():
        model.encoder.network[0].bias[:] = 0
        model.embedding.weight[5] = 0  # relu(0): the state is 0 and stays
        record = model.read(batch_of())
        dead = (record.batch.tokens == 5) & record.content
    rows = influence_matrix(model, record)
    assert rows[dead].isnan().all()
    traced = influence(model, record, 0)[:, 0]
    weighed = (record.alpha[:, 0] * dead).sum(-1) > 0
    assert weighed.any()
    assert not weighed.all()
    for index in range(len(TEXTS)):
        assert bool(traced[index][record.content[index]].isnan().any()) == bool(weighed[index])


def test_the_two_forms_of_influence_rank_the_words_much_alike() -> None:
    """Appendix A: "nearly identical". On untrained models the mean tau is far above 0."""
    for name in ("bilstm", "transformer", "sentences"):
        model, record = case(name)
        length, facet = (influence_matrix(model, record, per_facet=each) for each in (False, True))
        taus = [
            kendalltau(
                length[index, p][record.content[index]], facet[index, p][record.content[index]]
            ).statistic
            for index, p in record.content.nonzero().tolist()
            if record.length[index] > 3
        ]
        assert np.mean(taus or [1.0]) > 0.5, (name, np.mean(taus))


# Weights and lengths, layers


@every_case
def test_attention_norm_is_the_weight_times_the_length(name: str) -> None:
    model, record = case(name)
    length = np.sqrt((record.hidden.numpy() ** 2).sum(-1))  # type: ignore[union-attr]
    same(attention_norm(model, record, 0), record.alpha.numpy() * length[:, None], 1e-12)


@pytest.mark.parametrize("heads", [1, 2])
@torch.no_grad()
def test_rollout_is_the_product_of_the_layers(heads: int) -> None:
    model = made(2, False, encoder=f"transformer:hidden=6,heads={heads},layers=3")
    record = model.read(batch_of())
    layers = model.self_attention(record).numpy()
    assert layers.shape == (
        len(TEXTS),
        3,
        record.batch.tokens.shape[1],
        record.batch.tokens.shape[1],
    )
    found = rollout(model, record, 0)
    for index, text in enumerate(TEXTS):
        size = len(text) + 2
        rolled = np.eye(size)
        for layer in layers[index, :, :size, :size]:
            rolled = 0.5 * (layer + np.eye(size)) @ rolled
        same(found[index, 0, :size], record.alpha[index, 0, :size].numpy() @ rolled, 1e-12)
        assert (found[index, 0, size:] == 0).all()
    same(found.sum(-1), np.ones((len(TEXTS), 1)), 1e-12)
    assert (found - record.alpha).abs().max() > 1e-2


@torch.no_grad()
def test_the_layers_are_those_the_encoder_uses() -> None:
    """By hand from the weights, head by head; the states they lead to are the encoder's."""
    model = made(2, False, encoder="transformer:hidden=6,heads=2,layers=2")
    record = model.read(batch_of())
    encoder, index, size = model.encoder, 4, len(TEXTS[4]) + 2
    place = torch.arange(size)[:, None] * torch.exp(-math.log(10_000) * torch.arange(0, 6, 2) / 6)
    hidden = encoder.enter(record.embeddings[index, :size]) + torch.cat(
        [place.sin(), place.cos()], -1
    )
    for number, layer in enumerate(encoder.layers):
        query, key, value = layer.project(layer.before_attention(hidden)).split(6, -1)
        weights, mixed = [], []
        for head in (slice(0, 3), slice(3, 6)):
            weights.append((query[:, head] @ key[:, head].T / math.sqrt(3)).softmax(-1))
            mixed.append(weights[-1] @ value[:, head])
        same(model.self_attention(record)[index, number, :size, :size], sum(weights) / 2, 1e-12)
        hidden = hidden + layer.join(torch.cat(mixed, -1))
        hidden = hidden + layer.network(layer.before_network(hidden))
    same(record.hidden[index, :size], encoder.leave(hidden), 1e-12)


def test_rollout_says_where_there_are_no_layers() -> None:
    model, record = case("bilstm")
    with pytest.raises(NotApplicable, match="bilstm:hidden=3 has no layers of self-attention"):
        rollout(model, record, 0)
    glass = Glass("oracle")
    with pytest.raises(NotApplicable, match="no layers of self-attention below the site"):
        rollout(glass, glass.read(glass_batch(2)), 0)


# All of them

GRADIENTS: dict[str, Callable[..., Tensor]] = {
    name: MEASURES[name]
    for name in (
        "gradient_norm",
        "input_times_gradient",
        "hidden_gradient",
        "hidden_leave_one_out",
        "attention_norm",
        "influence",
    )
}


@every_case
@pytest.mark.parametrize("measure", GRADIENTS)
@torch.no_grad()
def test_a_text_scores_the_same_alone_and_leaves_the_model_as_it_was(
    name: str, measure: str
) -> None:
    model, record = case(name)
    together = GRADIENTS[measure](model, record, 0)
    for index in (1, 3):
        only = record.batch.rows(torch.tensor([index]))
        alone = model.read(only.without(torch.zeros_like(only.mask)))
        found = GRADIENTS[measure](model, alone, 0)[0]
        rows, items = alone.alpha.shape[1:]
        expected = together[index][..., :items]
        same(found, expected if expected.dim() == 1 else expected[:rows], 1e-10)
        assert found.isfinite().any() == (
            measure != "hidden_leave_one_out" or int(alone.length) > 1
        )
    if isinstance(model, nn.Module):
        assert all(parameter.grad is None for parameter in model.parameters())
    assert not record.embeddings.requires_grad


# Glass


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_glass_models_show_what_each_measure_can_see(kind: str, dtype: torch.dtype) -> None:
    model, batch = Glass(kind, dtype=dtype), glass_batch(32)  # type: ignore[arg-type]
    record = model.read(batch)
    attention = record.alpha[:, 0]
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12

    def tau(scores: Tensor) -> Tensor:
        return statistics.kendall(attention, scores, record.content)[0]

    words = gradient_norm(model, record, 0)
    if kind == "inert":  # every word moves every state alike
        even = record.content.to(dtype) / record.length[:, None]
        same(words[record.content], even[record.content], tolerance)
        assert tau(words).isnan().all()
    elif kind == "oracle":
        same(words[record.content], attention[record.content], tolerance)
        assert (tau(words) > 0.999).all()
    else:  # the last word is carried nowhere, the others to the next place
        later = torch.zeros_like(attention)
        later[:, :-1] = attention[:, 1:]
        expected = later / later.sum(-1, keepdim=True)
        same(words[record.content], expected[record.content], tolerance)
        assert tau(words).mean() < 0.2
    # The attention hangs on no state: the slope at each is its weight, whatever the fault.
    same(hidden_gradient(model, record, 0)[record.content], attention[record.content], tolerance)
    left = hidden_leave_one_out(model, record, 0)
    if kind == "inert":  # all states are equal: none matters
        assert left.isnan().all()
    else:
        assert torch.equal(left.nan_to_num(-1).argmax(-1), attention.argmax(-1))
    traced = influence(model, record, 0)[:, 0]
    if kind == "oracle":  # fillers are 0 and stay 0 in length
        assert traced[record.content].isnan().any()


def test_the_usual_measures_run_in_an_audit_and_the_rest_on_request() -> None:
    batch = glass_batch(6)
    results = audit(
        Glass("oracle"), batch, audits=["agreement"], show_progress=False, keep_examples=0
    )
    assert results.about["measures"] == list(DEFAULT_MEASURES)
    assert results.about["measures_not_applicable"] == {}
    asked = ["influence:norm=1", "hidden_leave_one_out:renormalise=true", "rollout"]
    results = audit(
        Glass("shifted"),
        batch,
        audits=["agreement"],
        measures=asked,
        show_progress=False,
        keep_examples=0,
    )
    assert results.about["measures_not_applicable"] == {
        "rollout": "the model has no layers of self-attention below the site to follow"
    }
    assert set(asked[:2]) <= set(results.frame()["measure"].astype(str))
