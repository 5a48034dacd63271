"""No command loses a user's file: outputs replace only what attnaudit itself wrote."""

from __future__ import annotations

import errno
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pandas as pd
import pytest
import typer

import attnaudit
from attnaudit.auditing import audit_files
from attnaudit.auditing.audit import audit
from attnaudit.cli import app, main
from attnaudit.core.errors import InputError, OutputError
from attnaudit.core.output_files import MANIFEST, check_file
from attnaudit.models.glass import Glass, glass_batch
from attnaudit.papers import lesson
from attnaudit.results import checksums, store
from attnaudit.results.results import Results
from attnaudit.training.run_place import find_place
from attnaudit.training.runner import run_experiment
from dask_cluster import wait_until
from finished_runs import finished
from loaded_process import LoadedCommand
from tiny_transformers import tiny

RUN = [
    "run",
    "--dataset",
    "keyword:train=30,dev=10,test=12",
    "--encoder",
    "average",
    "--epochs",
    "1",
]


AUDIT_OF_LESSON = lesson._audit
FAST = ["--audits", "uniform_attention", "--measures", "random"]


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let the operating system reject files larger than this many bytes."""
    resource = pytest.importorskip("resource")  # not on Windows
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def call(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """The command as a user runs it, and its exit code."""
    monkeypatch.setattr(sys, "argv", ["attnaudit", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def main_when_ready(line: list[str], ready: Barrier) -> None:
    """The command, in a process that starts it together with others."""
    sys.argv = line
    ready.wait(timeout=60)
    main()


@pytest.fixture(scope="module")
def results() -> Results:
    return audit(
        Glass("oracle"),
        glass_batch(8),
        audits=["permutation"],
        measures=["random"],
        show_progress=False,
    )


@cache
def audit_of_lesson(kind: str, examples: int) -> Results:
    """The audit of one glass model for the lesson, which is the same every time."""
    batch, words = lesson.sentences()
    if examples != len(batch):
        return AUDIT_OF_LESSON(Glass(kind), glass_batch(examples), None)
    return AUDIT_OF_LESSON(Glass(kind), batch, words)


@pytest.fixture(autouse=True)
def _audit_once_for_lessons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a lesson is written matters here, not what is in it."""
    monkeypatch.setattr(
        lesson, "_audit", lambda model, batch, words: audit_of_lesson(model.kind, len(batch))
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("holds a model") / "model"
    for part in tiny("bert"):
        part.save_pretrained(folder)
    return folder


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "data" / "texts.csv"
    path.parent.mkdir()
    path.write_text("text\ngood film\nbad film\n", encoding="utf-8")
    return path


def thesis(folder: Path) -> dict[str, bytes]:
    """Foreign files that stand in every place a command might write to."""
    for name in (
        "thesis.tex",
        "report.html",
        "lesson.html",
        "index.html",
        "run.json",
        "notes/chapter 1.txt",
        "grid/cells/notes.json",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("three years of work", encoding="utf-8")
    return snapshot(folder)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# Every command with an option that names an output, and how it is called on a folder with foreign
# files in it. "folder" options get the folder itself; "file" options each of its files.
Arguments = Callable[[Path, Path, Path], list[object]]


def grid_file(data: Path) -> Path:
    """The choices of RUN and FAST as a grid file."""
    file = data.parent / "grid.toml"
    file.write_text(
        'dataset = "keyword:train=30,dev=10,test=12"\nencoder = "average"\nepochs = 1\n'
        'audits = ["uniform_attention"]\nmeasures = ["random"]\n',
        encoding="utf-8",
    )
    return file


COMMANDS: dict[tuple[str, str], tuple[str, Arguments]] = {
    ("run", "--out"): ("holds", lambda run, model, data: [*RUN[1:], *FAST]),
    ("grid", "--out"): ("holds", lambda run, model, data: [grid_file(data)]),
    ("audit", "--out"): ("folder", lambda run, model, data: [model, "--data", data, *FAST]),
    ("cite", "--out"): ("folder", lambda run, model, data: [model, "--data", data]),
    ("heatmaps", "--out"): ("file", lambda run, model, data: [run]),
    ("gate", "--junit"): ("file", lambda run, model, data: [run, "--fail-if", "matters=no"]),
    ("audit", "--junit"): (
        "file",
        lambda run, model, data: [model, "--data", data, *FAST, "--fail-if", "matters=no"],
    ),
    ("audit", "--summary"): ("skipped", lambda run, model, data: []),  # as for gate
    ("gate", "--summary"): (
        "skipped",
        lambda run, model, data: [],
    ),  # is added to what is there: tests/results/test_gate_reports.py
    ("report", "--out"): ("file", lambda run, model, data: [run]),
    ("report", "--site"): ("site", lambda run, model, data: [run]),
    ("figures", "--out"): (
        "holds",
        lambda run, model, data: [run, "--only", "flip_table", "--format", "png"],
    ),
    ("tables", "--out"): ("holds", lambda run, model, data: [run, "--only", "summary"]),
    ("lesson", "--out"): ("file", lambda run, model, data: []),
    ("reproduce", "--out"): (
        "skipped",
        lambda run, model, data: [],
    ),  # its runs are run's, its table a table's: tested there
    ("vectors", "--out"): (
        "skipped",
        lambda run, model, data: [],
    ),  # takes names that end in .npz only: tests/data/test_trained_vectors.py
}


def output_options() -> set[tuple[str, str]]:
    found = set()
    group = typer.main.get_command(app)
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        for command_name, each in {name: command, **getattr(command, "commands", {})}.items():
            for parameter in each.params:
                if {"--out", "--site", "--junit", "--summary"} & set(parameter.opts):
                    found.add((command_name, parameter.opts[0]))
    return found


def test_every_command_that_writes_is_tested_on_foreign_files() -> None:
    assert output_options() == set(COMMANDS)


@pytest.mark.parametrize(
    ("command", "option"), [key for key, (kind, _) in COMMANDS.items() if kind != "skipped"]
)
@pytest.mark.parametrize("force", [False, True])
def test_foreign_files_survive_every_command(
    command: str,
    option: str,
    force: bool,
    run: Path,
    model_dir: Path,
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, arguments = COMMANDS[command, option]
    folder = tmp_path / "mine"
    before = thesis(folder)
    targets = sorted(folder.iterdir()) if kind == "file" else [folder]
    for target in targets:
        line = [command, *arguments(run, model_dir, texts), option, target]
        if force and command in ("run", "audit"):
            line.append("--force")
        code = call(line, monkeypatch)
        assert code == (0 if kind == "holds" else 2), (line, code)
        after = snapshot(folder)
        assert {name: after.get(name) for name in before} == before
        if kind != "holds":
            assert set(after) == set(before)


@pytest.mark.parametrize("force", [False, True])
def test_folders_that_are_not_for_results_are_rejected_before_any_work(
    model_dir: Path,
    texts: Path,
    tmp_path: Path,
    results: Results,
    monkeypatch: pytest.MonkeyPatch,
    force: bool,
) -> None:
    home = tmp_path / "home"
    inside = home / "work" / "here"
    inside.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(inside)
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    places = [
        ".",
        "..",
        home,
        "/",
        "/dev/null",
        tmp_path / "file",
        tmp_path / "pipe",
        model_dir,
        model_dir.parent,
        texts.parent,
    ]
    before = snapshot(tmp_path), snapshot(model_dir)
    for place in places:
        line = [
            "audit",
            model_dir,
            "--data",
            texts,
            *FAST,
            "--out",
            place,
            *(["--force"] if force else []),
        ]
        assert call(line, monkeypatch) == 2, place
        if place not in (model_dir.parent,):  # save() does not know of the model
            with pytest.raises(InputError):
                results.save(place, force=force)
    assert (snapshot(tmp_path), snapshot(model_dir)) == before


def test_without_room_for_the_page_the_card_was_printed_and_the_results_are_kept(
    model_dir: Path,
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(path: Path, content: object, **options: object) -> Path:
        raise OutputError(errno.ENOSPC, f"Cannot write {path}: No space left on device")

    monkeypatch.setattr("attnaudit.report.page.write_file", full)
    assert (
        call(["audit", model_dir, "--data", texts, *FAST, "--out", tmp_path / "out"], monkeypatch)
        == 2
    )
    printed = capsys.readouterr()
    assert "does it matter?" in printed.out
    assert "attnaudit report" in printed.err
    assert "Traceback" not in printed.err
    assert store.is_complete(tmp_path / "out")


def test_a_run_that_cannot_be_stored_still_shows_its_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The operating system rejects the file of the model, as it does on a full disk.
    with largest_file(8000):
        assert call([*RUN, *FAST, "--out", tmp_path / "runs"], monkeypatch) == 2
    printed = capsys.readouterr()
    assert "does it matter?" in printed.out
    assert "File too large" in printed.err
    assert "make room and run the command again" in printed.err
    assert "kept in memory" in printed.err
    assert [each.suffix for each in (tmp_path / "runs").iterdir()] == [".parts"]
    assert call([*RUN, *FAST, "--out", tmp_path / "runs"], monkeypatch) == 0
    assert [store.is_complete(each) for each in (tmp_path / "runs").iterdir()] == [True]


# Commands that only show what was computed, the option of their output and the files they write.
SHOWN: dict[str, tuple[Callable[[Path], list[object]], str, str]] = {
    "report": (lambda run: ["report", run], "--out", "out/page.html"),
    "site": (lambda run: ["report", run], "--site", "out"),
    "lesson": (lambda run: ["lesson"], "--out", "out/page.html"),
    "figures": (
        lambda run: ["figures", run, "--only", "permutation_violins,dispersion"],
        "--out",
        "out",
    ),
    "tables": (lambda run: ["tables", run, "--only", "summary,runs"], "--out", "out"),
}


@pytest.mark.parametrize("room", ["none", "some"])
@pytest.mark.parametrize("command", SHOWN)
def test_without_room_the_files_written_before_are_whole_and_the_message_says_how_to_go_on(
    command: str,
    room: str,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments, option, target = SHOWN[command]
    line = [*arguments(run), option, tmp_path / target]
    assert call(line, monkeypatch) == 0
    expected = snapshot(tmp_path / "out")
    largest = max(map(len, expected.values())) if room == "some" else 1
    shutil.rmtree(tmp_path / "out")
    capsys.readouterr()
    with largest_file(largest - 1):
        assert call(line, monkeypatch) == 2
    message = capsys.readouterr().err
    assert "Cannot write" in message
    assert "run the same command again" in message
    assert "Traceback" not in message
    written = snapshot(tmp_path / "out")
    pages = {name for name in written if not name.endswith(MANIFEST)}
    assert all(written[name] == expected[name] for name in pages)
    if target.endswith(".html"):
        assert "No page was written" in message
        assert not written
    else:
        assert "written before it are complete" in message
    assert call(line, monkeypatch) == 0
    assert snapshot(tmp_path / "out") == expected


@pytest.mark.parametrize("command", SHOWN)
def test_a_page_that_is_there_survives_a_write_without_room(
    command: str,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],  # in memory; captured in a file, it would have no room
) -> None:
    arguments, option, target = SHOWN[command]
    line = [*arguments(run), option, tmp_path / target]
    assert call(line, monkeypatch) == 0
    before = snapshot(tmp_path / "out")
    with largest_file(0):
        assert call(line, monkeypatch) == 2
    assert snapshot(tmp_path / "out") == before


@pytest.mark.parametrize("command", SHOWN)
def test_a_folder_that_cannot_be_written_is_an_error_in_words_before_any_work(
    command: str,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # sysfs rejects new files even from root, for whom a folder without write permission is open.
    locked = Path("/sys/kernel") if os.geteuid() == 0 else tmp_path / "locked"
    if os.geteuid() == 0 and not locked.is_dir():
        pytest.skip("no folder here that root cannot write to")
    if locked.parent == tmp_path:
        locked.mkdir(mode=0o555)
    arguments, option, target = SHOWN[command]
    assert call([*arguments(run), option, locked / Path(target).name], monkeypatch) == 2
    message = capsys.readouterr().err
    assert "Cannot write to" in message
    assert "Give another folder" in message


def test_an_audit_whose_folder_was_filled_meanwhile_shows_its_card_and_is_kept_next_to_it(
    model_dir: Path,
    texts: Path,
    results: Results,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    read = audit_files.read_sources

    def read_while_another_process_saves(*arguments: object, **options: object) -> object:
        results.save(out)
        return read(*arguments, **options)

    monkeypatch.setattr(
        "attnaudit.auditing.audit_files.read_sources", read_while_another_process_saves
    )
    assert call(["audit", model_dir, "--data", texts, *FAST, "--out", out], monkeypatch) == 2
    printed = capsys.readouterr()
    assert "does it matter?" in printed.out
    assert "was filled by another process meanwhile" in printed.err
    assert store.load_results(out).values.equals(results.values)
    kept = store.load_results(tmp_path / "out.other-1")
    assert kept.about["texts"]["audited"] == 2


@pytest.mark.parametrize("place", ["/dev/full", "/dev/null"])
def test_a_page_never_takes_the_place_of_a_device(
    place: str, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.stat(place)
    assert call(["report", run, "--out", place], monkeypatch) == 2
    assert os.stat(place) == before
    with pytest.raises(InputError, match="is a device"):
        check_file(Path(place))


def test_a_page_named_as_a_folder_is_rejected_in_words(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["report", run], ["lesson"]):
        assert call([*command, "--out", tmp_path], monkeypatch) == 2
        assert "is a folder" in capsys.readouterr().err


def test_a_table_that_was_edited_is_not_written_over(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["tables", run, "--only", "runs", "--format", "csv", "--out", tmp_path]
    assert call(line, monkeypatch) == 0
    (table,) = tmp_path.glob("*.csv")
    written = table.read_bytes()
    assert call(line, monkeypatch) == 0
    table.write_bytes(written + b"mine\n")
    assert call(line, monkeypatch) == 2
    assert table.read_bytes() == written + b"mine\n"
    assert "was changed since" in capsys.readouterr().err
    table.unlink()
    assert call(line, monkeypatch) == 0
    assert table.read_bytes() == written


@pytest.mark.parametrize(
    "command", [["report"], ["figures", "--only", "flip_table", "--format", "png"]]
)
def test_many_processes_writing_one_output_all_succeed(
    command: list[str], run: Path, tmp_path: Path
) -> None:
    out = tmp_path / ("page.html" if command[0] == "report" else "figures")
    line = ["attnaudit", command[0], str(run), *command[1:], "--out", str(out)]
    forks = multiprocessing.get_context("fork")  # they import nothing, and so write at once
    ready = forks.Barrier(6)
    running = [forks.Process(target=main_when_ready, args=(line, ready)) for _ in range(6)]
    for process in running:
        process.start()
    for process in running:
        process.join(timeout=120)
    assert [process.exitcode for process in running] == [0] * 6
    assert out.exists()
    assert not [each for each in tmp_path.rglob(".*") if each.name != MANIFEST]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_says_what_was_kept(
    number: signal.Signals, code: int, tmp_path: Path
) -> None:
    line = ["run", "--dataset", "keyword:train=200,dev=20,test=30", "--encoder", "average"]
    line += ["--epochs", "1", *FAST, "--intervention", "seeds:count=60"]
    line += ["--out", str(tmp_path / "runs")]
    process = (
        LoadedCommand(*line)
        if number == signal.SIGINT
        else subprocess.Popen(
            [sys.executable, "-m", "attnaudit", *line],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    wait_until(lambda: len(store.find_runs([tmp_path / "runs"])) > 1, process)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert process.returncode == code, error
    assert "interrupted. Kept, each complete:" in error
    assert "Traceback" not in error
    left = [each for each in (tmp_path / "runs").iterdir() if each.suffix != ".parts"]
    assert left
    assert all(store.is_complete(each) for each in left)


def test_an_edited_file_gets_a_run_next_to_the_old_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from attnaudit.training.experiment import make_experiment

    rows = [f"good film {'so ' * n},pos\nbad film {'so ' * n},neg" for n in range(30)]
    data = tmp_path / "mine.csv"
    data.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    cell = make_experiment(
        str(data),
        encoder="average",
        embedding=8,
        epochs=1,
        audits=("uniform_attention",),
        measures=("random",),
    )
    first = run_experiment(cell, tmp_path / "runs", show_progress=False)
    before = snapshot(first)
    assert find_place(cell, tmp_path / "runs").done
    data.write_text("\n".join(["text,label", *rows, "a new line,pos"]), encoding="utf-8")
    second = run_experiment(cell, tmp_path / "runs", show_progress=False)
    assert second != first
    assert "the data has changed" in caplog.text
    assert snapshot(first) == before
    assert run_experiment(cell, tmp_path / "runs", show_progress=False) == second
    assert find_place(cell, tmp_path / "runs").done
    # Stored by its name: nothing says where on the machine it lies.
    assert all(str(tmp_path) not in (each / "run.json").read_text() for each in (first, second))
    attnaudit.load(first)


def test_force_keeps_a_corpus_audit_of_the_same_model_and_names_one_that_no_longer_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = [*RUN, *FAST, "--out", tmp_path]
    assert call(line, monkeypatch) == 0
    (folder,) = store.find_runs([tmp_path])
    for name in ("fits", "mutual_information-seed_0"):
        (folder / name).mkdir()
        pd.DataFrame({"metric": ["x"], "value": [1.0]}).to_parquet(
            folder / name / "summary.parquet"
        )
        checksums.write_mark(
            folder / name / "corpus_audit.json",
            {"name": name, "question": "?", "versions": store.versions()},
        )
    assert call([*line, "--force"], monkeypatch) == 0
    assert (folder / "fits" / "corpus_audit.json").is_file()
    capsys.readouterr()
    monkeypatch.setattr(
        "attnaudit.training.run_directory.still_fits",
        lambda findings, draft: findings.name == "fits",
    )
    assert call([*line, "--force"], monkeypatch) == 0
    assert (folder / "fits").is_dir()
    assert not (folder / "mutual_information-seed_0").exists()
    assert "mutual_information-seed_0" in capsys.readouterr().err
