"""Any PyTorch classifier by hooks: laws on hand-written models, rejections, and no side effects."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from typer.testing import CliRunner

import attnaudit
from attnaudit import Batch, InputError, from_hooks
from attnaudit.cli import app
from attnaudit.core.simplex import random_alpha
from attnaudit.data import random_batch
from attnaudit.laws.checks import check_model
from attnaudit.models.hooked.custom_model_template import CUSTOM_MODEL_TEMPLATE
from attnaudit.models.readout import with_readout

WORDS, SIZE, CLASSES = 50, 8, 2
BATCH = random_batch(words=WORDS, with_query=False, seed=0)


def sharp(model: nn.Module, dtype: torch.dtype = torch.float64) -> Any:
    """Return the model in training mode, with parameters so large that attention is not uniform."""
    draw = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7, generator=draw)
    return model.to(dtype).train()


# The users' models -------------------------------------------------------------------------------


class Weigh(nn.Module):
    """Returns the weights, in whatever form."""

    def __init__(self, form: Callable[[Tensor], Any], *, by_hand: bool = False) -> None:
        super().__init__()
        self.score, self.form, self.by_hand = nn.Linear(SIZE, 1), form, by_hand

    def forward(self, hidden: Tensor, mask: Tensor) -> Any:
        scores = self.score(hidden.tanh())[..., 0].masked_fill(~mask, -torch.inf)
        return self.form(
            scores.exp() / scores.exp().sum(-1, keepdim=True)
            if self.by_hand
            else scores.softmax(-1)
        )


class Additive(nn.Module):
    """One row over the tokens; `back` undoes the form in which the weights come."""

    def __init__(
        self,
        form: Callable[[Tensor], Any] = lambda weights: weights,
        back: Callable[[Any], Tensor] = lambda weights: weights,
        output: nn.Module | None = None,
        *,
        by_hand: bool = False,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, SIZE)
        self.dropout = nn.Dropout(0.5)
        self.weigh, self.back = Weigh(form, by_hand=by_hand), back
        self.output = output or nn.Linear(SIZE, CLASSES)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        hidden = self.dropout(self.embedding(tokens))
        return self.output((self.back(self.weigh(hidden, mask))[:, None] @ hidden)[:, 0])


def two_rows(weights: Tensor) -> Tensor:
    sharper = weights**2
    return torch.stack([weights, sharper / sharper.sum(-1, keepdim=True)], 1)


def mask_of(weights: Tensor) -> Tensor:
    return weights > 0


class Inside(nn.Module):
    """The most common form: attention used inside the module, weights returned for inspection."""

    def __init__(self, attend: nn.Module) -> None:
        super().__init__()
        self.embedding, self.attend, self.output = (
            nn.Embedding(WORDS, SIZE),
            attend,
            nn.Linear(SIZE, CLASSES),
        )

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.output(self.attend(self.embedding(tokens), mask)[0])


class Pool(nn.Module):
    """`returned` gives the weights for inspection: themselves, or a copy."""

    def __init__(self, returned: Callable[[Tensor], Tensor] = lambda weights: weights) -> None:
        super().__init__()
        self.score, self.returned = nn.Linear(SIZE, 1), returned

    def forward(self, hidden: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        weights = functional.softmax(self.score(hidden)[..., 0].masked_fill(~mask, -1e9), dim=-1)
        return (weights[:, None] @ hidden)[:, 0], self.returned(weights)


class Attends(nn.Module):
    """Self-attention by hand, (B,heads,Q,N) or, with one head, (B,Q,N).

    The head reads one position or the mean.
    """

    def __init__(self, heads: int, reads: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, SIZE)
        self.project, self.weigh = nn.Linear(SIZE, 2 * SIZE), nn.Softmax(-1)
        self.output, self.heads, self.reads = nn.Linear(SIZE, CLASSES), heads, reads

    def forward(self, tokens: Tensor, mask: Tensor) -> dict[str, Tensor] | tuple[Tensor, str]:
        hidden = self.embedding(tokens)
        parts = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.project(hidden).chunk(2, -1)
        )
        q, k = parts
        values = hidden.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        scores = (q @ k.transpose(-1, -2)).masked_fill(~mask[:, None, None], -torch.inf)
        weights = self.weigh(scores[:, 0] if self.heads == 1 else scores)
        out = (weights[:, None] if self.heads == 1 else weights) @ values
        return self.output(read(out.transpose(1, 2).flatten(2), mask, self.reads)), "and more"


def read(hidden: Tensor, mask: Tensor, reads: str) -> Tensor:
    if reads == "first":
        return hidden[:, 0]
    if reads == "last":
        return hidden[torch.arange(len(hidden)), mask.sum(-1) - 1]
    return (hidden * mask[..., None]).sum(1) / mask.sum(-1, keepdim=True)


class Multihead(nn.Module):
    """One nn.MultiheadAttention behind a learnt query, and a linear output."""

    def __init__(
        self, *, batch_first: bool = True, bias: bool = True, values: int | None = None
    ) -> None:
        super().__init__()
        self.embedding, self.query = nn.Embedding(WORDS, SIZE), nn.Parameter(torch.zeros(SIZE))
        self.values = nn.Linear(SIZE, values or SIZE)
        self.attention = nn.MultiheadAttention(
            SIZE, 2, batch_first=batch_first, bias=bias, vdim=values
        )
        self.output = nn.Linear(SIZE, CLASSES)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        hidden = self.embedding(tokens)
        query = self.query.expand(len(tokens), 1, SIZE)
        given = (query, hidden, self.values(hidden))
        if not self.attention.batch_first:
            out, _ = self.attention(
                *(each.transpose(0, 1) for each in given), key_padding_mask=~mask
            )
            return self.output(out[0])
        return self.output(self.attention(*given, key_padding_mask=~mask)[0][:, 0])


class Encoder(nn.Module):
    """nn.TransformerEncoder as the tutorials have it."""

    def __init__(
        self,
        reads: str,
        *,
        causal: bool = False,
        batch_first: bool = True,
        layers: int = 2,
        padded: bool = True,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, SIZE)
        layer = nn.TransformerEncoderLayer(SIZE, 2, 12, 0.3, batch_first=batch_first)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=batch_first)
        self.output, self.reads, self.causal, self.padded = (
            nn.Linear(SIZE, CLASSES),
            reads,
            causal,
            padded,
        )

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        first = self.encoder.layers[0].self_attn.batch_first
        hidden = self.embedding(tokens if first else tokens.T)
        ahead = (
            torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu(1)
            if self.causal
            else None
        )
        out = self.encoder(hidden, mask=ahead, src_key_padding_mask=~mask if self.padded else None)
        return self.output(read(out if first else out.transpose(0, 1), mask, self.reads))


class ClassToken(nn.Module):
    """Puts a vector of its own before the text and reads there."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.start = nn.Embedding(WORDS, SIZE), nn.Parameter(torch.zeros(SIZE))
        self.attention, self.output = (
            nn.MultiheadAttention(SIZE, 2, batch_first=True),
            nn.Linear(SIZE, CLASSES),
        )

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        hidden = torch.cat([self.start.expand(len(tokens), 1, SIZE), self.embedding(tokens)], 1)
        hide = torch.cat([torch.zeros_like(mask[:, :1]), ~mask], 1)
        return self.output(self.attention(hidden, hidden, hidden, key_padding_mask=hide)[0][:, 0])


