"""Damaged, edited or foreign run directories give an error message.

Never a traceback, and never a wrong number.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from attnaudit.cli import app
from attnaudit.core.errors import InputError
from attnaudit.results.checksums import verify_folder, write_mark
from attnaudit.training.checkpoint import load
from finished_runs import edit_run, finished

FUZZED = int(os.environ.get("ATTNAUDIT_FUZZED_RUNS", "24"))  # folders; some hundreds by hand


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(
        tmp_path_factory.mktemp("runs"), audits=("permutation", "agreement", "furthest")
    )


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "runs" / whole.name))


def answers_in_words(arguments: list[object]) -> int:
    """The exit code of a command that ended as it should, whatever it was given."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None and not isinstance(result.exception, InputError | SystemExit):
        raise result.exception
    return 2 if isinstance(result.exception, InputError) else result.exit_code


def commands(run: Path, out: Path) -> list[list[object]]:
    return [
        ["report", run, "--out", out / "page.html"],
        ["tables", run, "--out", out / "tables", "--format", "csv"],
        ["figures", run, "--out", out / "figures", "--format", "png", "--only", "tau_histograms"],
        ["compare", run, run],
        ["gate", run],
        ["check", run],
        ["verify", run],
        ["correlate", run],
    ]


def flip_bit(path: Path, draw: random.Random) -> None:
    content = bytearray(path.read_bytes())
    place = draw.randrange(len(content) * 8)
    content[place // 8] ^= 1 << place % 8
    path.write_bytes(content)


def test_one_flipped_bit_anywhere_is_found(whole: Path, tmp_path: Path) -> None:
    draw = random.Random(0)
    missed = []
    for trial in range(60):
        copy = Path(shutil.copytree(whole, tmp_path / str(trial)))
        path = draw.choice(sorted(copy.iterdir()))
        flip_bit(path, draw)
        try:
            if path.name in ("card.json", "run.log"):  # which loading does not read
                found = verify_folder(copy).startswith("damaged")
            else:
                load(copy)
                found = False
        except InputError:
            found = True
        if not found:
            missed.append(path.name)
        shutil.rmtree(copy)
    assert missed == []


def test_verify_says_what_is_damaged_missing_or_cannot_be_verified(run: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(app, ["verify", str(run.parent)])
    assert done.exit_code == 0
    assert "whole (8 files)" in done.output
    flip_bit(run / "card.json", random.Random(1))
    (run / "vocabulary.json").unlink()
    done = runner.invoke(app, ["verify", str(run)])
    assert done.exit_code == 1
    assert "damaged: card.json, vocabulary.json" in done.output
    edit_run(run, lambda details: None, with_checksums=False)
    done = runner.invoke(app, ["verify", str(run)])
    assert (done.exit_code, "kept no checksums" in done.output) == (0, True)
    assert answers_in_words(["verify", run.parent.parent / "nothing"]) == 2


def test_a_run_of_a_version_without_checksums_is_read(run: Path) -> None:
    before = load(run).results
    edit_run(run, lambda details: None, with_checksums=False)
    pd.testing.assert_frame_equal(load(run).results.values, before.values)


def test_a_damaged_run_is_named_and_left_out_of_a_report(
    run: Path,
    whole: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    bad = Path(shutil.copytree(whole, run.parent / "a damaged one"))
    for table in ("values", "summary"):  # `tables --only runs` reads the summary alone
        flip_bit(bad / f"{table}.parquet", random.Random(0))
    for command in ("report", "tables", "figures"):
        caplog.clear()
        out = tmp_path / (f"{command}.html" if command == "report" else command)
        extra = (
            []
            if command == "report"
            else ["--only", "runs" if command == "tables" else "tau_histograms"]
        )
        assert answers_in_words([command, run.parent, "--out", out, *extra]) == 0
        assert "a damaged one" in caplog.text
        assert "left out" in caplog.text
    assert (
        answers_in_words(["report", bad, "--out", tmp_path / "other.html"]) == 2
    )  # nothing is left


DAMAGE: dict[str, Callable[[Path], None]] = {
    "empty values": lambda run: (run / "values.parquet").write_bytes(b""),
    "half of the values": lambda run: (run / "values.parquet").write_bytes(
        (run / "values.parquet").read_bytes()[:5000]
    ),
    "values of another table": lambda run: pd.DataFrame({"a": [1]}).to_parquet(
        run / "values.parquet"
    ),
    "numbers as text": lambda run: retyped(run, "values", "length", str),
    "columns without their keys": lambda run: retyped(run, "values", "label", int),
    "a class that is not there": lambda run: retyped(run, "values", "predicted", lambda value: 99),
    "a group as a number": lambda run: retyped(run, "summary", "group", hash),
    "tokens as text": lambda run: retyped(run, "examples", "tokens", str),
    "one weight too few": lambda run: retyped(
        run, "examples", "attention", lambda value: value[1:]
    ),
    "scores without a name": lambda run: retyped(
        run, "examples", "scores", lambda value: [{"values": [1.0]}]
    ),
    "a folder in place of a table": lambda run: (
        (run / "values.parquet").unlink(),
        (run / "values.parquet").mkdir(),
    )[0],
    "no vocabulary": lambda run: (run / "vocabulary.json").unlink(),
    "a vocabulary of numbers": lambda run: (run / "vocabulary.json").write_text("[1, 2]"),
    "no weights": lambda run: (run / "model.safetensors").write_bytes(b""),
    "weights of nothing": lambda run: (run / "model.safetensors").write_bytes(
        struct.pack("<Q", 2) + b"{}"
    ),
    "a header of many bytes": lambda run: (run / "model.safetensors").write_bytes(
        struct.pack("<Q", 1 << 60)
    ),
}


def retyped(run: Path, table: str, column: str, change: Callable[[object], object]) -> None:
    frame = pd.read_parquet(run / f"{table}.parquet")
    frame[column] = [change(value) for value in frame[column].astype(object)]
    frame.to_parquet(run / f"{table}.parquet", index=False)


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_that_no_checksum_finds_is_answered_in_words(
    damage: str, run: Path, tmp_path: Path
) -> None:
    edit_run(run, lambda details: None, with_checksums=False)
    DAMAGE[damage](run)
    codes = [answers_in_words(line) for line in commands(run, tmp_path)]
    assert 2 in codes  # somebody noticed
    with pytest.raises(InputError):
        load(run)


def test_a_model_of_absurd_size_is_rejected_before_memory_is_taken(run: Path) -> None:
    edit_run(run, lambda details: details["model"].update(embedding=10**9))
    with pytest.raises(InputError, match="does not hold the model"):
        load(run)


@pytest.mark.parametrize("part", ["encoder", "scorer", "projection", "output", "model"])
def test_a_file_of_the_name_of_a_part_does_not_make_it_trusted(
    part: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "evil.py").write_text("open('pwned', 'w')\ndef make(*a, **k): ...\n")
    (tmp_path / "evil:make").touch()
    edit_run(run, lambda details: details["model"].update({part: "evil:make"}))
    for line in (["check", run], ["corpus-audit", run]):
        assert answers_in_words(line) == 2
    with pytest.raises(InputError, match=r"code from outside: evil:make"):
        load(run)
    edit_run(
        run,
        lambda details: (
            details["model"].update({part: "average"}),
            details["choices"].update(dataset="evil:make"),
        ),
    )
    assert answers_in_words(["corpus-audit", run]) == 2
    assert not (tmp_path / "pwned").exists()


def mutated(value: object, draw: random.Random) -> object:
    """The same JSON with one thing in it changed."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        key = draw.choice(sorted(value))
        rest = dict(value)
        if draw.random() < 0.2:
            del rest[key]
            return rest
        return {**rest, key: mutated(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.6:
        place = draw.randrange(len(value))
        return [*value[:place], mutated(value[place], draw), *value[place + 1 :]]
    return draw.choice(
        [
            None,
            True,
            -1,
            10**30,
            1.5,
            "",
            "x:y",
            "../..",
            [],
            {},
            ["a"],
            {"a": 1},
            "\x00",
            "é" * 300,
        ]
    )


def broken(run: Path, draw: random.Random) -> None:
    """One or two random mutations, half of them hidden from the checksums."""
    for _ in range(draw.randint(1, 2)):
        files = sorted(path for path in run.iterdir() if path.is_file())
        path = draw.choice(files)
        kind = draw.choice(
            ["json", "json", "truncate", "bits", "empty", "delete", "swap", "column", "column"]
        )
        if kind == "json":
            with contextlib.suppress(ValueError, OSError):  # broken before
                details = json.loads((run / "run.json").read_text(encoding="utf-8"))
                (run / "run.json").write_text(json.dumps(mutated(details, draw)))
        elif kind == "truncate":
            path.write_bytes(path.read_bytes()[: draw.randrange(path.stat().st_size + 1)])
        elif kind == "bits" and path.stat().st_size:
            for _ in range(draw.choice([1, 50])):
                flip_bit(path, draw)
        elif kind == "empty":
            path.write_bytes(b"")
        elif kind == "delete":
            path.unlink()
        elif kind == "swap":
            path.write_bytes(draw.choice(files).read_bytes())
        elif kind == "column":
            table = draw.choice(["values", "summary", "examples"])
            try:
                frame = pd.read_parquet(run / f"{table}.parquet")
                column = draw.choice(list(frame.columns))
                value = draw.choice([None, "x", 7, -1, 1e300, float("nan"), [1.0], ["a"]])
                frame = (
                    frame.drop(columns=column)
                    if draw.random() < 0.3
                    else frame.assign(**{column: [value] * len(frame)})
                )
                frame.to_parquet(run / f"{table}.parquet", index=False)
            except (OSError, ValueError):
                continue  # broken before
    if draw.random() < 0.5 and (run / "run.json").is_file():
        try:
            details = json.loads((run / "run.json").read_text())
            write_mark(run / "run.json", details)
        except (ValueError, AttributeError):
            pass


@pytest.mark.parametrize("number", range(FUZZED))
def test_fuzzed_run_directories_are_answered_in_words(
    number: int, run: Path, tmp_path: Path
) -> None:
    draw = random.Random(number)
    broken(run, draw)
    before = {path for path in tmp_path.rglob("*") if "out" not in path.parts}
    lines = commands(run, tmp_path / "out")
    for line in lines if FUZZED > 100 else draw.sample(lines, 3):
        answers_in_words(line)
    with contextlib.suppress(InputError):
        load(run)
    assert {path for path in tmp_path.rglob("*") if "out" not in path.parts} == before
