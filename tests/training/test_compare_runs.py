"""Two runs compared: their cards, and every metric they share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch

from attnaudit import audit
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.training.comparisons.runs import compare, compare_values


def test_the_same_names_for_other_texts_are_not_paired() -> None:
    first = audit(Glass("oracle"), glass_batch(40), show_progress=False)
    batch = glass_batch(41)
    other = replace(batch.rows(torch.arange(1, 41)), example_id=batch.example_id[:40])
    second = audit(Glass("oracle"), other, show_progress=False)
    assert set(compare_values(first, second)["how"]) == {"matched by length"}
    assert set(compare_values(first, first)["how"]) == {"paired"}


def test_two_runs_with_nothing_in_common_are_said_to_have_nothing() -> None:
    runs = [
        audit(
            Glass("oracle"),
            glass_batch(20),
            audits=[name],
            measures=["random"],
            show_progress=False,
        )
        for name in ("permutation", "furthest")
    ]
    assert "nothing in common" in str(compare(*runs))


def test_runs_on_different_data_are_said_to_be() -> None:
    runs = []
    for dataset, count in (("sst", 40), ("keyword", 60)):
        found = audit(
            Glass("oracle"),
            glass_batch(count),
            audits=["permutation"],
            measures=["random"],
            show_progress=False,
        )
        found.about["run"] = {"choices": {"dataset": dataset}}
        runs.append(found)
    text = str(compare(*runs))
    assert "different data, sst and keyword" in text
    assert "not the difference of the two means" in text


def test_run_directories_are_compared_like_their_results(tmp_path: Path) -> None:
    results = audit(Glass("oracle"), glass_batch(20), audits=["permutation"], show_progress=False)
    folder = results.save(tmp_path / "run")
    both = compare(folder, str(folder))
    assert (both.values["difference"].dropna() == 0).all()
    assert both.text(every=True) == compare(results, results).text(every=True)
    assert str(both) == both.text()