def hooked(model: nn.Module, alpha: str, **options: Any) -> Any:
    return from_hooks(model, alpha=alpha, embedding="embedding", **options)


MODELS: dict[str, tuple[Callable[[], nn.Module], str, dict[str, Any], tuple[int, bool]]] = {
    # name: the model, alpha=, options, (rows, has a readout)
    "weights": (Additive, "weigh", {}, (1, True)),
    "column": (
        lambda: Additive(lambda w: w[..., None], lambda w: w[..., 0], by_hand=True),
        "weigh",
        {},
        (1, True),
    ),
    "in a tuple": (
        lambda: Additive(lambda w: ("name", w, mask_of(w)), lambda out: out[1], by_hand=True),
        "weigh",
        {},
        (1, True),
    ),
    "rows": (
        lambda: Additive(two_rows, lambda out: out.mean(1), by_hand=True),
        "weigh",
        {},
        (2, False),
    ),
    "not linear": (
        lambda: Additive(output=nn.Sequential(nn.Tanh(), nn.Linear(SIZE, CLASSES))),
        "weigh",
        {},
        (1, False),
    ),
    "used inside": (lambda: Inside(Pool()), "attend", {}, (1, True)),
    "used inside, a copy returned": (
        lambda: Inside(Pool(lambda w: w.clone())),
        "attend",
        {},
        (1, True),
    ),
    "four dimensions": (lambda: Attends(2, "first"), "weigh", {}, (2, False)),
    "one head of four dimensions": (lambda: Attends(2, "last"), "weigh", {"heads": 1}, (1, True)),
    "three dimensions": (lambda: Attends(1, "last"), "weigh", {}, (1, True)),
    "three dimensions, pooled": (lambda: Attends(1, "mean"), "weigh", {}, (12, False)),
    "multihead": (Multihead, "attention", {}, (2, False)),
    "one head": (Multihead, "attention", {"heads": 0}, (1, True)),
    "time first, no bias": (
        lambda: Multihead(batch_first=False, bias=False),
        "attention",
        {},
        (2, False),
    ),
    "other size of values": (lambda: Multihead(values=5), "attention", {"heads": [1]}, (1, True)),
    "class token": (ClassToken, "attention", {"num_prefix_tokens": 1, "heads": 1}, (1, True)),
    "encoder": (lambda: Encoder("first"), "encoder", {}, (2, False)),
    "lower layer": (lambda: Encoder("mean"), "encoder.layers.0", {}, (24, False)),
    "causal": (
        lambda: Encoder("last", causal=True),
        "encoder.layers.1.self_attn",
        {"heads": 0},
        (1, False),
    ),
    "causal, pooled": (lambda: Encoder("mean", causal=True, layers=1), "encoder", {}, (24, False)),
    "encoder, time first": (
        lambda: Encoder("last", batch_first=False),
        "encoder",
        {"batch_first": False},
        (2, False),
    ),
}


