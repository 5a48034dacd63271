"""Words of several tokens change places; what belongs to the place stays."""

from __future__ import annotations

from dataclasses import replace

import torch

from attnaudit.audits.word_swap import can_swap, swapped
from attnaudit.core.contract import Batch, Record
from attnaudit.models import from_huggingface
from tiny_transformers import tiny


def made_record(tokens: list[int], item: list[int], marks: tuple[int, ...] = ()) -> Record:
    words = torch.tensor([tokens])
    batch = Batch(
        ("a",),
        words,
        words > 0,
        segments=torch.arange(len(tokens))[None] // 3,
        evidence=words == 11,
    )
    items = max(item) + 1
    content = torch.ones(1, items, dtype=torch.bool)
    content[:, list(marks)] = False
    return Record(
        batch=batch,
        embeddings=torch.zeros(1, len(tokens), 1),
        hidden=None,
        alpha=torch.full((1, 1, items), 1 / items),
        mask=torch.ones(1, 1, items, dtype=torch.bool),
        content=content,
        item_of_token=torch.tensor([item]),
        logits=torch.zeros(1, 2),
    )


def pick(item: int) -> torch.Tensor:
    return torch.tensor([[item]])


def test_words_of_several_tokens_change_places() -> None:
    record = made_record([5, 11, 12, 13, 6, 7, 21, 0], [0, 1, 1, 1, 2, 3, 4, -1])
    batch = swapped(record, pick(1), pick(4))
    assert batch.tokens.tolist() == [[5, 21, 6, 7, 11, 12, 13, 0]]
    assert batch.evidence is not None
    assert batch.evidence.tolist() == [[False] * 4 + [True] + [False] * 3]  # moves with the word
    # The sentence is that of the place: 0 at item 1, 1 at items 2 and 3, 2 at item 4.
    assert batch.segments is not None
    assert batch.segments.tolist() == [[0, 0, 1, 1, 2, 2, 2, 2]]
    assert torch.equal(batch.mask, record.batch.mask)
    back = swapped(record, pick(4), pick(1))
    assert torch.equal(back.tokens, batch.tokens)
    assert torch.equal(swapped(record, pick(2), pick(2)).tokens, record.batch.tokens)


def test_neighbours_change_places() -> None:
    record = made_record([1, 2, 3, 4], [0, 1, 1, 2])
    assert swapped(record, pick(0), pick(1)).tokens.tolist() == [[2, 3, 1, 4]]
    assert swapped(record, pick(2), pick(1)).tokens.tolist() == [[1, 4, 2, 3]]


def test_only_other_words_that_count_and_are_in_one_piece_can_be_swapped_in() -> None:
    #        mark, word, the same word, a word in two pieces, other, longer
    record = made_record([3, 8, 8, 9, 5, 9, 8, 7], [0, 1, 2, 3, 4, 3, 5, 5], marks=(0,))
    assert can_swap(record, pick(1)).tolist() == [[False, False, False, False, True, True]]
    assert not can_swap(record, pick(3)).any()


def test_words_stay_in_their_text_of_a_pair() -> None:
    record = made_record([3, 4, 5, 6], [0, 1, 2, 3])

    class Pair(Batch):
        pair = torch.tensor([[0, 0, 1, 1]])

    batch = record.batch
    paired = replace(record, batch=Pair(batch.example_id, batch.tokens, batch.mask))
    assert can_swap(paired, pick(0)).tolist() == [[False, True, False, False]]
    assert can_swap(paired, pick(3)).tolist() == [[False, False, True, False]]


def test_a_hugging_face_text_keeps_its_words_in_other_places() -> None:
    model = from_huggingface(*tiny("bert"))
    (batch,) = model.batches(["a dull film", "not good at all"])  # type: ignore[attr-defined]
    record = model.read(batch)
    content = record.content[0].nonzero()[:, 0]
    length = [int((record.item_of_token[0] == item).sum()) for item in content]
    longest = int(content[length.index(max(length))])
    other = int(next(i for i in content if i != longest and can_swap(record, pick(longest))[0, i]))
    first = torch.tensor([[longest], [0]])
    second = torch.tensor([[other], [0]])
    after = model.read(swapped(record, first, second))
    assert after.alpha.shape == record.alpha.shape
    assert torch.equal(after.content, record.content)

    def spelled(of: Record, item: int) -> list[int]:
        return of.batch.tokens[0][of.item_of_token[0] == item].tolist()

    assert max(length) > 1
    for item in range(record.content.shape[1]):
        moved = {longest: other, other: longest}.get(item, item)
        assert spelled(after, item) == spelled(record, moved)
    torch.testing.assert_close(after.alpha[1], record.alpha[1])
