"""Attention under noise on the embeddings: draw by draw, in NumPy, and where it is undefined."""

from __future__ import annotations

import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from torch import Tensor

from attnaudit import audit
from attnaudit.audits.noise_stability import noise_stability
from attnaudit.core import randomness
from attnaudit.core.contract import Batch, Record
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.models import from_huggingface
from audit_cases import same, split_batch
from tiny_transformers import TEXTS, tiny
from word_attention import SIZE, WordAttention, shown_weights, texts

LENGTHS = (9, 4, 1, 2, 12, 7, 3, 6)
SIZES = {"5": 0.05, "60": 0.6}


def noisy_record(model: Any, batch: Batch, index: int, draw: int, size: float) -> Record:
    """One text alone, with the noise of one draw."""
    length = int(batch.mask[index].sum())
    alone = batch.rows(torch.tensor([index])).without(torch.zeros_like(batch.mask[:1]))
    embeddings = model.read(alone).embeddings
    scale = np.sqrt(np.mean(np.square(embeddings.numpy())))
    key = randomness.keys(3, f"noise_stability/{draw}", [batch.example_id[index]])
    noise = randomness.normal(key, length * SIZE).view(1, length, SIZE)
    return model.read(alone, embeddings + size * scale * noise)


def top(weights: np.ndarray, k: int) -> set[int]:
    return set(np.argsort(-weights)[:k].tolist())


def test_values_equal_those_of_each_draw_in_numpy() -> None:
    model, batch = WordAttention(), texts(LENGTHS)
    record = model.read(batch)
    values = noise_stability(model, record, {}, 3, sizes="+".join(SIZES), draws=4)
    some_changed = False
    for index, length in enumerate(LENGTHS):
        own = shown_weights(record, index)
        k = min(3, length - 1)
        largest = max(jensenshannon(own, one) ** 2 for one in np.eye(length))
        for name, size in SIZES.items():
            overlaps, weights, shares, kept = [], [], [], []
            for draw in range(4):
                noisy = noisy_record(model, batch, index, draw, size)
                kept.append(int(noisy.predicted[0]) == int(record.predicted[index]))
                if kept[-1] and length > 1:
                    other = shown_weights(noisy, 0)
                    overlaps.append(len(top(own, k) & top(other, k)) / k)
                    weights.append(own[list(top(other, k))].sum() / own[list(top(own, k))].sum())
                    shares.append(jensenshannon(own, other) ** 2 / largest)
            same(values["", f"same_decision_{name}"][index], np.mean(kept))
            some_changed = some_changed or not all(kept)
            of_draws = {
                "top_k_overlap": overlaps,
                "top_weight_kept": weights,
                "jsd_share": shares,
            }
            for metric, expected in of_draws.items():
                value = values["", f"{metric}_{name}"][index]
                same(value, np.mean(expected) if expected else np.nan, 1e-9)
            by_chance = values["random", f"top_k_overlap_{name}"][index]
            same(by_chance, k / length if overlaps else np.nan)
            floor = k / length / own[list(top(own, k))].sum() if overlaps else np.nan
            same(values["random", f"top_weight_kept_{name}"][index], floor, 1e-9)
    assert some_changed
    assert values["", "top_k_overlap_60"].nanmean() < values["", "top_k_overlap_5"].nanmean()
    for metric in ("top_k_overlap", "top_weight_kept", "jsd_share", "same_decision"):
        same(values["", metric], values["", f"{metric}_5"])


@pytest.mark.parametrize(("k", "length"), [(3, 7), (2, 3)])
def test_the_floor_is_the_mean_overlap_of_random_lists(k: int, length: int) -> None:
    own = set(range(k))
    lists = list(combinations(range(length), k))
    model = WordAttention()
    values = noise_stability(model, model.read(texts((length,))), {}, 0, sizes="1")
    by_chance = np.mean([len(own & set(each)) / k for each in lists])
    same(values["random", "top_k_overlap_1"], [by_chance])


def test_noise_has_the_size_asked_for_and_leaves_padding_alone() -> None:
    model, given = WordAttention(), []

    class Watched(WordAttention):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            if embeddings is not None:
                given.append(embeddings)
            return super().read(batch, embeddings)

    batch = texts((400, 100))
    record = model.read(batch)
    noise_stability(Watched(), record, {}, 0, sizes="10", draws=2)
    assert len(given) == 2
    assert not torch.equal(given[0], given[1])
    for noisy in given:
        added = (noisy - record.embeddings)[batch.mask]
        assert (noisy - record.embeddings)[~batch.mask].abs().max() == 0
        for index in range(2):
            own = record.embeddings[index][batch.mask[index]]
            of_text = (noisy - record.embeddings)[index][batch.mask[index]]
            expected = 0.1 * float(own.square().mean().sqrt())
            assert float(of_text.std()) == pytest.approx(expected, rel=0.1)
        assert added.abs().max() > 0


