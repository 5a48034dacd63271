"""Attention by position: sinks, marks, the profile of the other texts, and swapped words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from attnaudit import audit
from attnaudit.audits.position import position
from attnaudit.audits.position_profile import (
    AT_ENDS,
    PLACES,
    combine_profiles,
    places,
    profile_of_record,
)
from attnaudit.core.contract import Batch, Record
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.results import Results
from audit_cases import same, split_batch
from word_attention import WordAttention, shown_weights, texts

LENGTHS = (9, 14, 1, 2, 12, 7, 3, 30, 5, 8)


def audited(model: WordAttention, batch: Batch | list[Batch]) -> Results:
    return audit(model, batch, audits=["position"], measures=[], show_progress=False)


def by_example(results: Results, metric: str, measure: str = "") -> np.ndarray:
    frame = results.frame()
    part = frame[(frame["metric"] == metric) & (frame["measure"] == measure)]
    return part.set_index("example_id")["value"].sort_index().to_numpy()


def place_of(j: int, length: int) -> int:
    """The place of word j, one word at a time."""
    end = length - 1 - j
    if j <= end and j < AT_ENDS:
        return j
    if end < AT_ENDS:
        return AT_ENDS + end
    return 2 * AT_ENDS + int(10 * j / length)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 9, 23, 100])
def test_places_count_from_the_nearer_end(length: int) -> None:
    words = torch.zeros(1, length + 4, dtype=torch.bool)
    words[0, 2 : length + 2] = True
    found = places(words)[0, 2 : length + 2].tolist()
    assert found == [place_of(j, length) for j in range(length)]
    assert max(found) < PLACES


@pytest.mark.parametrize("model", [WordAttention(), WordAttention(word=0.5, place=3.0)])
def test_what_position_explains_equals_a_loop_over_the_other_texts(model: WordAttention) -> None:
    batch = texts(LENGTHS)
    record = model.read(batch)
    results = audited(model, split_batch(batch, list(range(len(LENGTHS))), 4))
    explained, weight, floor = (
        by_example(results, metric, measure)
        for metric, measure in (
            ("explained", ""),
            ("weight_explained", ""),
            ("weight_explained", "uniform"),
        )
    )
    for index, length in enumerate(LENGTHS):
        sums, counts = np.zeros(PLACES), np.zeros(PLACES)
        for other, other_length in enumerate(LENGTHS):
            if other != index:
                for j, w in enumerate(shown_weights(record, other)):
                    sums[place_of(j, other_length)] += other_length * w
                    counts[place_of(j, other_length)] += 1
        own = shown_weights(record, index)
        at = [place_of(j, length) for j in range(length)]
        profile = np.array([sums[p] / counts[p] if counts[p] else 1.0 for p in at])
        profile /= profile.sum()
        if length == 1:
            assert np.isnan([explained[index], weight[index], floor[index]]).all()
            continue
        r2 = 1 - np.square(own - profile).sum() / np.square(own - 1 / length).sum()
        assert explained[index] == pytest.approx(r2, abs=1e-9)
        assert weight[index] == pytest.approx(np.minimum(own, profile).sum(), abs=1e-9)
        assert floor[index] == pytest.approx(np.minimum(own, 1 / length).sum(), abs=1e-9)


def test_a_sink_is_explained_by_position_and_word_attention_is_not() -> None:
    batch = texts((8, 9, 10, 11) * 15)
    sink = audited(WordAttention(word=0.3, place=4.0), batch)
    word = audited(WordAttention(word=2.0), batch)
    assert sink.mean("position", "explained") > 0.9
    assert sink.mean("position", "top_is_first") > 0.95
    assert sink.mean("position", "stays_at_position") > 0.95
    assert sink.mean("position", "follows_word") < 0.05
    assert sink.mean("position", "sink_weight") > 0.4
    assert word.mean("position", "explained") < 0.1
    assert word.mean("position", "follows_word") > 0.95
    assert word.mean("position", "stays_at_position") < 0.05
    assert abs(word.mean("position", "sink_weight")) < 0.1


def test_attention_that_depends_on_the_place_alone_is_explained_whole() -> None:
    results = audited(WordAttention(word=0.0, place=2.0), texts((6, 6, 6)))
    np.testing.assert_allclose(by_example(results, "explained"), 1)
    np.testing.assert_allclose(by_example(results, "weight_explained"), 1)


def test_numbers_of_one_text_by_hand() -> None:
    model, batch = WordAttention(), texts((7, 4, 1))
    record = model.read(batch)
    values = position(model, record, {}, 0)
    for index, length in enumerate((7, 4, 1)):
        own = shown_weights(record, index)
        marks = record.alpha[index][:, ~record.content[index]].sum(-1).mean()
        same(values["", "weight_on_marks"][index], marks)
        if length == 1:
            assert values["", "top_is_first"][index].isnan()
            assert values["", "sink_weight"][index].isnan()
            continue
        same(values["", "top_is_first"][index], own.argmax() == 0)
        same(values["", "top_is_last"][index], own.argmax() == length - 1)
        same(values["", "sink_weight"][index], own[0] + own[-1] - 2 / length)
        same(values["random", "top_is_first"][index], 1 / length)
    assert values["", "explained"].isnan().all()  # there is no profile
    assert values["", "weight_explained"].isnan().all()


def test_words_tied_for_the_top_share_it() -> None:
    record = Glass("oracle", focus=0.0).read(glass_batch(3))
    values = position(Glass("oracle", focus=0.0), record, {}, 0)  # uniform: there is no top word
    for metric in ("top_is_first", "stays_at_position", "follows_word"):
        assert values["", metric].isnan().all()
    alpha = torch.tensor([[[0.4, 0.1, 0.1, 0.4]]], dtype=torch.float64)
    tied = replace(
        WordAttention(rows=1).read(texts((4,))),
        alpha=torch.nn.functional.pad(alpha, (1, 1)),
    )
    values = position(WordAttention(rows=1), tied, {}, 0)
    assert values["", "top_is_first"].tolist() == [0.5]
    assert values["", "top_is_last"].tolist() == [0.5]


def test_one_text_has_no_profile_of_the_others() -> None:
    results = audited(WordAttention(), texts((6,)))
    assert np.isnan(by_example(results, "explained")).all()


def test_profiles_of_batches_add_up() -> None:
    model, batch = WordAttention(), texts(LENGTHS)
    whole = profile_of_record(model.read(batch))
    parts = split_batch(batch, list(range(len(LENGTHS))), 3)
    added = combine_profiles(profile_of_record(model.read(part)) for part in parts)
    torch.testing.assert_close(added.total, whole.total)
    assert torch.equal(added.count, whole.count)
    assert whole.count.sum() == sum(LENGTHS)


def test_the_same_word_everywhere_cannot_be_swapped() -> None:
    tokens = torch.tensor([[1, 7, 7, 7, 2], [1, 7, 8, 7, 2]])
    batch = Batch(("same", "other"), tokens, tokens > 0)
    model = WordAttention(place=1.0)
    values = position(model, model.read(batch), {}, 0)
    assert values["", "stays_at_position"].isnan().tolist() == [True, False]
    assert values["random", "follows_word"].isnan().tolist() == [True, False]


def test_after_the_swap_the_text_has_the_same_words_in_other_places() -> None:
    given: list[Batch] = []

    class Watched(WordAttention):
        def read(self, batch: Batch, embeddings: Tensor | None = None) -> Record:
            given.append(batch)
            return super().read(batch, embeddings)

    batch = texts((6, 9, 12, 5))
    record = WordAttention().read(batch)
    values = position(Watched(), record, {}, 0)
    (swapped,) = given
    after = WordAttention().read(swapped)
    others = set()
    for index in range(4):
        moved = (swapped.tokens[index] != batch.tokens[index]).nonzero()[:, 0].tolist()
        top = 1 + int(shown_weights(record, index).argmax())
        assert len(moved) == 2
        assert top in moved
        other = next(place for place in moved if place != top)
        others.add(other)
        assert swapped.tokens[index, other] == batch.tokens[index, top]
        assert swapped.tokens[index, top] == batch.tokens[index, other]
        now = 1 + int(shown_weights(after, index).argmax())
        same(values["", "stays_at_position"][index], now == top)
        same(values["", "follows_word"][index], now == other)
    assert len(others) > 1
