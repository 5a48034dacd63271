"""Words from subword tokens: by offsets, or by marks if a tokenizer gives no offsets."""

from __future__ import annotations

import pytest
import torch

from attnaudit.models.huggingface import text_batches
from attnaudit.models.huggingface.subwords import Subwords, items_of
from attnaudit.models.huggingface.words import special_ids, word_numbers, word_numbers_by_marks
from tiny_transformers import tiny_tokenizer


def numbers(text: str, pieces: list[tuple[int, int]]) -> list[int]:
    return word_numbers([text], pieces, [0] * len(pieces), [False] * len(pieces))


def test_tokens_of_a_word_are_one_item() -> None:
    #  un|believ|able, don|'|t, stop|.
    text = "unbelievable, don't stop."
    cut = [(0, 2), (2, 8), (8, 12), (12, 13), (14, 17), (17, 18), (18, 19), (20, 24), (24, 25)]
    assert numbers(text, cut) == [0, 0, 0, 1, 2, 2, 2, 3, 4]


def test_a_token_across_several_words_joins_them() -> None:
    assert numbers("a b c", [(0, 3), (4, 5)]) == [0, 1]
    assert numbers("good!bad", [(0, 4), (4, 6), (6, 8)]) == [0, 1, 1]


def test_tokens_with_leading_space_and_tokens_of_space() -> None:
    assert numbers("ab cd", [(0, 2), (2, 4), (4, 5)]) == [0, 1, 1]
    # Of space alone: with the word after it; at the end, with the one before. Of nothing: the same.
    assert numbers("ab  cd ", [(0, 2), (2, 3), (3, 6), (6, 7)]) == [0, 1, 1, 1]
    assert numbers("ab", [(0, 0), (0, 2)]) == [0, 0]


def test_in_scripts_without_spaces_every_character_is_a_word() -> None:
    assert numbers("好电影 ok", [(0, 1), (1, 2), (2, 3), (4, 6)]) == [0, 1, 2, 3]
    assert numbers("好电影", [(0, 2), (2, 3)]) == [0, 1]


def test_tokens_of_one_character_are_one_item() -> None:
    assert numbers("a 🙂", [(0, 1), (2, 3), (2, 3), (2, 3)]) == [0, 1, 1, 1]


def test_the_same_word_at_the_boundary_of_a_pair_is_two_items() -> None:
    found = word_numbers(["ab", "ab"], [(0, 2), (0, 1), (1, 2)], [0, 1, 1], [False] * 3)
    assert found == [0, 1, 1]


def test_every_special_token_is_its_own_item() -> None:
    marked = [True, False, False, True, True]
    assert word_numbers(
        ["ab"], [(0, 0), (0, 1), (1, 2), (0, 0), (0, 0)], [None, 0, 0, None, None], marked
    ) == [
        0,
        1,
        1,
        2,
        3,
    ]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["un", "##do", "it", "##s"], [0, 0, 1, 1]),
        (["▁un", "do", "▁it"], [0, 0, 1]),
        (["un", "do", "Ġit", "s"], [0, 0, 1, 1]),
        (["un", "do</w>", "it</w>"], [0, 0, 1]),
        (["un", "do"], [0, 1]),
    ],
)
def test_words_from_the_marks_of_slow_tokenizers(pieces: list[str], expected: list[int]) -> None:
    assert word_numbers_by_marks(pieces, [False] * len(pieces)) == expected


def test_marks_and_offsets_give_the_same_words() -> None:
    tokenizer = tiny_tokenizer("bert")
    (batch,) = text_batches(["the film was very good , and we liked it"], tokenizer)
    ids = batch.tokens[0].tolist()
    special = [each in special_ids(tokenizer) for each in ids]
    assert (
        word_numbers_by_marks(tokenizer.convert_ids_to_tokens(ids), special)
        == batch.word[0].tolist()
    )  # type: ignore[attr-defined]


def test_the_unknown_token_is_text_and_special_tokens_are_not() -> None:
    tokenizer = tiny_tokenizer("bert")
    (batch,) = text_batches(["the $ [MASK] film"], tokenizer)
    assert tokenizer.unk_token_id in batch.tokens[0].tolist()
    spelled = tokenizer.convert_ids_to_tokens(batch.tokens[0].tolist())
    marks = [
        piece for piece, special in zip(spelled, batch.special[0].tolist(), strict=True) if special
    ]  # type: ignore[attr-defined]
    assert marks == ["[CLS]", "[MASK]", "[SEP]"]


def test_a_words_weight_is_shared_in_proportion_or_evenly_if_it_had_none() -> None:
    (batch,) = text_batches(["film good bad"], tiny_tokenizer("bert"))
    item = items_of(batch)
    assert item[0].tolist() == [0, 1, 1, 2, 2, 3, 3, 4]
    rows = torch.tensor([[[0.1, 0.3, 0.1, 0.0, 0.0, 0.2, 0.2, 0.1]]])
    subwords = Subwords.of(batch, rows, torch.ones(1, 1, 8, dtype=torch.bool))
    assert torch.allclose(subwords.to_items(rows), torch.tensor([[[0.1, 0.4, 0.0, 0.4, 0.1]]]))
    back = subwords.to_tokens(torch.tensor([[[[0.0, 0.4, 0.6, 0.0, 0.0]]]]))
    assert torch.allclose(back, torch.tensor([[[[0.0, 0.3, 0.1, 0.3, 0.3, 0.0, 0.0, 0.0]]]]))
    assert subwords.content[0].tolist() == [False, True, True, True, False]


def test_deleted_words_leave_no_gap_in_the_numbers() -> None:
    (batch,) = text_batches(["film good bad"], tiny_tokenizer("bert"))
    shorter = batch.without(items_of(batch) == 2)
    assert items_of(shorter)[0].tolist() == [0, 1, 1, 2, 2, 3]
    assert shorter.types.shape == shorter.tokens.shape  # type: ignore[attr-defined]