def test_values_do_not_depend_on_the_batches() -> None:
    model, batch = WordAttention(), texts(LENGTHS)
    order = list(range(len(LENGTHS)))
    found = [
        audit(
            model,
            split_batch(batch, some, size),
            audits=["noise_stability", "position"],
            measures=[],
            show_progress=False,
        )
        .frame()
        .set_index(["audit", "measure", "metric", "row", "example_id"])["value"]
        .sort_index()
        for some, size in ((order, len(order)), (order[::-1], 3))
    ]
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)
    assert found[0].notna().mean() > 0.7


def test_attention_that_hangs_by_little_is_less_stable() -> None:
    """Weights that differ by little change their order; sharp ones at the same size do not."""
    batch = texts((10,) * 30)
    overlap = {
        place: noise_stability(model, model.read(batch), {}, 0)["", "top_k_overlap"].nanmean()
        for place, model in ((0, WordAttention(rows=1)), (1, WordAttention(word=0.0, place=3.0)))
    }
    assert overlap[1] == 1
    assert overlap[0] < 0.99


def test_models_that_do_not_read_embeddings_are_not_applicable() -> None:
    class Deaf(WordAttention):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            return super().read(batch)

    class TokensOnly(WordAttention):
        def read(self, batch: Batch) -> Record:  # type: ignore[override]
            return super().read(batch)

    record = WordAttention().read(texts((5,)))
    for model in (Deaf(), TokensOnly()):
        with pytest.raises(NotApplicable, match="does not read from embeddings"):
            noise_stability(model, record, {}, 0)


def test_what_has_no_value_is_nan() -> None:
    class Other(WordAttention):
        """Decides otherwise whenever it is given embeddings."""

        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            record = super().read(batch, embeddings)
            if embeddings is not None:
                record.logits.copy_(super().read(batch).logits.flip(-1))
            return record

    record = WordAttention().read(texts((5, 6)))
    values = noise_stability(Other(), record, {}, 0)
    assert values["", "same_decision"].tolist() == [0, 0]
    assert values["", "top_k_overlap"].isnan().all()
    assert values["random", "top_k_overlap"].isnan().all()
    assert values["", "jsd_share"].isnan().all()

    class Zero(WordAttention):
        def parameters(self) -> tuple[Tensor, Tensor, Tensor]:
            table, score, output = super().parameters()
            return table * 0, score, output

    values = noise_stability(Zero(), Zero().read(texts((5, 6))), {}, 0)
    assert all(value.isnan().all() for value in values.values())


@pytest.mark.parametrize("sizes", ["0", "-1", "a", "5+", "1001"])
def test_other_sizes_are_rejected(sizes: str) -> None:
    record = WordAttention().read(texts((5,)))
    with pytest.raises(InputError, match="sizes are per cent"):
        noise_stability(WordAttention(), record, {}, 0, sizes=sizes)


@pytest.mark.parametrize("name", ["bert", "gpt2", "t5"])
def test_transformers_are_audited_and_every_value_is_defined(name: str) -> None:
    model = from_huggingface(*tiny(name))
    results = audit(
        model, TEXTS, audits=["noise_stability", "position"], measures=[], show_progress=False
    )
    assert results.about["not_applicable"] == {}
    values = results.frame().set_index("metric")["value"]
    assert values.loc[["top_k_overlap_1", "follows_word", "explained"]].notna().all()
    assert values.loc["jsd_share_1"].mean() < values.loc["jsd_share_10"].mean()


def test_noise_does_not_depend_on_how_much_is_drawn_at_once(monkeypatch) -> None:
    model = WordAttention()
    record = model.read(texts(LENGTHS))
    together = noise_stability(model, record, {}, 3)
    monkeypatch.setattr(sys.modules["attnaudit.audits.noise_stability"], "_NUMBERS_ON_CPU", 1)
    for name, values in noise_stability(model, record, {}, 3).items():
        assert torch.equal(values.nan_to_num(9.0), together[name].nan_to_num(9.0))
