"""Words are moved to their sentences and back, whatever the lengths of the sentences."""

from __future__ import annotations

import torch

from attnaudit.core.contract import Batch
from attnaudit.models.sentence_layout import sentence_layout

WORD = 9  # any number above those of the special tokens


def _batch(texts: list[list[int]]) -> Batch:
    """Texts given by the lengths of their sentences, between a start and an end."""
    numbers = [[s for s, length in enumerate(text) for _ in range(length)] for text in texts]
    width = max(map(len, numbers)) + 2
    tokens = torch.zeros(len(texts), width, dtype=torch.int64)
    segments = torch.zeros_like(tokens)
    for row, text in enumerate(numbers):
        tokens[row, : len(text) + 2] = torch.tensor([1, *[WORD] * len(text), 2])
        segments[row, 1 : len(text) + 1] = torch.tensor(text, dtype=torch.int64)
    ids = tuple(str(row) for row in range(len(texts)))
    return Batch(example_id=ids, tokens=tokens, mask=tokens != 0, segments=segments)


def _running_sum(values: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    """Depends on the words before, in the same sentence, and on nothing else."""
    assert values.shape[:2] == words.shape
    assert not values[~words].any()  # empty slots hold 0
    return values.cumsum(1)


def test_each_sentence_is_computed_by_itself_whatever_its_length() -> None:
    texts = [[3, 40, 1, 8, 9], [17], [16, 2, 33, 5], [1, 1, 1]]
    batch = _batch(texts)
    values = torch.rand(*batch.tokens.shape, 3, dtype=torch.float64)
    found = sentence_layout(batch).by_group(values, _running_sum)
    expected = torch.zeros_like(values)
    for row, text in enumerate(texts):
        start = 1
        for length in text:
            part = values[row, start : start + length]
            expected[row, start : start + length] = part.cumsum(0)
            start += length
    torch.testing.assert_close(found, expected)


def test_at_most_half_of_the_slots_of_longer_sentences_are_empty() -> None:
    layout = sentence_layout(_batch([[9, 100, 33, 64], [70, 17, 12]]))
    words = sum(int(group.sum()) for group in layout.groups)
    assert words == 9 + 100 + 33 + 64 + 70 + 17 + 12
    assert all(group.sum() * 2 >= group.numel() for group in layout.groups)


def test_texts_without_words_have_no_sentence() -> None:
    batch = _batch([[], []])
    layout = sentence_layout(batch)
    found = layout.by_group(torch.ones(2, 2, 4), _running_sum)
    assert found.shape == (2, 2, 4)
    assert not found.any()
    assert not layout.rows.any()


def test_words_keep_their_sentence_when_others_are_deleted() -> None:
    """A sentence whose words are all deleted leaves no gap; holes move nothing elsewhere."""
    batch = _batch([[2, 3, 12]])
    batch.mask[0, 3:6] = False  # the whole second sentence
    batch.mask[0, 8] = False  # a word of the third
    layout = sentence_layout(batch)
    assert layout.sentence[0].tolist() == [-1, 0, 0, -1, -1, -1, 1, 1, -1, *[1] * 9, -1]
    ones = torch.ones(1, batch.tokens.shape[1], 1)
    found = layout.by_group(ones, _running_sum)[0, :, 0]
    assert found.tolist() == [0, 1, 2, 0, 0, 0, 1, 2, 0, *range(3, 12), 0]