# Laws --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_every_law_is_kept_and_every_control_moves(name: str) -> None:
    make, alpha, options, (rows, has_readout) = MODELS[name]
    network = sharp(make())
    model = hooked(network, alpha, **options)
    record = model.read(BATCH)
    assert record.alpha.shape[1] == rows
    assert (record.readout is not None) == has_readout
    real = record.mask.sum(-1) > 2
    spread = (record.alpha.amax(-1) * record.mask.sum(-1))[real]
    assert spread.median() > 1.3, "attention is too even to show anything"
    report = check_model(model, BATCH)
    assert [law.verdict for law in report.laws] == ["kept"] * len(report.laws), str(report)


@pytest.mark.parametrize("name", MODELS)
def test_hooks_alone_do_not_change_the_logits(name: str) -> None:
    make, alpha, options, _ = MODELS[name]
    network = sharp(make(), torch.float32)
    record = hooked(network, alpha, **options).read(BATCH)
    network.eval()
    own = network(
        BATCH.tokens, BATCH.mask
    )  # with gradients, so that PyTorch does not take its fast path
    own = own[0] if isinstance(own, tuple) else own
    assert torch.equal(record.logits, own)


def test_the_logits_equal_those_of_pytorchs_fast_path_up_to_rounding() -> None:
    network = sharp(Encoder("first"), torch.float32).eval()
    record = hooked(network, "encoder").read(BATCH)
    with torch.no_grad(), pytest.warns(UserWarning, match="nested tensors"):
        fast = network(BATCH.tokens, BATCH.mask)
    assert (fast - record.logits).abs().max() < 1e-6 * record.logits.abs().max()


# Against computations of their own ---------------------------------------------------------------


def test_weights_readout_and_decode_of_a_hand_written_model() -> None:
    network = sharp(Additive()).eval()
    model = hooked(network, "weigh")
    record = model.read(BATCH)
    hidden = network.embedding(BATCH.tokens)
    torch.testing.assert_close(
        record.alpha[:, 0], network.weigh(hidden, BATCH.mask), rtol=0, atol=0
    )
    torch.testing.assert_close(
        record.readout, network.output(hidden) * BATCH.mask[..., None], rtol=0, atol=1e-12
    )
    other = random_alpha(record.mask, 5, torch.float64, count=4)
    expected = network.output((other @ hidden[:, None])[:, :, 0])
    torch.testing.assert_close(model.decode(record, other), expected, rtol=0, atol=1e-12)
    assert (expected - record.logits[:, None]).abs().amax((0, 2)).min() > 0.1


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_multihead_weights_are_those_pytorch_returns(batch_first: bool, dtype: torch.dtype) -> None:
    network = sharp(Multihead(batch_first=batch_first), dtype).eval()
    kept: list[Tensor] = []
    handle = network.attention.register_forward_hook(
        lambda module, args, options, out: kept.append(functional_weights(module, args, options)),
        with_kwargs=True,
    )
    record = hooked(network, "attention").read(BATCH)
    handle.remove()
    tolerance = 1e-6 if dtype == torch.float32 else 1e-12
    torch.testing.assert_close(record.alpha, kept[-1][:, :, 0], rtol=0, atol=tolerance)


def functional_weights(module: nn.MultiheadAttention, args: Any, options: Any) -> Tensor:
    """PyTorch's own, per head; through forward, so that no hook runs again."""
    return module.forward(
        *args, **{**options, "need_weights": True, "average_attn_weights": False}
    )[1].detach()


