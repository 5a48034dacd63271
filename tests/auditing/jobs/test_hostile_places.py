"""Audits whose folder, files or model are damaged, taken, full, or not what they seem."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from attnaudit import Workers, audit_files
from attnaudit.auditing.jobs.job import check_model, finish
from attnaudit.auditing.jobs.job_store import JobStore
from attnaudit.auditing.jobs.part_file import Part
from attnaudit.auditing.jobs.run_job import parts_folder
from attnaudit.auditing.jobs.sealed_parquet import unsealed_table
from attnaudit.core.errors import InputError
from attnaudit.core.interruption import Interrupted
from attnaudit.results.store import load_results
from tiny_transformers import TEXTS, tiny


class Stopping:
    """An audit that is interrupted after some batches."""

    def __init__(self) -> None:
        self.left = 10**6

    def __call__(self, model: Any, record: Any, scores: Any, seed: int) -> dict[str, torch.Tensor]:
        if self.left == 0:
            raise Interrupted(15)
        self.left -= 1
        return {"length": record.length.double()}


STOPPING = Stopping()


def stopping(model: Any, record: Any, scores: Any, seed: int) -> dict[str, torch.Tensor]:
    return STOPPING(model, record, scores, seed)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    network, tokenizer = tiny("bert", id2label={0: "bad", 1: "good", 2: "fair"})
    network.float().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "texts.csv"
    words = ("film", "dull", "good", "one", "liked", "bad")
    lines = [f"{TEXTS[n % len(TEXTS)]} {words[n % 6]}" for n in range(12)]
    path.write_text("text\n" + "\n".join(f'"{line}"' for line in lines) + "\n")
    return path


def audited(model: Path, texts: Path, out: Path, *, stop: int | None = None, **more: Any) -> bytes:
    """values.parquet; stop: interrupted after this many batches."""
    STOPPING.left = 10**6 if stop is None else stop
    options = {"audits": ["permutation", stopping], "measures": ["gradient"], **more}
    if stop is not None:
        with pytest.raises(Interrupted):
            audit_files(model, texts, out=out, tokens_per_shard=40, **options)
        return b""
    audit_files(model, texts, out=out, tokens_per_shard=40, **options)
    return (out / "values.parquet").read_bytes()


@pytest.fixture(scope="module")
def expected(model: Path, texts: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return audited(model, texts, tmp_path_factory.mktemp("expected") / "out")


def test_no_flipped_bit_of_a_part_is_taken_for_a_value(
    model: Path, texts: Path, tmp_path: Path
) -> None:
    audited(model, texts, tmp_path / "out", stop=2)
    file = next(parts_folder(tmp_path / "out").glob("parts/*"))
    content = file.read_bytes()

    def read(data: bytes) -> tuple[Any, ...]:
        part = Part(data)
        matrix = part.matrix(part.keys).tobytes()
        return part.keys, part.facts, part.examples().to_json(), matrix, repr(part.kept())

    whole, draw, noticed = read(content), random.Random(0), 0
    for place in draw.sample(range(len(content)), 400):
        damaged = bytearray(content)
        damaged[place] ^= 1 << draw.randrange(8)
        try:
            assert read(bytes(damaged)) == whole
        except (OSError, ValueError, KeyError, TypeError):
            noticed += 1
    assert noticed > 200


@pytest.mark.parametrize("damage", ["truncate", "flip", "delete"])
@pytest.mark.parametrize("name", ["job.json", "plan.json", "examples/0000003.parquet"])
def test_damaged_files_of_a_job_are_noticed_and_made_again(
    name: str, damage: str, model: Path, texts: Path, expected: bytes, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    audited(model, texts, out, stop=2)
    path = parts_folder(out) / name
    if damage == "delete":
        path.unlink()
    elif damage == "truncate":
        path.write_bytes(b"")
    else:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert audited(model, texts, out) == expected
    assert not parts_folder(out).exists()


def test_other_texts_and_other_weights_begin_again(
    model: Path, texts: Path, expected: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    mine, data, out = tmp_path / "model", tmp_path / "texts.csv", tmp_path / "out"
    shutil.copytree(model, mine)
    shutil.copy(texts, data)
    audited(mine, data, out, stop=2)
    data.write_text(data.read_text().replace("film", "good", 1))
    audited(mine, data, out, stop=2)
    assert "data changed" in caplog.text
    shutil.copy(texts, data)
    network, _ = tiny("bert", id2label={0: "bad", 1: "good", 2: "fair"})
    with torch.no_grad():
        network.float().classifier.weight.mul_(1.5)
    network.save_pretrained(mine)
    audited(mine, data, out, stop=2)
    assert "model, data changed" in caplog.text
    shutil.rmtree(mine)
    shutil.copytree(model, mine)
    assert audited(mine, data, out) == expected


@pytest.mark.parametrize("content", ['{"mine": 1}', "[]", None])
def test_files_of_the_user_where_parts_are_kept_stay(
    content: str | None, model: Path, texts: Path, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    (place / "examples").mkdir(parents=True)
    (place / "examples" / "thesis.tex").write_text("words")
    if content is not None:
        (place / "job.json").write_text(content)
    with pytest.raises(InputError, match=r"holds examples/thesis\.tex, which attnaudit did not"):
        audited(model, texts, tmp_path / "out", parts=str(place))
    assert (place / "examples" / "thesis.tex").read_text() == "words"


def test_only_what_the_job_has_written_is_removed_at_its_end(
    model: Path, texts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    audited(model, texts, out, stop=2)
    note = parts_folder(out) / "note.txt"
    note.write_text("do not lose me")
    audited(model, texts, out)
    assert [path.name for path in parts_folder(out).iterdir()] == ["note.txt"]
    bucket = JobStore("memory://bucket")
    bucket.write("other/data.txt", b"precious")
    with pytest.raises(InputError, match=r"memory://bucket is where .* but it holds other"):
        audited(model, texts, tmp_path / "second", parts="memory://bucket")
    audited(model, texts, tmp_path / "second", parts="memory://bucket/job")
    assert bucket.names("") == {"other"}


def test_workers_cannot_share_the_memory_of_one_process(
    model: Path, texts: Path, tmp_path: Path
) -> None:
    options = {"parts": "memory://job", "workers": Workers(2), "audits": ["permutation"]}
    with pytest.raises(InputError, match="Workers cannot see memory://job"):
        audited(model, texts, tmp_path / "out", **options)


@pytest.mark.parametrize("name", ["a::b", "with space [x] *", "zip::c"])
def test_a_folder_may_have_any_name(
    name: str, model: Path, texts: Path, expected: bytes, tmp_path: Path
) -> None:
    audited(model, texts, tmp_path / name, stop=2)
    assert len(list((tmp_path / f"{name}.parts" / "parts").iterdir())) == 2
    assert audited(model, texts, tmp_path / name) == expected


def test_an_address_of_a_folder_is_that_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for address in ("place", Path("place"), (tmp_path / "place").as_uri()):
        store = JobStore(address)
        assert store.local == tmp_path / "place"
        assert store.address == str(tmp_path / "place")  # a worker may be in another folder


def test_a_worker_rejects_another_job_and_another_model(tmp_path: Path) -> None:
    store = JobStore(tmp_path)
    with pytest.raises(InputError, match="no longer holds the audit"):
        check_model(store, "0" * 16, "weights")
    from attnaudit.auditing.jobs.job import begin, job_id

    identity = {"model": "weights", "seed": 1}
    begin(store, identity)
    check_model(store, job_id(identity), "weights")
    with pytest.raises(InputError, match="not the one that the audit was begun with"):
        check_model(store, job_id(identity), "others")
    with pytest.raises(InputError, match="no longer holds the audit"):
        check_model(store, job_id({**identity, "seed": 2}), "weights")
    assert json.loads((tmp_path / "job.json").read_text())["seed"] == 1
    finish(store)
    assert not tmp_path.exists()


def test_an_interruption_says_what_is_kept(model: Path, texts: Path, tmp_path: Path) -> None:
    STOPPING.left = 2
    options: dict[str, Any] = {"audits": ["permutation", stopping], "tokens_per_shard": 40}
    with pytest.raises(Interrupted) as stopped:
        audit_files(model, texts, out=tmp_path / "out", **options)
    assert stopped.value.exit_code == 128 + 15
    kept = f"2 of 4 parts are finished and kept in {tmp_path}/out.parts. The same command goes on"
    assert kept in str(stopped.value)
    STOPPING.left = 2
    with pytest.raises(Interrupted) as stopped:
        audit_files(model, texts, **options)  # nothing of it is kept
    assert "parts" not in str(stopped.value)


def test_without_room_for_the_assembled_values_they_are_held_in_memory(
    model: Path,
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    audited(model, texts, tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr("attnaudit.auditing.jobs.assembly.ValueFileWriter", full)
        audited(model, texts, tmp_path / "out")
    results = [load_results(tmp_path / name) for name in ("whole", "out")]
    first, second = (each.columns for each in results)
    assert first.keys == second.keys
    assert np.array_equal(first.matrix(), second.matrix(), equal_nan=True)


def test_whatever_arrow_raises_means_that_the_file_is_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some versions raise ArrowNotImplementedError, which is no ValueError, for a flipped bit."""

    def unknown_type(*arguments: Any, **options: Any) -> None:
        raise pa.ArrowNotImplementedError("Integers with more than 64 bits")

    monkeypatch.setattr(pq, "ParquetFile", unknown_type)
    with pytest.raises(ValueError, match="64 bits"):
        unsealed_table(b"")
