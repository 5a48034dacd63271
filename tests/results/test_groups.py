"""The groups of a summary: names that cannot collide, masks, and what the card makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from benchmarks.calibration.design import Design
from benchmarks.calibration.handmade import Handmade
from benchmarks.calibration.zoo_words import KEY
from hypothesis import given
from hypothesis import strategies as st

import attnaudit
from attnaudit.audits.declaration import Declaration
from attnaudit.results import groups
from attnaudit.results.questions import PARTLY, YES, Question
from attnaudit.results.results import Results
from attnaudit.results.rules import make_card
from attnaudit.results.summary import summarise

NAMES = st.sampled_from(
    [
        "all",
        "right",
        "right decisions",
        "wrong decisions",
        "predicted all",
        "predicted predicted all",
    ]
) | st.text(max_size=5)


@given(st.lists(NAMES, unique=True, max_size=8))
def test_no_class_is_called_like_another_group(classes: list[str]) -> None:
    names = [groups.group_of_class(name) for name in classes]
    assert len({groups.ALL, groups.RIGHT, groups.WRONG, *names}) == 3 + len(classes)
    assert [groups.class_of_group(name) for name in names] == classes


def test_a_class_called_right_decisions_keeps_its_own_numbers() -> None:
    """Its two texts are decided wrongly, so that both groups would have other numbers."""
    values = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
    found = summarise(
        values,
        [("mine", "", "number", 0)],
        np.array([0, 0, 1, 1]),
        ["right decisions", "other"],
        {"mine": Declaration("", {})},
        labels=np.array([1, 1, 1, -1]),
    ).set_index("group")["mean"]
    assert found.to_dict() == {
        "all": 2.5,
        "predicted right decisions": 1.5,
        "other": 3.5,
        "right decisions": 3.0,
        "wrong decisions": 1.5,
    }


def test_labels_add_groups_and_change_no_other_line() -> None:
    values = torch.randn(60, 1, generator=torch.Generator().manual_seed(0)).double()
    given_lines = (
        values,
        [("mine", "", "number", 0)],
        np.arange(60) % 2,
        ["a", "b"],
        {"mine": Declaration("", {})},
    )
    without = summarise(*given_lines, seed=3)
    with_labels = summarise(*given_lines, seed=3, labels=np.arange(60) % 3 % 2)
    old = with_labels[~with_labels["group"].isin([groups.RIGHT, groups.WRONG])]
    pd.testing.assert_frame_equal(old.reset_index(drop=True), without)
    assert len(with_labels) == len(without) + 2


def test_unknown_labels_are_neither_right_nor_wrong() -> None:
    assert set(groups.make_groups(np.array([0, 1]), np.array([-1, -1]), ["a", "b"])) == {
        "all",
        "a",
        "b",
    }


# A model that is faithful where it is right, and whose attention is inert where it is wrong ------


@pytest.fixture(scope="module")
def audited() -> dict[str, Results]:
    """The same audit with and without labels.

    A quarter of the key words say their class past the attention. The labels are such that exactly
    the texts with such a word are decided wrongly.
    """
    model, texts = (
        Handmade(Design(through=0.75, value_noise=0.0, bias=(0.5, 0.0))),
        KEY.texts(400, seed=1),
    )
    with torch.no_grad():
        record = model.read(texts)
        uniform = record.mask.double() / record.mask.sum(-1, keepdim=True)
        moved = (model.decode(record, uniform) - record.logits).abs().amax(-1)
    predicted, is_inert = record.predicted, moved < 0.5
    assert 0.15 < is_inert.double().mean() < 0.4
    labels = torch.where(is_inert, 1 - predicted, predicted)
    return {
        name: attnaudit.audit(
            model,
            [replace(texts, labels=each)],
            audits=["permutation", "top_words", "polarity", "furthest", "noise_stability"],
            measures=["attention", "leave_one_out"],
            keep_examples=0,
            show_progress=False,
        )
        for name, each in (("with", labels), ("without", None))
    }


def test_a_model_that_is_inert_where_it_is_wrong_gets_no_clean_yes(
    audited: dict[str, Results],
) -> None:
    cards = {name: results.card() for name, results in audited.items()}
    answers = {
        name: next(each for each in card.answers if each.question == Question.MATTERS.wording)
        for name, card in cards.items()
    }
    assert answers["without"].answer == YES
    assert answers["with"].answer == PARTLY
    assert "but not for wrong decisions" in answers["with"].because
    assert "for wrong decisions the weights barely matter" in cards["with"].verdict


def test_a_run_without_these_groups_keeps_its_card(audited: dict[str, Results]) -> None:
    results = audited["with"]
    lines = results.summaries
    older = lines[~lines["group"].isin([groups.RIGHT, groups.WRONG])]
    assert str(make_card(older, results.about)) != str(results.card())
    without = audited["without"]
    assert str(make_card(older, without.about)) == str(without.card())
