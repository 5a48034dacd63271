"""Incremental deletion against reading again: every encoder, any length, float32 and float64."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from attnaudit.core import registry
from attnaudit.core.contract import Batch
from attnaudit.core.item_deletion import leave_out, leave_out_by_reading
from attnaudit.core.special_tokens import START
from attnaudit.models import Architecture, build, incremental_deletion
from attnaudit.models.encoders import ENCODERS
from attnaudit.models.projections import PROJECTIONS
from attnaudit.models.scorers import SCORERS
from deleted_texts import LENGTHS, TOLERANCE, WORDS, assert_same, made, read, texts

SHARING = (
    "bilstm:hidden=5",
    "bigru:hidden=7",
    "cnn:filters=4",
    "cnn:kernels=1-3-15,filters=3",
    "cnn:kernels=1,filters=5",
    "mlp:hidden=6,layers=2",
    "average:hidden=6",
    "none",
)
# Every scorer and every projection, with and without a query, under both kinds of output.
AROUND = (
    ("additive", "softmax", False, "linear"),
    ("additive", "entmax:alpha=1.3", True, "tanh"),
    ("additive", "softmax", True, "linear_query"),
    ("dot", "sparsemax", False, "linear_query"),
    ("dot", "entmax", True, "linear"),
    ("bilinear", "sparsegen:lam=0.5", False, "tanh"),
    ("bilinear", "softmax", False, "linear"),
    ("bilinear", "softmax", True, "linear_query"),
    ("deep", "gumbel_softmax", False, "linear"),
    ("deep", "uniform", True, "tanh"),
    ("deep", "sparsemax", True, "linear_query"),
    ("last", "softmax", False, "linear"),
)


def test_every_part_is_covered_in_this_file() -> None:
    named = {choice.split(":")[0] for choice in SHARING}
    assert {*named, "transformer"} == set(ENCODERS)
    assert {scorer for scorer, *_ in AROUND} == set(SCORERS)
    assert {projection.split(":")[0] for _, projection, *_ in AROUND} == set(PROJECTIONS)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("encoder", SHARING)
@torch.no_grad()
def test_leaving_out_equals_reading_again(encoder: str, dtype: torch.dtype) -> None:
    for scorer, projection, with_query, output in AROUND:
        model = made(
            encoder,
            dtype,
            with_query=with_query,
            scorer=scorer,
            projection=projection,
            output=output,
        )
        record = read(model, texts(with_query))
        plain = leave_out_by_reading(model, record)
        assert_same(leave_out(model, record), plain, (scorer, projection, with_query, output))
        answered = ~plain.isnan()
        assert answered[..., 0].sum() == sum(length for length in LENGTHS if length > 1)
        assert (
            (plain - record.logits[:, None])[answered].abs() > 1e-3
        ).any()  # or nothing was left out


@pytest.mark.parametrize("encoder", SHARING)
@torch.no_grad()
def test_leaving_out_equals_reading_again_at_every_length(encoder: str) -> None:
    model = made(encoder)
    for length in range(1, 41):
        record = read(model, texts(False, (length,)))
        assert_same(leave_out(model, record), leave_out_by_reading(model, record), length)


@torch.no_grad()
def test_an_empty_batch_has_nothing_to_leave_out() -> None:
    model = made("cnn")
    empty = Batch((), torch.zeros(0, 3, dtype=torch.int64), torch.zeros(0, 3, dtype=torch.bool))
    assert leave_out(model, read(model, empty)).shape == (0, 3, 3)


@pytest.mark.parametrize("encoder", SHARING)
@torch.no_grad()
def test_states_after_a_deletion_are_those_of_the_shorter_text(encoder: str) -> None:
    """The changed states of the encoder alone, against encoding the shorter text."""
    part = made(encoder).encoder
    lengths, width = torch.tensor([9, 4, 1, 6]), 9
    mask = torch.arange(width) < lengths[:, None]
    vectors = torch.randn(
        4, width, 6, generator=torch.Generator().manual_seed(3), dtype=torch.float64
    )
    hidden = part(vectors, mask)
    for start, stop in ((0, 9), (0, 1), (3, 5), (8, 9)):
        where, changed = part.deletions(vectors, mask, hidden)(start, stop)
        assert changed.shape == (stop - start, 4, where.shape[1], part.size)
        for deletion, example in product(range(stop - start), range(4)):
            length, place = int(lengths[example]), start + deletion
            if place >= length or length == 1:
                continue
            states = torch.cat([hidden[example], torch.zeros(1, part.size, dtype=torch.float64)])
            states[where[deletion]] = changed[deletion, example]
            kept = [item for item in range(length) if item != place]
            shorter = part(vectors[example, kept][None], mask[example, kept][None])[0]
            torch.testing.assert_close(states[kept], shorter, atol=1e-12, rtol=0)


def test_only_states_near_the_deleted_item_are_recomputed() -> None:
    mask = torch.ones(1, 9, dtype=torch.bool)
    for choice, expected in (("cnn:kernels=1-5", [2, 3, 5, 6]), ("cnn:kernels=1", []), ("mlp", [])):
        encoder = registry.find(ENCODERS, choice, "encoder")(6).eval()
        with torch.no_grad():
            vectors = torch.randn(1, 9, 6)
            where = encoder.deletions(vectors, mask, encoder(vectors, mask))(4, 5).where
        assert where.tolist() == [expected], choice


@pytest.mark.parametrize("encoder", SHARING)
def test_nothing_is_read_again(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = made(encoder)
    record = read(model, texts(False))

    def fail(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(type(model.encoder), "forward", fail)
    assert not model.leave_out(record).requires_grad


@torch.no_grad()
def test_a_transformer_reads_again_because_positions_shift() -> None:
    model = made("transformer:hidden=6")
    record = read(model, texts(False))
    assert torch.equal(
        leave_out(model, record).nan_to_num(), leave_out_by_reading(model, record).nan_to_num()
    )


@torch.no_grad()
def test_an_lstm_reads_again_for_few_deletions() -> None:
    model = build(
        Architecture(encoder="bilstm:hidden=64", embedding=6),
        words=WORDS,
        classes=2,
        with_query=False,
    )
    many, few = (
        texts(False, (100, 100, 56)),
        texts(False, (100, 100, 55)),
    )  # 2^15 / 128 = 256 deletions
    shared = [
        incremental_deletion.can_share(model.encoder, read(model, batch).content)
        for batch in (many, few)
    ]
    assert shared == [True, False]
    record = read(model, few)
    assert torch.equal(
        leave_out(model, record).nan_to_num(), leave_out_by_reading(model, record).nan_to_num()
    )
    always = build(
        Architecture(encoder="bigru", embedding=6), words=WORDS, classes=2, with_query=False
    )
    assert incremental_deletion.can_share(always.encoder, read(always, texts(False, (2,))).content)


@pytest.mark.parametrize("encoder", ["bilstm:hidden=5", "cnn:filters=4", "none"])
@pytest.mark.parametrize(("deleted", "shared"), [(1, 1), (100, 50), (300, 1000)])
@torch.no_grad()
def test_memory_is_bounded_and_the_result_does_not_depend_on_the_bound(
    encoder: str, deleted: int, shared: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made(encoder, with_query=True, output="tanh")  # see also test_passing_deletion
    record = read(model, texts(True))
    plain = leave_out_by_reading(model, record)
    monkeypatch.setattr(incremental_deletion, "_DELETED_AT_ONCE", deleted)
    monkeypatch.setattr(incremental_deletion, "_SHARED_AT_ONCE", shared)
    seen: list[tuple[int, int, int]] = []
    deletions = type(model.encoder).deletions

    def watched(self: nn.Module, vectors: Tensor, mask: Tensor, hidden: Tensor):
        changed = deletions(self, vectors, mask, hidden)

        def counted(start: int, stop: int):
            seen.append((stop - start, *mask.shape))
            return changed(start, stop)

        return counted

    monkeypatch.setattr(type(model.encoder), "deletions", watched)
    assert_same(leave_out(model, record), plain)
    assert len(seen) > 1
    for count, examples, items in seen:
        assert examples * items <= max(shared, items)
        assert count * examples * items <= max(deleted, examples * items)


def test_groups_hold_every_text_once_and_have_similar_lengths() -> None:
    lengths = torch.randint(0, 400, (200,), generator=torch.Generator().manual_seed(4))
    groups = list(incremental_deletion.groups_by_length(lengths))
    assert sorted(torch.cat([rows for rows, _ in groups]).tolist()) == list(range(200))
    for rows, width in groups:
        assert width == max(int(lengths[rows].max()), 1)
        assert width <= 1.25 * lengths[rows].clamp_min(1).min() + 1e-6
    assert len(list(incremental_deletion.groups_by_length(torch.arange(17, 21)))) == 1


@pytest.mark.parametrize("encoder", SHARING)
@torch.no_grad()
def test_equal_neighbours_are_left_out_with_exactly_equal_effect(encoder: str) -> None:
    """Either way the same text is left. In float32, where rounding would rank them."""
    model = made(encoder, torch.float32)
    batch = texts(False, (30, 24, 3))
    tokens = batch.tokens.clone()
    tokens[:, 2] = tokens[:, 1]
    tokens[:2, [10, 11, 12]] = tokens[:2, [13]]
    # A mark with the vector of the word next to it is still no word.
    model.embedding.weight[START] = model.embedding.weight[tokens[0, 1]]
    record = read(model, replace(batch, tokens=tokens))
    found = leave_out(model, record)
    assert torch.equal(found[:, 1], found[:, 2])
    assert all(torch.equal(found[:2, 10], found[:2, at]) for at in (11, 12, 13))
    assert not torch.equal(found[:, 2], found[:, 3])
    assert_same(found, leave_out_by_reading(model, record))


@pytest.mark.parametrize("encoder", ["bilstm:hidden=5", "cnn:filters=4", "none"])
@torch.no_grad()
def test_neighbours_that_differ_in_one_number_are_different_words(encoder: str) -> None:
    """In any of the numbers of their vectors, not only in the first few."""
    model = made(encoder)
    batch = texts(False, (30, 24, 3))
    size = model.embedding.weight.shape[1]
    tokens = batch.tokens.clone()
    tokens[:2, 4 : 4 + size] = torch.arange(WORDS - size, WORDS)
    model.embedding.weight[WORDS - size :] = model.embedding.weight[-1] + 2 * torch.eye(size)
    record = read(model, replace(batch, tokens=tokens))
    found = leave_out(model, record)
    assert all(not torch.equal(found[:, at], found[:, at + 1]) for at in range(4, 3 + size))
    assert_same(found, leave_out_by_reading(model, record))


# Sentences ---------------------------------------------------------------------------------------


def in_sentences(with_query: bool) -> Batch:
    """Sentences of one to four words; the texts hold from none to some twenty of them."""
    batch = texts(with_query)
    place = torch.arange(batch.tokens.shape[1])
    return replace(
        batch, segments=((place * 2 + place // 7) // 5).expand_as(batch.tokens) * batch.mask
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("encoder", SHARING)
@torch.no_grad()
def test_leaving_out_sentences_equals_reading_again(
    encoder: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    for scorer, projection, with_query, output in AROUND[:4]:
        model = made(
            encoder,
            dtype,
            with_query=with_query,
            model="hierarchical",
            scorer=scorer,
            projection=projection,
            output=output,
        )
        record = read(model, in_sentences(with_query))
        plain = leave_out_by_reading(model, record)
        with monkeypatch.context() as patch:
            patch.setattr(type(model), "read", None)
            found = leave_out(model, record)
        assert_same(found, plain, (scorer, projection, with_query, output))
        assert ((plain - record.logits[:, None]).nan_to_num().abs() > 1e-3).any()


@pytest.mark.parametrize("encoder", ["bigru:hidden=4", "transformer:hidden=6"])
@torch.no_grad()
def test_words_of_sentences_are_left_out_by_reading_again(encoder: str) -> None:
    model = made(encoder, model="hierarchical:site=word")
    record = read(model, in_sentences(False))
    assert torch.equal(
        leave_out(model, record).nan_to_num(), leave_out_by_reading(model, record).nan_to_num()
    )


@pytest.mark.parametrize("encoder", SHARING)
@torch.no_grad()
def test_leaving_out_some_is_leaving_out_each_of_them(encoder: str) -> None:
    model, batch = made(encoder), texts(False)
    batch.tokens[0, 4:8] = batch.tokens[0, 3]  # deleting either of equal neighbours is the same
    record = read(model, batch)
    each = leave_out(model, record)
    draw = torch.Generator().manual_seed(4)
    for share in (0.0, 0.1, 0.5, 1.0):
        wanted = torch.rand(record.content.shape, generator=draw) < share
        wanted[0, 5:7] = share > 0
        some = model.leave_out_some(record, wanted)
        assert_same(some, each.masked_fill(~wanted[..., None], torch.nan), share)


@torch.no_grad()
def test_some_are_read_again_where_that_is_faster() -> None:
    model = made("bilstm:hidden=5")
    record = read(model, texts(False))
    model.encoder.fewest_deletions = 3
    wanted = torch.zeros_like(record.content)
    wanted[0, 1:3] = True
    assert model.leave_out_some(record, wanted) is None
    wanted[0, 3] = True
    assert model.leave_out_some(record, wanted) is not None
