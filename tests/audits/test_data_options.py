"""Options computed from all the data: who gets them, and when."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
import torch

from attnaudit import audit
from attnaudit.audits import AUDITS
from attnaudit.audits.data_options import (
    bind_data_options,
    compute_data_options,
    data_options_from_json,
    data_options_to_json,
    missing_data_options,
)
from attnaudit.core.contract import Record
from attnaudit.models.glass import Glass, glass_batch
from bilstm_cases import TEXT_LENGTHS, bilstm_case, run_audit


def test_the_mean_length_is_over_all_batches() -> None:
    model, record, _ = bilstm_case()
    halves = [record.batch.rows(torch.arange(3)), record.batch.rows(torch.arange(3, 6))]
    given = audit(
        model, halves, audits=["top_k_agreement"], measures=["gradient"], show_progress=False
    )
    expected = run_audit("top_k_agreement", mean_length=sum(TEXT_LENGTHS) // len(TEXT_LENGTHS))[
        "gradient", "tau_average"
    ]
    values = (
        given.frame()
        .query("metric == 'tau_average' and measure == 'gradient'")
        .set_index("example_id")
    )
    np.testing.assert_allclose(
        values.loc[list(record.batch.example_id), "value"], expected[:, 0], rtol=1e-9
    )


def test_a_given_mean_length_is_used() -> None:
    means = {}
    for each in (
        "top_k_agreement:k=average,mean_length=2",
        "top_k_agreement:k=2",
        "top_k_agreement:k=average",
    ):
        results = audit(
            Glass("shifted"),
            glass_batch(),
            audits=[each],
            measures=["gradient"],
            show_progress=False,
        )
        means[each] = results.mean(
            each, "tau_fixed" if each.endswith("k=2") else "tau_average", "gradient"
        )
    given, fixed, own = means.values()
    assert given == pytest.approx(fixed)
    assert own != pytest.approx(fixed)


def test_an_audit_gets_a_data_option_by_naming_it_and_only_when_it_uses_it() -> None:
    def wants(model, record, scores, seed, *, mean_length):
        return {"mean": torch.full((len(record.batch),), float(mean_length))}

    def wants_nothing(model, record, scores, seed): ...

    assert missing_data_options(wants) == ["mean_length"]
    assert missing_data_options(wants_nothing) == []
    assert missing_data_options(partial(wants, mean_length=3)) == []
    for k, missing in {"average+2": ["mean_length"], "all": [], 5: []}.items():
        assert missing_data_options(partial(AUDITS["top_k_agreement"], k=k)) == missing
    batch = glass_batch(5)
    results = audit(Glass("oracle"), batch, audits=[wants], measures=[], show_progress=False)
    mean = int(batch.mask.sum()) // 5
    assert results.frame()["value"].tolist() == [mean] * 5


def test_records_are_read_once_and_only_if_an_audit_needs_them() -> None:
    def read() -> list[Record]:
        raise AssertionError("the data was read")

    wanting = {"top_k_agreement", "position", "top_words", "erasure_limits"}
    wanting.add("explanation_stability")
    audits = {name: audit for name, audit in AUDITS.items() if not missing_data_options(audit)}
    assert set(AUDITS) - set(audits) == wanting
    assert compute_data_options(audits, read) == {}
    assert bind_data_options(audits, {}) == audits
    batch, passes = glass_batch(9), []

    def once() -> Iterator[Record]:
        passes.append(1)
        for rows in torch.arange(9).split(4):
            yield Glass("oracle").read(batch.rows(rows))

    computed = compute_data_options(AUDITS, once)
    bound = bind_data_options(AUDITS, computed)
    assert len(passes) == 1
    mean = int(batch.mask.sum()) // 9
    assert bound["top_k_agreement"].keywords == {"mean_length": mean}  # type: ignore[attr-defined]
    assert bound["top_words"].keywords == {"text_count": 9}  # type: ignore[attr-defined]
    (profile,) = bound["position"].keywords.values()  # type: ignore[attr-defined]
    assert profile.count.sum() == batch.mask.sum()
    back = data_options_from_json(json.loads(json.dumps(data_options_to_json(computed))))
    assert back["mean_length"] == mean
    assert back["text_count"] == 9
    for name in ("total", "count"):
        assert torch.equal(getattr(back["position_profile"], name), getattr(profile, name))
