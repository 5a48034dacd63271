"""Audits in shards: equal to one pass, continued after an interruption, begun again if changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attnaudit import audit
from attnaudit.auditing.jobs import run_job
from attnaudit.auditing.jobs.job import finish
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.run_job import opened, parts_folder
from attnaudit.core.contract import Batch
from attnaudit.core.errors import InputError, NotApplicable
from attnaudit.core.interruption import Interrupted
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.results.results import Results

AUDITS = ["permutation", "agreement", "position"]
SHARD = 30  # tokens


def batches(count: int = 24) -> list[Batch]:
    whole = glass_batch(count)
    return [whole.rows(part) for part in torch.arange(count).split(4)]


def run(out: Path | None, *, data: list[Batch] | None = None, **options: Any) -> Results:
    given = {"audits": AUDITS, "measures": ["gradient"], "seed": 1, **options}
    return audit(
        Glass("oracle"),
        batches() if data is None else data,
        out=out,
        tokens_per_shard=SHARD,
        show_progress=False,
        **given,
    )


def stopping_after(count: int, seen: list[str]) -> Callable[..., Any]:
    """An audit that is interrupted when it sees its next batch after `count`."""

    def counted(model: Any, record: Any, scores: Any, seed: int) -> dict[str, torch.Tensor]:
        if len(seen) >= count:
            raise Interrupted(15)
        seen.append(record.batch.example_id[0])
        return {"length": record.length.double()}

    return counted


def values(out: Path) -> bytes:
    return (out / "values.parquet").read_bytes()


def test_an_audit_in_shards_is_that_of_one_pass(tmp_path: Path) -> None:
    whole, cut = run(None), run(tmp_path / "cut")
    assert cut.columns.keys == whole.columns.keys
    assert cut.columns.examples.equals(whole.columns.examples)
    np.testing.assert_allclose(cut.columns.matrix(), whole.columns.matrix(), atol=1e-12)
    assert cut.summary().equals(whole.summary())
    assert {key: cut.about[key] for key in whole.about} == whole.about
    assert cut.examples["example_id"].tolist() == whole.examples["example_id"].tolist()
    assert cut.card().as_dict() == whole.card().as_dict()
    assert not parts_folder(tmp_path / "cut").exists()


def test_an_interrupted_audit_goes_on_with_the_shards_that_are_missing(tmp_path: Path) -> None:
    seen: list[str] = []
    quiet = [*AUDITS, stopping_after(10**6, [])]
    run(tmp_path / "whole", audits=quiet)
    for allowed in (2, 3):  # interrupted twice
        with pytest.raises(Interrupted):
            run(tmp_path / "cut", audits=[*AUDITS, stopping_after(allowed, seen)])
        assert not (tmp_path / "cut").exists()
    parts = JobStore(parts_folder(tmp_path / "cut")).names("parts")
    assert 0 < len(parts) < 6
    before = len(seen)
    run(tmp_path / "cut", audits=[*AUDITS, stopping_after(10**6, seen)])
    assert values(tmp_path / "cut") == values(tmp_path / "whole")
    assert len(seen) == 6  # every batch once
    assert len(set(seen)) == 6
    assert before == 3


def test_a_finished_audit_that_was_not_saved_audits_nothing_again_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(*given: Any) -> None:
        raise Interrupted(15)

    seen: list[str] = []
    choices = [*AUDITS, stopping_after(10**6, seen)]
    with monkeypatch.context() as patch:
        patch.setattr(run_job, "assemble", stop)
        with pytest.raises(Interrupted):
            run(tmp_path / "out", audits=choices)
    assert "continuing" not in caplog.text
    run(tmp_path / "out", audits=choices)
    assert "continuing: 6 of 6 parts were finished before" in caplog.text
    assert len(seen) == 6


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"seed": 2}, "seed"),
        ({"measures": ["random"]}, "measures"),
        ({"data": batches(20)}, "data"),
        ({"keep_examples": 3}, "keep_examples"),
    ],
)
def test_a_changed_job_begins_again_and_says_why(
    change: dict[str, Any], word: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Interrupted):
        run(tmp_path / "out", audits=[*AUDITS, stopping_after(3, [])])
    changed = {"audits": [*AUDITS, stopping_after(10**6, [])], **change}
    run(tmp_path / "out", **changed)
    assert f"{word} changed" in caplog.text
    run(tmp_path / "new", **changed)
    assert values(tmp_path / "out") == values(tmp_path / "new")


def test_a_model_with_other_weights_begins_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(*given: Any) -> None:
        raise Interrupted(2)

    data = batches()
    options: dict[str, Any] = {"out": tmp_path / "out", "show_progress": False}
    with pytest.raises(Interrupted):
        audit(Glass("oracle"), data, audits=["permutation", stop], **options)
    audit(Glass("shifted"), data, audits=["permutation"], **options)
    assert "continuing" not in caplog.text


def test_a_second_process_is_rejected_and_the_first_goes_on(tmp_path: Path) -> None:
    with (
        opened(parts_folder(tmp_path / "out")),
        pytest.raises(InputError, match=r"Another process is writing .*out\.parts"),
    ):
        run(tmp_path / "out")
    assert len(run(tmp_path / "out").columns) == 24


def test_foreign_files_where_parts_are_kept_are_left_alone(tmp_path: Path) -> None:
    place = parts_folder(tmp_path / "out")
    place.mkdir()
    (place / "thesis.tex").write_text("words")
    with pytest.raises(InputError, match=r"holds thesis\.tex, which attnaudit did not write"):
        run(tmp_path / "out")
    assert (place / "thesis.tex").read_text() == "words"


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        run(tmp_path / "out", audits=[*AUDITS, stopping_after(4, [])])
    (part,) = parts_folder(tmp_path / "out").glob("parts/0000001-*.parquet")
    content = bytearray(part.read_bytes())
    third = len(content) // 3
    for place in range(third, third + 64):  # one bit may be of no value that is read
        content[place] ^= 1
    part.write_bytes(content)
    with pytest.raises(InputError, match=r"0000001-\w+\.parquet is damaged"):
        run(tmp_path / "out", audits=[*AUDITS, stopping_after(10**6, [])])
    again = run(tmp_path / "out", audits=[*AUDITS, stopping_after(10**6, [])])
    assert len(again.columns) == 24


def test_what_does_not_apply_to_some_shards_is_nan_there(tmp_path: Path) -> None:
    first = set(batches()[0].example_id)

    def sometimes(model: Any, record: Any, scores: Any, seed: int) -> dict[str, torch.Tensor]:
        if record.batch.example_id[0] in first:
            raise NotApplicable("not today")
        return {"one": torch.ones(len(record.batch))}

    results = run(tmp_path / "out", audits=["uniform_attention", sometimes])
    column = results.columns.column(("sometimes", "", "one", 0))
    expected = [example not in first for example in results.columns.examples["example_id"]]
    assert (column == 1).tolist() == expected
    assert results.about["not_applicable"] == {}


def test_p_values_are_judged_among_all_examples(tmp_path: Path) -> None:
    first = batches()[0].example_id

    def judged(model: Any, record: Any, scores: Any, seed: int) -> dict[str, torch.Tensor]:
        # In their shard alone, all p-values of the first batch would hold up.
        known = dict(zip(first, (1e-4, 0.04, 0.04, 0.04), strict=True))
        return {"p": torch.tensor([known.get(name, 0.9) for name in record.batch.example_id])}

    results = run(tmp_path / "out", audits=[judged])
    held = results.columns.column(("judged", "", "significant_family", 0)) == 1
    assert results.columns.examples["example_id"][held].tolist() == [first[0]]


def test_parts_may_be_kept_in_an_object_store(tmp_path: Path) -> None:
    from attnaudit.auditing.battery import Battery
    from attnaudit.auditing.jobs.run_job import BatchSource, run_job
    from attnaudit.auditing.jobs.shards import MemoryShards
    from attnaudit.auditing.selection import find_audits, find_measures

    battery = Battery(Glass("oracle"), find_audits(AUDITS), find_measures(["gradient"]), seed=1)
    with opened("memory://job-of-a-test") as store:
        results = run_job(
            store,
            battery,
            BatchSource(MemoryShards(batches(), SHARD)),
            tmp_path,
            identity={},
            show_progress=False,
        )
        assert len(store.names("parts")) == 6
        finish(store)
        assert store.names("parts") == set()
    np.testing.assert_array_equal(results.columns.matrix(), run(None).columns.matrix())
