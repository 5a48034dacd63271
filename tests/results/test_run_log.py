"""run.log: says what was run, how long it took and what was warned of; names no folder."""

from __future__ import annotations

import getpass
import warnings
from pathlib import Path

import pytest

from attnaudit.core.notices import notice
from attnaudit.results.checksums import read_mark, verify_folder
from attnaudit.results.run_log import RunLog, recording
from attnaudit.training import run


def test_a_run_has_a_log_that_its_checksums_cover(tmp_path: Path) -> None:
    file = tmp_path / "reviews.csv"
    names = [a + b for a in "bcdfgklm" for b in ("ab", "ec", "id", "of", "un", "ar", "es", "il")]
    rows = [f"{'good' if n % 2 else 'bad'} film {name},{n % 2}" for n, name in enumerate(names)]
    file.write_text("text,label\n" + "\n".join(rows) + "\n")
    made = run(
        str(file),
        out=tmp_path / "runs",
        encoder="average",
        epochs=1,
        audits=("uniform_attention",),
        show_progress=False,
    )
    log = (made.folder / "run.log").read_text()
    assert log.splitlines()[0] == made.folder.name
    for words in ("versions: python 3", "attnaudit", 'encoder = "average"', "threads: "):
        assert words in log
    for phase in ("data", "training", "other trainings", "audit", "performance on the test split"):
        assert f"\n{phase}: " in log
    assert str(tmp_path) not in log
    assert getpass.getuser() not in log.replace(made.folder.name, "")
    assert "run.log" in read_mark(made.folder / "run.json")["files"]
    (made.folder / "run.log").write_text(log + "more")
    assert verify_folder(made.folder) == "damaged: run.log"


def recorded() -> RunLog:
    with recording() as log:
        notice("the data in /home/ann/data/reviews.csv has changed")
        warnings.warn("thin ice", UserWarning, stacklevel=1)
    return log


def test_warnings_and_notices_are_recorded_and_still_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.warns(UserWarning, match="thin ice"):
        log = recorded()
    assert log.lines == [
        "warning: the data in reviews.csv has changed",
        "warning: UserWarning: thin ice",
    ]
    assert "has changed" in caplog.text
    with recording() as log:
        pass
    assert log.lines == []