@pytest.mark.parametrize("reads", ["first", "mean"])
def test_decode_of_multihead_attention_equals_pytorch_with_forced_weights(
    reads: str,
) -> None:
    """PyTorch uses given weights if the scores are 0 and log alpha is the float mask."""
    network = sharp(Encoder(reads, layers=1)).eval()
    model = hooked(network, "encoder")
    record = model.read(BATCH)
    other = random_alpha(record.mask, 3, torch.float64, count=1)[:, 0]
    got = model.decode(record, other)
    examples, items = BATCH.tokens.shape
    attention = network.encoder.layers[0].self_attn
    hidden = network.embedding(BATCH.tokens)
    own = functional_weights(attention, (hidden, hidden, hidden), {"key_padding_mask": ~BATCH.mask})
    rows = other.unflatten(1, (-1, 2)).transpose(1, 2)  # (B,heads,P,N)
    weights = (
        torch.cat([rows, own[:, :, 1:]], 2)
        if reads == "first"
        else rows.where(BATCH.mask[:, None, :, None], own)
    )
    with torch.no_grad():
        attention.in_proj_weight[: 2 * SIZE] = 0
        attention.in_proj_bias[: 2 * SIZE] = 0
    forced = weights.log().clamp_min(-1e4).reshape(examples * 2, items, items)
    expected = network.output(read(network.encoder(hidden, mask=forced), BATCH.mask, reads))
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-10)
    assert (got - record.logits).abs().max() > 0.1


def test_decoding_in_parts_gives_the_same_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    model = hooked(sharp(Encoder("first")), "encoder")
    record = model.read(BATCH)
    other = random_alpha(record.mask, 1, torch.float64, count=5)
    together = model.decode(record, other)
    monkeypatch.setattr("attnaudit.core.memory_budget.TOKENS_AT_ONCE", 4 * BATCH.tokens.shape[1])
    torch.testing.assert_close(model.decode(record, other), together, rtol=0, atol=1e-12)
    assert (together[:, 0] - together[:, 1]).abs().max() > 0.01


# Sites -------------------------------------------------------------------------------------------


def test_rows_are_ordered_by_position_and_then_by_head() -> None:
    network = sharp(Attends(2, "mean")).eval()
    record = hooked(network, "weigh").read(BATCH)
    kept: list[Tensor] = []
    handle = network.weigh.register_forward_hook(lambda _, __, out: kept.append(out))
    network(BATCH.tokens, BATCH.mask)
    handle.remove()
    torch.testing.assert_close(record.alpha[2, 2 * 3 + 1], kept[0][2, 1, 3], rtol=0, atol=0)
    empty = ~record.mask.any(-1)
    assert torch.equal(empty, ~BATCH.mask.repeat_interleave(2, 1))
    assert (record.alpha[empty] == 0).all()


def test_the_causal_mask_is_the_mask_of_the_rows() -> None:
    record = hooked(sharp(Encoder("mean", causal=True, layers=1)), "encoder", heads=0).read(BATCH)
    items = BATCH.tokens.shape[1]
    seen = (
        torch.ones(items, items, dtype=torch.bool).tril()
        & BATCH.mask[:, None]
        & BATCH.mask[:, :, None]
    )
    assert torch.equal(record.mask, seen)


def test_a_class_token_is_attended_but_is_not_content() -> None:
    record = hooked(sharp(ClassToken()), "attention", num_prefix_tokens=1).read(BATCH)
    assert record.mask[:, :, 0].all()
    assert not record.content[:, 0].any()
    assert torch.equal(record.content[:, 1:], BATCH.mask)
    assert record.item_of_token[0, :3].tolist() == [1, 2, 3]
    assert torch.equal(record.item_of_token < 0, ~BATCH.mask)


@pytest.mark.parametrize(
    "query",
    [0, "first", lambda batch: torch.zeros(len(batch), dtype=torch.int64)],
    ids=["number", "name", "function"],
)
def test_a_named_position_equals_the_one_found(query: Any) -> None:
    network = sharp(Encoder("first"))
    found, named = (
        hooked(network, "encoder").read(BATCH),
        hooked(network, "encoder", query=query).read(BATCH),
    )
    assert torch.equal(found.alpha, named.alpha)
    assert not torch.equal(
        found.alpha, hooked(network, "encoder.layers.0", query=3).read(BATCH).alpha
    )


def test_last_counts_in_the_text_not_in_the_batch() -> None:
    network = sharp(Encoder("last"))
    by_name, found = (hooked(network, "encoder", query=query).read(BATCH) for query in (-1, "auto"))
    assert torch.equal(by_name.alpha, found.alpha)


