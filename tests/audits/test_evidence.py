"""Rankings against known evidence, compared with scikit-learn."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import average_precision_score, f1_score

from attnaudit.audits.evidence import evidence
from attnaudit.core.errors import NotApplicable
from attnaudit.statistics.retrieval import top_as_many
from audit_cases import EXAMPLES, case, made_scores, same, scores_of
from bilstm_cases import TEXT_LENGTHS, bilstm_case, counted_items, first_row, run_audit


@pytest.mark.parametrize("name", ["two classes", "two rows"])
def test_evidence_equals_scikit_learns_average_precision_and_plain_hits_and_mass(name: str) -> None:
    chosen = case(name)
    scores = {**scores_of(name), "tied": made_scores(chosen)["c"]}
    values = evidence(chosen.model, chosen.record, scores, 0)
    known = chosen.record.batch.evidence
    assert known is not None
    for measure, score in scores.items():
        rows = score if score.dim() == 3 else score[:, None].expand_as(chosen.record.alpha)
        assert values[measure, "hit"].shape == rows.shape[:2]
        for index in range(EXAMPLES):
            for row in range(rows.shape[1]):
                # A row, and any score compared with it, is judged on the items it may attend to.
                real = chosen.record.content[index].numpy() & chosen.mask[index, row]
                truth = known[index].numpy()[real]
                score_of = rows[index, row].numpy()[real]
                if not truth.any() or np.isnan(score_of).any():
                    hit = auprc = mass = math.nan
                else:
                    hit = truth[score_of == score_of.max()].mean()
                    auprc = average_precision_score(truth, score_of)
                    size = np.abs(score_of).sum()
                    mass = np.abs(score_of)[truth].sum() / size if size else math.nan
                same(values[measure, "hit"][index, row], hit)
                same(values[measure, "auprc"][index, row], auprc, 1e-6)
                same(values[measure, "mass"][index, row], mass)
    assert values["attention", "hit"].isnan().any()
    assert not values["attention", "hit"].isnan().all()


def test_the_share_of_evidence_is_nan_without_evidence() -> None:
    """Otherwise the floor of `mass` would be a mean over other examples than `mass`."""
    chosen = case("two classes")
    share = evidence(chosen.model, chosen.record, scores_of("two classes"), 0)["", "share"]
    for index in range(EXAMPLES):
        truth = chosen.record.batch.evidence[index].numpy()[chosen.record.content[index].numpy()]  # type: ignore[index]
        same(share[index], truth.mean() if truth.any() else math.nan)


def test_the_audit_does_not_apply_without_evidence() -> None:
    chosen = case("two classes")
    record = replace(chosen.record, batch=replace(chosen.record.batch, evidence=None))
    with pytest.raises(NotApplicable, match="does not say which words are evidence"):
        evidence(chosen.model, record, scores_of("two classes"), 0)


def test_f1_is_of_as_many_top_words_as_there_is_evidence() -> None:
    _, record, scores = bilstm_case()
    found = run_audit("evidence")
    for index in range(len(TEXT_LENGTHS)):
        items = counted_items(record, index)
        truth = record.batch.evidence[index][items].numpy()
        score = first_row(scores["gradient"], index)[items].numpy()
        if not truth.any():
            assert math.isnan(found["gradient", "token_f1"][index, 0])
            continue
        top = np.zeros(len(items), dtype=bool)
        top[np.argsort(-score)[: truth.sum()]] = True
        assert float(found["gradient", "token_f1"][index, 0]) == pytest.approx(
            f1_score(truth, top, zero_division=0)
        )
    tied = torch.zeros(1, 6)
    everything = torch.ones(1, 6, dtype=torch.bool)
    truth = torch.tensor([[True, True, False, False, False, False]])
    picked = top_as_many(tied, truth, everything, torch.rand(1, 6))
    assert int(picked.sum()) == 2
