"""The sign of leaving out the top word, against texts shortened by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from attnaudit.audits.polarity import polarity
from attnaudit.core.contract import Batch
from attnaudit.core.errors import NotApplicable
from attnaudit.core.item_deletion import leave_out
from attnaudit.models.glass import Glass, glass_batch
from audit_cases import case, every_case, no_ties
from deletion_cases import odds_by_hand, read_alone


@every_case
def test_support_is_the_log_odds_lost_without_the_top_word(name: str) -> None:
    chosen = case(name)
    record, scores = chosen.record, no_ties(3, chosen)
    found = polarity(chosen.model, record, scores, 0, rankings="attention+made/1")
    signs = set()
    for index in range(len(record.batch)):
        words = (record.content & record.mask.any(1))[index].nonzero()[:, 0].tolist()
        whole = odds_by_hand(chosen, index, record.logits[index].numpy())
        support = {
            n: whole - odds_by_hand(chosen, index, read_alone(chosen, index, [n]))
            for n in words
            if len(words) > 1
        }
        for measure, score in (
            ("attention", record.alpha[index].mean(0)),
            ("made/1", scores["made/1"][index]),
        ):
            value = float(found[measure, "support"][index])
            violation = float(found[measure, "violation"][index])
            if len(words) < 2:
                assert math.isnan(value)
                assert math.isnan(violation)
                continue
            top = max(words, key=lambda n, score=score: float(score[n]))
            assert value == pytest.approx(support[top], abs=1e-9)
            assert violation == float(support[top] < -0.05 * abs(whole))
            supports = float(found[measure, "supports"][index])
            assert supports == float(support[top] > 0.05 * abs(whole))
            signs.add(violation)
        best = float(found["", "support_best"][index])
        assert (
            math.isnan(best)
            if len(words) < 2
            else best == pytest.approx(max(support.values()), abs=1e-9)
        )
    assert signs == {0.0, 1.0}


def test_a_word_that_changes_nothing_but_rounding_is_no_violation() -> None:
    """In the inert model only the deciding word has any effect."""
    model = Glass("inert")
    record = model.read(glass_batch(200))
    filler = (~record.batch.evidence).double()  # type: ignore[operator]
    found = polarity(model, record, {"filler": filler}, 0, rankings="filler")
    assert (found["filler", "violation"] == 0).all()
    support = found["filler", "support"]
    assert 0 < support.abs().max() < 1e-5


def test_unknown_scores_are_nan_and_missing_rankings_are_skipped() -> None:
    model = Glass("oracle")
    record = model.read(glass_batch(3))
    score = record.alpha[:, 0].clone()
    score[1, 0] = torch.nan
    found = polarity(model, record, {"mine": score}, 0, rankings="mine+random")
    assert found["mine", "support"].isnan().tolist() == [False, True, False]
    assert found["mine", "violation"].isnan().tolist() == [False, True, False]
    assert {measure for measure, _ in found} == {"mine", ""}
    with pytest.raises(NotApplicable, match="none of the rankings"):
        polarity(model, record, {}, 0)


def test_no_text_is_read_that_leave_one_out_has_read() -> None:
    class Watched(Glass):
        def read(self, batch: Batch, embeddings: torch.Tensor | None = None):
            sizes.append(len(batch))
            return super().read(batch, embeddings)

    sizes: list[int] = []
    model = Watched("oracle")
    record = model.read(glass_batch(3))
    leave_out(model, record)
    assert np.sum(sizes) == 3 + int(record.content.sum())
    polarity(model, record, {"attention": record.alpha}, 0)
    assert np.sum(sizes) == 3 + int(record.content.sum())