def test_a_batch_of_one_word_texts_does_not_determine_the_position() -> None:
    model = hooked(sharp(Encoder("last")), "encoder")
    short = Batch(("a", "b"), torch.tensor([[7], [9]]), torch.ones(2, 1, dtype=torch.bool))
    assert model.read(short).alpha.shape == (2, 2, 1)
    whole = model.read(BATCH)
    assert torch.equal(
        whole.alpha, hooked(model.inner.model, "encoder", query="last").read(BATCH).alpha
    )


def test_items_that_the_model_masks_itself_are_not_content() -> None:
    def inner(batch: Batch) -> Tensor:
        return batch.mask & (batch.tokens > 3)

    network = sharp(Additive())
    model = hooked(
        network,
        "weigh",
        mask=inner,
        call=lambda network, batch: network(batch.tokens, inner(batch)),
    )
    record = model.read(BATCH)
    assert torch.equal(record.content, inner(BATCH))
    assert check_model(model, BATCH).kept
    assert not check_model(hooked(network, "weigh", mask=inner), BATCH).kept


# Readouts ----------------------------------------------------------------------------------------


def test_exact_audits_apply_where_the_output_is_linear_in_one_head() -> None:
    one, both = (hooked(sharp(Multihead()), "attention", heads=heads) for heads in (0, "all"))
    results = attnaudit.audit(
        one, BATCH, audits=["furthest"], measures=["leave_one_out", "gradient"], show_progress=False
    )
    mean = results.summary().set_index(["audit", "metric"])["mean"]
    assert mean["furthest", "exact"] == 1.0
    assert 0.0 < mean["furthest", "jsd"] == mean["furthest", "upper"] < mean["furthest", "jsd_any"]
    assert mean["furthest", "tvd"] < 0.0101
    assert results.about["has_readout"]
    assert len(results.card().answers) == 5
    held = attnaudit.audit(
        both, BATCH, audits=["permutation"], measures=["attention"], show_progress=False
    )
    assert not held.about["has_readout"]
    assert held.summary().set_index("metric")["mean"]["tvd_median"] > 0.01


def test_the_audit_is_the_same_with_and_without_the_readout() -> None:
    tables = []
    for readout in ("auto", "none"):
        model = hooked(sharp(Multihead()), "attention", heads=0, readout=readout)
        values = attnaudit.audit(
            model,
            BATCH,
            audits=["permutation", "uniform_attention", "top_item"],
            measures=["attention"],
            show_progress=False,
        ).frame()
        values = values[values["metric"] != "tvd_reach"]  # which takes a readout
        tables.append(values["value"].to_numpy())
    assert len(tables[0]) > 20
    torch.testing.assert_close(
        torch.tensor(tables[0]), torch.tensor(tables[1]), rtol=0, atol=1e-9, equal_nan=True
    )


def test_about_and_vocabulary_size_are_available_through_the_readout() -> None:
    model = hooked(sharp(Encoder("first")), "encoder", heads=[1, 0])
    assert model.about == {
        "model": "Encoder",
        "alpha": "encoder.layers.1.self_attn",
        "embedding": "embedding",
        "query": "auto",
        "heads": [1, 0],
    }
    assert model.vocabulary_size == WORDS
    assert not hasattr(model, "spell")


# Rejected in words --------------------------------------------------------------------------------


