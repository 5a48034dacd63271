"""The parts of the attentive model, each against an independent computation."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from attnaudit.core import registry
from attnaudit.core.contract import AttentionModel
from attnaudit.core.errors import InputError
from attnaudit.core.special_tokens import END
from attnaudit.data import random_batch
from attnaudit.models import Architecture, Attentive, build
from attnaudit.models.encoders import ENCODERS
from attnaudit.models.encoders.bilstm import BiLSTM
from attnaudit.models.outputs.linear import Linear, LinearQuery
from attnaudit.models.projections.softmax import Softmax
from attnaudit.models.scorers import SCORERS
from attnaudit.models.scorers.additive import Additive


def loud(model: nn.Module, seed: int = 0) -> nn.Module:
    """Large parameters: small ones give near-uniform attention, on which nothing can fail."""
    draw = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(0.7 * torch.randn(parameter.shape, generator=draw, dtype=torch.float64))
    return model


def small(**choices: object) -> Attentive:
    architecture = Architecture(encoder="bilstm:hidden=5", embedding=6)
    model = build(architecture, words=30, classes=3, **{"with_query": True, **choices})
    return loud(model.double()).eval()


def test_bilstm_equals_a_packed_bidirectional_lstm() -> None:
    ours = BiLSTM(6, hidden=5).double()
    theirs = nn.LSTM(6, 5, batch_first=True, bidirectional=True).double()
    with torch.no_grad():
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            getattr(theirs, name).copy_(getattr(ours.forwards, name))
            getattr(theirs, f"{name}_reverse").copy_(getattr(ours.backwards, name))
    lengths = torch.tensor([7, 3, 1, 5])
    embeddings = torch.randn(4, 7, 6, dtype=torch.float64)
    mask = torch.arange(7) < lengths[:, None]
    packed = nn.utils.rnn.pack_padded_sequence(
        embeddings, lengths, batch_first=True, enforce_sorted=False
    )
    output, (last, _) = theirs(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(output, batch_first=True, total_length=7)
    hidden = ours(embeddings, mask)
    torch.testing.assert_close(hidden, expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(
        ours.summary(hidden, mask), torch.cat([last[0], last[1]], -1), atol=1e-12, rtol=0
    )


def test_additive_scores_are_the_formula() -> None:
    scorer = loud(Additive(4, 4).double())
    hidden, query = (
        torch.randn(2, 3, 4, dtype=torch.float64),
        torch.randn(2, 4, dtype=torch.float64),
    )
    scores = scorer(hidden, query)
    for b in range(2):
        for n in range(3):
            inner = torch.tanh(
                scorer.item.weight @ hidden[b, n]
                + scorer.item.bias
                + scorer.query.weight @ query[b]
            )
            assert scores[b, n].item() == pytest.approx(
                (scorer.score.weight[0] @ inner).item(), abs=1e-12
            )


@pytest.mark.parametrize("query_size", [4, None])
@pytest.mark.parametrize("name", SCORERS)
def test_scorers_pass_gradcheck(name: str, query_size: int | None) -> None:
    part = loud(SCORERS[name](4, query_size).double())
    hidden = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    query = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda h, q: part(h, q if query_size else None), (hidden, query)
    )


def test_dot_bilinear_and_deep_scores_are_their_formulas() -> None:
    hidden, query = (
        torch.randn(2, 3, 4, dtype=torch.float64),
        torch.randn(2, 4, dtype=torch.float64),
    )
    dot, plain, bilinear, deep = (
        loud(SCORERS[name](4, 4, **options).double())
        for name, options in (
            ("dot", {}),
            ("dot", {"scaled": False}),
            ("bilinear", {}),
            ("deep", {"layers": 2}),
        )
    )
    for b in range(2):
        for n in range(3):
            h, q = hidden[b, n], query[b]
            assert dot(hidden, query)[b, n].item() == pytest.approx((h @ q).item() / 2, abs=1e-12)
            assert plain(hidden, query)[b, n].item() == pytest.approx((h @ q).item(), abs=1e-12)
            assert bilinear(hidden, query)[b, n].item() == pytest.approx(
                (h @ bilinear.weight.weight @ q).item(), abs=1e-12
            )
            inner = (deep.item.weight @ h + deep.item.bias + deep.query.weight @ q).relu()
            inner = (deep.score[1].weight @ inner + deep.score[1].bias).relu()
            expected = (deep.score[3].weight @ inner + deep.score[3].bias).item()
            assert deep(hidden, query)[b, n].item() == pytest.approx(expected, abs=1e-12)


def test_every_encoder_has_the_context_it_claims() -> None:
    """Changing item 5 changes what an encoder says of the items it lets see it."""
    mask = torch.ones(1, 9, dtype=torch.bool)
    reach = {
        "mlp": 0,
        "average": 0,
        "none": 0,
        "cnn:kernels=1-5": 2,
        "bilstm": 9,
        "bigru": 9,
        "transformer": 9,
    }
    for choice, expected in reach.items():
        torch.manual_seed(0)
        encoder = registry.find(ENCODERS, choice, "encoder")(6).double().eval()
        first = torch.randn(1, 9, 6, dtype=torch.float64)
        second = first.clone()
        second[0, 5] += 1.0
        changed = (
            ((encoder(first, mask) - encoder(second, mask)).abs().amax(-1)[0] > 1e-12)
            .nonzero()[:, 0]
            .tolist()
        )
        assert changed == [at for at in range(9) if abs(at - 5) <= expected], choice


def test_softmax_passes_gradcheck_and_ignores_masked_scores() -> None:
    scores = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True, False, True], [True, False, False, False]])
    assert torch.autograd.gradcheck(lambda s: Softmax()(s, mask), (scores,))
    assert Softmax()(scores, mask)[~mask].abs().max() == 0


def test_outputs_with_and_without_the_query() -> None:
    context, query = torch.randn(2, 5, 4), torch.randn(2, 4)
    paper, ours = Linear(4, 4, 3), LinearQuery(4, 4, 3)
    torch.testing.assert_close(paper(context, query), paper(context, None))
    shift = ours(context, query) - ours(context, None)
    torch.testing.assert_close(shift, ours.query(query)[:, None].expand(2, 5, 3))


def test_only_words_are_attended() -> None:
    batch = random_batch(words=30, with_query=True, seed=3)
    record = small().read(batch)
    assert torch.equal(record.mask[:, 0], batch.mask & (batch.tokens > END))
    assert (record.item_of_token >= 0).equal(record.content)


def test_the_query_changes_the_attention() -> None:
    batch = random_batch(words=30, with_query=True, seed=3)
    other = random_batch(words=30, with_query=True, seed=4)
    model = small()
    swapped = type(batch)(
        batch.example_id, batch.tokens, batch.mask, query=other.query, query_mask=other.query_mask
    )
    assert (model.read(batch).alpha - model.read(swapped).alpha).abs().max() > 1e-3


@pytest.mark.parametrize("seed", [3, np.int64(3)])
def test_the_same_seed_builds_the_same_model_and_leaves_the_global_state(seed: int) -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, again = (
        build(Architecture(embedding=4), words=9, classes=2, with_query=False, seed=seed)
        for _ in "ab"
    )
    other = build(Architecture(embedding=4), words=9, classes=2, with_query=False, seed=2)
    assert torch.equal(torch.random.get_rng_state(), before)
    pairs = list(zip(first.parameters(), again.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b, _ in pairs)
    assert any(not torch.equal(a, c) for a, _, c in pairs)


def test_unknown_parts_are_rejected_with_a_suggestion() -> None:
    with pytest.raises(InputError, match=r"There is no encoder 'bilstn'. Did you mean 'bilstm'"):
        build(Architecture(encoder="bilstn"), words=9, classes=2, with_query=False)


def test_an_attentive_model_is_an_attention_model() -> None:
    assert isinstance(small(), AttentionModel)
    assert not isinstance(nn.Linear(2, 2), AttentionModel)
