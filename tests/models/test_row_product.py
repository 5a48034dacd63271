"""Rows that are multiplied at once: few different numbers, since oneDNN keeps memory for each."""

from __future__ import annotations

import torch

from attnaudit.models.encoders.recurrent_direction import make_direction
from attnaudit.models.encoders.row_product import ROWS, few_counts, spare_rows


def test_there_are_16_counts_up_to_every_doubling_and_little_more_is_multiplied() -> None:
    for low in (512, 4096, 32_768):
        counts = range(low, 2 * low)
        found = {few_counts(count) for count in counts}
        assert len(found) <= 17
        assert all(count <= few_counts(count) <= count * (1 + 1 / 16) + 1 for count in counts)
    assert {few_counts(count) for count in range(1, 513)} == set(range(ROWS, 513, ROWS))


def test_as_many_rows_follow_as_are_multiplied_more() -> None:
    for most in (1, 40, 700, 5000):
        assert all(few_counts(count) <= most + spare_rows(most) for count in range(1, most + 1))


def test_the_rows_of_a_direction_have_room_for_them() -> None:
    network = torch.nn.LSTM(3, 4, batch_first=True)
    embeddings, mask = torch.zeros(2, 5, 3), torch.ones(2, 5, dtype=torch.bool)
    with torch.no_grad():
        direction = make_direction(network, embeddings, mask, network(embeddings)[0], 1)
    states, memories = direction.empty_rows(3000)
    assert states.shape == memories.shape == (3000 + spare_rows(3000), 4)
    assert not states.any()