class Ignored(nn.Module):
    """Computes with one attention and returns another for inspection."""

    def __init__(self) -> None:
        super().__init__()
        self.score = nn.Linear(SIZE, 1)

    def forward(self, hidden: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        query = self.score(hidden).expand_as(hidden)
        out = functional.scaled_dot_product_attention(
            query, hidden, hidden, attn_mask=mask[:, None]
        )
        return out[:, 0], self.score(hidden)[..., 0].masked_fill(~mask, -torch.inf).softmax(-1)


class Wrapping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(SIZE, 2, batch_first=True)

    def forward(self, hidden: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        out, weights = self.attention(hidden, hidden, hidden, key_padding_mask=~mask)
        return out[:, 0], weights


class Twice(Additive):
    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return super().forward(tokens, mask) + super().forward(tokens, mask)


class Answers(Additive):
    def __init__(self, form: Callable[[Tensor], Any]) -> None:
        super().__init__()
        self.answer = form

    def forward(self, tokens: Tensor, mask: Tensor) -> Any:
        return self.answer(super().forward(tokens, mask))


REFUSED: dict[str, tuple[Callable[[], nn.Module], dict[str, Any], str]] = {
    "weights for looking": (
        lambda: Inside(Ignored()),
        {"alpha": "attend"},
        "that 'attend' returns does not change the logits: they are for inspection only"
        ".*computes by a softmax inside does not change",
    ),
    "a multihead inside": (
        lambda: Inside(Wrapping()),
        {"alpha": "attend"},
        "It holds an nn.MultiheadAttention: point alpha= at 'attend.attention'",
    ),
    "used before as well": (
        lambda: Additive(
            lambda w: (w, w.cumsum(-1)),
            lambda out: out[0] + out[1] / out[1].sum(-1, keepdim=True),
            by_hand=True,
        ),
        {"alpha": "weigh"},
        "together with something it has already computed from them, and the logits depend on that",
    ),
    "times 0": (
        lambda: Additive(back=lambda w: w * 0 + 0.1, by_hand=True),
        {"alpha": "weigh"},
        "that 'weigh' returns does not change the logits",
    ),
    "no shape fits": (
        lambda: Inside(Pool(lambda w: w * 1)),
        {"alpha": "attend", "num_prefix_tokens": 1},
        r"a tuple of a tensor of shape \(6, 8\), a tensor of shape \(6, 12\). "
        "Expected attention weights over the 13 items.*num_prefix_tokens=",
    ),
    "detached": (
        lambda: Additive(back=lambda w: w.detach()),
        {"alpha": "weigh"},
        "or the graph is cut after them",
    ),
    "scores": (
        lambda: Additive(),
        {"alpha": "weigh.score"},
        r"The module 'weigh.score' returns a tensor of shape \(6, 12, 1\).*ran 0 times",
    ),
    "several in the tuple": (
        lambda: Additive(lambda w: (w, w), lambda out: out[1], by_hand=True),
        {"alpha": "weigh"},
        "choose it with output_index=",
    ),
    "twice": (
        Twice,
        {"alpha": "weigh"},
        "the module 'weigh' to run once in a forward pass; it ran 2 times",
    ),
    "no such module": (
        Additive,
        {"alpha": "wiegh"},
        "has no module 'wiegh' .alpha=.. Its modules: embedding, dropout, weigh, weigh.score",
    ),
    "no such embedding": (
        Additive,
        {"alpha": "weigh", "embedding": "words"},
        "has no module 'words' .embedding=.",
    ),
    "not an embedding": (
        Additive,
        {"alpha": "weigh", "embedding": "output"},
        "'output' returned no embeddings of shape .B,T,E. with B = 6, T = 12",
    ),
    "no such head": (
        Multihead,
        {"alpha": "attention", "heads": 2},
        "There is no head 2: 'attention' has 2",
    ),
    "heads twice": (
        Multihead,
        {"alpha": "attention", "heads": [1, 1]},
        "heads must be .all., a number or different numbers",
    ),
    "no such query": (
        Multihead,
        {"alpha": "attention", "query": "middle"},
        "There is no query position 'middle'. Choose from: auto, first, last, all",
    ),
    "wrong query": (
        lambda: Encoder("first"),
        {"alpha": "encoder", "query": 2},
        "do not depend on the attention at query=2, but on that at position 0",
    ),
    "query outside": (
        lambda: Encoder("first"),
        {"alpha": "encoder", "query": lambda batch: batch.mask.sum(-1) + 9},
        "query= must return one position from 0 to 11",
    ),
    "wrong mask": (
        Additive,
        {"alpha": "weigh", "mask": lambda batch: batch.mask[:, 1:]},
        "mask= must return a bool tensor of shape .B,N. = .6, 12.",
    ),
    "no such readout": (
        Additive,
        {"alpha": "weigh", "readout": "yes"},
        "readout must be .auto. or .none., got 'yes'",
    ),
    "negative prefix": (
        Additive,
        {"alpha": "weigh", "num_prefix_tokens": -1},
        "num_prefix_tokens must be 0 or more, got -1",
    ),
    "regression": (
        lambda: Answers(lambda out: out[:, 0]),
        {"alpha": "weigh"},
        "one number per example: a regression.*torch.stack",
    ),
    "token classes": (
        lambda: Answers(lambda out: out[:, None]),
        {"alpha": "weigh"},
        r"returns a tensor of shape \(6, 1, 2\). Expected logits",
    ),
    "other arguments": (
        lambda: nn.Sequential(nn.Embedding(9, 9)),
        {"alpha": "0", "embedding": "0"},
        "Sequential cannot be called as model.batch.tokens, batch.mask.*call=lambda",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_uses_are_rejected_with_a_reason(name: str) -> None:
    make, options, text = REFUSED[name]
    network = sharp(make())
    before = state_of(network)
    with pytest.raises(InputError) as caught:
        from_hooks(network, **{"embedding": "embedding", **options}).read(BATCH)
    assert re.search(text, str(caught.value), re.DOTALL), str(caught.value)
    assert state_of(network) == before


def test_output_index_chooses_the_element_of_the_tuple() -> None:
    network = sharp(Additive(lambda w: (w.flip(-1), w), lambda out: out[1], by_hand=True))
    assert check_model(hooked(network, "weigh", output_index=1), BATCH).kept
    # Even if a softmax inside would do: it is not what output_index names.
    network.weigh.by_hand = False
    with pytest.raises(InputError, match="does not change the logits"):
        hooked(network, "weigh", output_index=0).read(BATCH)


def test_unused_outputs_computed_from_the_weights_are_accepted() -> None:
    network = sharp(Additive(lambda w: (w, w.square().sum(-1)), lambda out: out[0], by_hand=True))
    assert check_model(hooked(network, "weigh"), BATCH).kept


@pytest.mark.parametrize("options", [{"add_bias_kv": True}, {"add_zero_attn": True}])
def test_multihead_attention_to_something_that_is_not_an_item_is_rejected(
    options: dict[str, bool],
) -> None:
    network = Multihead()
    network.attention = nn.MultiheadAttention(SIZE, 2, batch_first=True, **options)
    with pytest.raises(InputError, match="attends to something that is not an item"):
        hooked(sharp(network), "attention").read(BATCH)


def test_the_custom_model_template_keeps_the_laws() -> None:
    with pytest.raises(InputError) as caught:
        hooked(sharp(Inside(Ignored())), "attend").read(BATCH)
    shown = str(caught.value).split("\n\n", 1)[1]
    assert shown == CUSTOM_MODEL_TEMPLATE
    assert len([line for line in shown.splitlines() if line.strip()]) <= 16
    names: dict[str, Any] = {"torch": torch, "attnaudit": attnaudit}
    exec(shown, names)
    weigh = Weigh(lambda weights: weights)
    model = names["Mine"](nn.Embedding(WORDS, SIZE), Encode(), weigh, nn.Linear(SIZE, CLASSES))
    report = check_model(sharp(model), BATCH)
    assert [law.verdict for law in report.laws] == ["kept"] * len(report.laws), str(report)
    found = with_readout(model).read(BATCH).readout
    assert found is not None


class Encode(nn.Module):
    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        return words.tanh() * mask[..., None]


# Laws that a user's model breaks -----------------------------------------------------------------


class PoolsPadding(Encoder):
    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        return self.output(self.encoder(self.embedding(tokens), src_key_padding_mask=~mask).mean(1))


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (lambda: PoolsPadding("mean", layers=1), "5 padding and batch independence of logits"),
        (lambda: Encoder("first", padded=False, layers=1), "2 simplex"),
    ],
)
def test_the_law_report_names_the_broken_law_and_the_likely_cause(
    make: Callable[[], nn.Module], law: str
) -> None:
    report = check_model(hooked(sharp(make()), "encoder"), BATCH)
    lines = str(report).splitlines()
    (at,) = [at for at, line in enumerate(lines) if line.startswith(f"broken       {law}")]
    cause = {
        "5": "the padding mask does not reach the encoder or the attention",
        "2": "padding is attended",
    }
    assert f"likely cause: {cause[law[0]]}" in lines[at + 1]
    assert "Some laws are broken" in report.sentence


def test_the_check_command_on_hooked_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_hooked.py").write_text(
        "import attnaudit, torch\n"
        "from torch import nn\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        torch.manual_seed(0)\n"
        "        self.words, self.score = nn.Embedding(9, 4), nn.Linear(4, 1)\n"
        "        self.weigh, self.out = nn.Softmax(-1), nn.Linear(4, 2)\n"
        "    def forward(self, tokens, mask):\n"
        "        x = self.words(tokens)\n"
        "        a = self.weigh(self.score(x)[..., 0].masked_fill(~mask, -1e9))\n"
        "        return self.out((a[:, None] @ x)[:, 0])\n"
        "net = Net()\n"
        "model = attnaudit.from_hooks(net, alpha='weigh', embedding='words')\n"
        "tokens = torch.tensor([[4, 8], [77, 0]])\n"
        "batch = attnaudit.Batch(('a', 'b'), tokens, tokens > 0)\n"
        "def unknown_word():\n"
        "    return model, batch\n"
    )
    with torch.random.fork_rng(devices=[]):
        kept = CliRunner().invoke(app, ["check", "my_hooked:model"])
    assert kept.exit_code == 0, kept.output
    assert "kept         7 readout" in kept.output
    assert "All laws are kept." in kept.output
    unread = CliRunner().invoke(app, ["check", "my_hooked:unknown_word"])
    assert unread.exit_code == 1
    assert "broken       0 reading" in unread.output
    assert "the model raised IndexError" in unread.output
    with pytest.raises(InputError, match="is a torch module without read and decode"):
        CliRunner().invoke(app, ["check", "my_hooked:net"], catch_exceptions=False)


# As found ----------------------------------------------------------------------------------------


def state_of(network: nn.Module) -> list[Any]:
    kept: list[Any] = [torch.backends.mha.get_fastpath_enabled()]
    for module in network.modules():
        hooks = (
            module._forward_hooks,
            module._forward_pre_hooks,
            module._forward_hooks_with_kwargs,
        )
        kept.append((module.training, [len(each) for each in hooks], "forward" in module.__dict__))
        kept += [
            (p.requires_grad, p.grad is None, p._version) for p in module.parameters(recurse=False)
        ]
    return kept


class Fails(Exception):
    pass


@pytest.mark.parametrize(
    ("make", "alpha"),
    [
        (Additive, "weigh"),
        (lambda: Inside(Pool()), "attend"),
        (lambda: Encoder("first"), "encoder"),
    ],
    ids=["returned", "inside", "multihead"],
)
def test_the_model_is_unchanged_even_after_an_exception(
    make: Callable[[], nn.Module], alpha: str
) -> None:
    network = sharp(make())
    network.embedding.eval()  # a mode that differs from the whole
    model, before = hooked(network, alpha), state_of(network)
    record = model.read(BATCH)
    model.decode(record, record.alpha)
    attnaudit.audit(
        model, BATCH, audits=["permutation"], measures=["gradient"], show_progress=False
    )
    assert state_of(network) == before

    during: list[Any] = []

    def fail(*_: Any) -> None:
        during.append(state_of(network))
        raise Fails

    handle = network.output.register_forward_pre_hook(fail)
    before = state_of(network)
    with pytest.raises(Fails):
        model.read(BATCH)
    with pytest.raises(Fails):
        model.decode(record, record.alpha)
    with pytest.raises(Fails):
        hooked(network, alpha).read(BATCH)
    assert state_of(network) == before
    assert all(state != before for state in during), (
        "the pass changed nothing that could have been left behind"
    )
    handle.remove()
    with pytest.raises(RuntimeError):
        model.decode(record, record.alpha[..., :-1])
    with pytest.raises(IndexError):
        model.read(Batch(("a",), torch.tensor([[WORDS]]), torch.ones(1, 1, dtype=torch.bool)))
    handle = network.output.register_forward_pre_hook(lambda *_: None)
    assert state_of(network) == before


def test_a_nondeterministic_model_is_rejected() -> None:
    class Noisy(Additive):
        calls = 0

        def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
            self.calls += 1
            return super().forward(tokens, mask) * (1 + 1e-3 * math.sqrt(self.calls))

    with pytest.raises(
        InputError, match="Putting the weights of 'weigh' back unchanged changes the logits by"
    ):
        hooked(sharp(Noisy()), "weigh").read(BATCH)


class ReadsThird(nn.Module):
    """A causal mask of `hidden` above the diagonal; the head reads position 2."""

    def __init__(self, hidden: float) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(20, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.output = nn.Linear(8, 2)
        self.hidden = hidden

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        x = self.embedding(tokens)
        later = torch.full((tokens.shape[1],) * 2, self.hidden).triu(1)
        return self.output(self.attention(x, x, x, attn_mask=later)[0][:, 2])


def test_a_large_negative_number_in_a_mask_hides_like_minus_infinity() -> None:
    tokens = torch.randint(1, 20, (4, 6), generator=torch.Generator().manual_seed(1))
    batch = Batch(tuple("abcd"), tokens, torch.ones_like(tokens, dtype=torch.bool))
    records = []
    for hidden in (-math.inf, -1e9):
        model = from_hooks(
            ReadsThird(hidden).eval(), alpha="attention", embedding="embedding", query=2
        )
        with torch.no_grad():
            records.append(model.read(batch))
    assert records[0].mask.sum(-1).unique().tolist() == [3]
    assert torch.equal(records[0].mask, records[1].mask)


def test_the_former_names_of_keywords_still_work_and_warn() -> None:
    with pytest.warns(DeprecationWarning, match="before= of from_hooks is now called num_prefix"):
        model = hooked(sharp(ClassToken()), "attention", before=1)
    assert model.inner.options.num_prefix_tokens == 1
    with pytest.warns(DeprecationWarning, match="member= of from_hooks is now called output_index"):
        model = hooked(sharp(Additive()), "weigh", member=0)
    assert model.inner.options.output_index == 0
    with pytest.raises(TypeError, match="both 'output_index' and its former name 'member'"):
        hooked(sharp(Additive()), "weigh", member=1, output_index=0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'layers'"):
        hooked(sharp(Additive()), "weigh", layers=0)
